#pragma once
// Loads and stores between strided views and lanes. A vector of W problems reads W items of the batch; in the
// last, incomplete vector the missing lanes repeat the last item and store nothing.
#include <warpband/core/lane.hpp>
#include <warpband/core/view.hpp>

namespace wb {
inline namespace WB_ISA {

/// The items one call works on: `valid` of them (1..width), beginning with `first`.
template <class T>
struct item {
  std::size_t first;
  int valid;
};

template <class T>
WB_HD T load(const view<const float>& v, std::size_t element, item<T> b) {
  const float* p = v.data + element * v.element_stride + b.first * v.item_stride;
  if constexpr (width_of<T> == 1) {
    return *p;
  } else {
    T r;
    if (v.item_stride == 1 && b.valid == width_of<T>) {
      __builtin_memcpy(&r, p, sizeof r);
    } else {
      for (int i = 0; i < width_of<T>; i++)
        r.x[i] = p[static_cast<std::size_t>(i < b.valid ? i : b.valid - 1) * v.item_stride];
    }
    return r;
  }
}
/// Stores with +0 for either zero, so that every build writes the same bits.
template <class T>
WB_HD void store(const view<float>& v, std::size_t element, item<T> b, T x) {
  float* p = v.data + element * v.element_stride + b.first * v.item_stride;
  x = x + T(0.f);
  if constexpr (width_of<T> == 1) {
    *p = x;
  } else if (v.item_stride == 1 && b.valid == width_of<T>) {
    __builtin_memcpy(p, &x, sizeof x);
  } else {
    for (int i = 0; i < b.valid; i++) p[static_cast<std::size_t>(i) * v.item_stride] = x.x[i];
  }
}
/// As above, only in the lanes of a mask.
template <class T>
WB_HD void store(const view<float>& v, std::size_t element, item<T> b, T x, typename rebind<T>::mask m) {
  float* p = v.data + element * v.element_stride + b.first * v.item_stride;
  x = x + T(0.f);
  if constexpr (width_of<T> == 1) {
    if (m) *p = x;
  } else {
    for (int i = 0; i < b.valid; i++)
      if (m.x[i]) p[static_cast<std::size_t>(i) * v.item_stride] = x.x[i];
  }
}

/// Integers of any stored width, as int32 lanes.
template <class T, class S>
WB_HD typename rebind<T>::i32 load_int(const view<S>& v, std::size_t element, item<T> b) {
  const S* p = v.data + element * v.element_stride + b.first * v.item_stride;
  if constexpr (width_of<T> == 1) {
    return static_cast<std::int32_t>(*p);
  } else {
    typename rebind<T>::i32 r;
    for (int i = 0; i < width_of<T>; i++)
      r.x[i] = static_cast<std::int32_t>(
          p[static_cast<std::size_t>(i < b.valid ? i : b.valid - 1) * v.item_stride]);
    return r;
  }
}
template <class T, class S>
WB_HD void store_int(const view<S>& v, std::size_t element, item<T> b, typename rebind<T>::i32 x,
                     typename rebind<T>::mask m) {
  S* p = v.data + element * v.element_stride + b.first * v.item_stride;
  if constexpr (width_of<T> == 1) {
    if (m) *p = static_cast<S>(x);
  } else {
    for (int i = 0; i < b.valid; i++)
      if (m.x[i]) p[static_cast<std::size_t>(i) * v.item_stride] = static_cast<S>(x.x[i]);
  }
}
template <class T, class S>
WB_HD void store_int(const view<S>& v, std::size_t element, item<T> b, typename rebind<T>::i32 x) {
  store_int<T, S>(v, element, b, x, mask_from<typename rebind<T>::mask>(true));
}

}  // namespace WB_ISA
}  // namespace wb
