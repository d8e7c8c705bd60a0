#pragma once
// Loads and stores between strided views and lanes. A vector of W problems reads W items of the batch. In the
// last, incomplete vector the missing lanes repeat the last item and store nothing.
#include <warpband/core/cx.hpp>
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

#if WB_WIDTH > 1
/// Lane i of x[j] becomes lane j of x[i].
template <class T>
WB_HD void transpose(T (&x)[width_of<T>]) {
  using I = typename rebind<T>::i32;
  const I lane_number = as_int(iota<typename rebind<T>::u32>());
  WB_UNROLL for (int step = 1; step < width_of<T>; step *= 2) {
    const I upper = select((lane_number & I(step)) != I(0), I(-1), I(0));
    WB_UNROLL for (int i = 0; i < width_of<T>; i++) {
      if ((i & step) == 0) {
        const T a = x[i], b = x[i + step];
        x[i] = T(WB_SHUFFLE(a.x, b.x, (lane_number + (upper & I(width_of<T> - step))).x));
        x[i + step] = T(WB_SHUFFLE(a.x, b.x, (lane_number + I(step) + (upper & I(width_of<T> - step))).x));
      }
    }
  }
}
#endif
/// Neighbouring elements, as many as T has lanes, to and from x. Rows travel as vectors and are transposed.
template <class T>
WB_HD void load_square(const view<const float>& v, std::size_t element, item<T> b, T* x) {
#if WB_WIDTH > 1
  if constexpr (width_of<T> > 1) {
    if (v.element_stride == 1) {
      T row[width_of<T>];
      WB_UNROLL for (int i = 0; i < width_of<T>; i++) {
        const std::size_t index = b.first + static_cast<std::size_t>(i < b.valid ? i : b.valid - 1);
        __builtin_memcpy(&row[i], v.data + element + index * v.item_stride, sizeof(T));
      }
      transpose(row);
      WB_UNROLL for (int i = 0; i < width_of<T>; i++) x[i] = row[i];
      return;
    }
  }
#endif
  for (int i = 0; i < width_of<T>; i++) x[i] = load(v, element + static_cast<std::size_t>(i), b);
}
template <class T>
WB_HD void store_square(const view<float>& v, std::size_t element, item<T> b, const T* x) {
#if WB_WIDTH > 1
  if constexpr (width_of<T> > 1) {
    if (v.element_stride == 1) {
      T row[width_of<T>];
      WB_UNROLL for (int i = 0; i < width_of<T>; i++) row[i] = x[i] + T(0.f);
      transpose(row);
      for (int i = 0; i < b.valid; i++)
        __builtin_memcpy(v.data + element + (b.first + static_cast<std::size_t>(i)) * v.item_stride, &row[i],
                         sizeof(T));
      return;
    }
  }
#endif
  for (int i = 0; i < width_of<T>; i++) store(v, element + static_cast<std::size_t>(i), b, x[i]);
}

/// The real and imaginary parts of a view of complex values.
WB_HD view<const float> parts(const view<const cx_pair>& v, std::size_t part) {
  return {reinterpret_cast<const float*>(v.data) + part, v.elements, v.items, 2 * v.element_stride,
          2 * v.item_stride};
}
WB_HD view<float> parts(const view<cx_pair>& v, std::size_t part) {
  return {reinterpret_cast<float*>(v.data) + part, v.elements, v.items, 2 * v.element_stride,
          2 * v.item_stride};
}

/// Complex values. Those of neighbouring items, side by side, load and store as vectors.
template <class T>
WB_HD cx<T> load_cx(const view<const cx_pair>& v, std::size_t element, item<T> b) {
#if WB_WIDTH > 1
  if constexpr (width_of<T> > 1) {
    if (v.item_stride == 1 && b.valid == width_of<T>) {
      const cx_pair* p = v.data + element * v.element_stride + b.first;
      T low, high;
      __builtin_memcpy(&low, p, sizeof low);
      __builtin_memcpy(&high, p + width_of<T> / 2, sizeof high);
      const typename rebind<T>::i32 even = as_int(iota<typename rebind<T>::u32>() << 1);
      return {T(WB_SHUFFLE(low.x, high.x, even.x)), T(WB_SHUFFLE(low.x, high.x, even.x + 1))};
    }
  }
#endif
  if constexpr (width_of<T> == 1) {
    const cx_pair z = v.data[element * v.element_stride + b.first * v.item_stride];
    return {z.re, z.im};
  } else {
    return {load(parts(v, 0), element, b), load(parts(v, 1), element, b)};
  }
}
/// Of a view in which `run` consecutive items share a row.
template <class T>
WB_HD cx<T> load_cx(const view<const cx_pair>& v, std::size_t element, item<T> b, std::size_t run) {
  if (run == 1) return load_cx(v, element, b);
  const cx_pair* p = v.data + element * v.element_stride;
  if constexpr (width_of<T> == 1) {
    const cx_pair z = p[b.first / run * v.item_stride];
    return {z.re, z.im};
  } else {
    cx<T> r;
    for (int i = 0; i < width_of<T>; i++) {
      const std::size_t index = b.first + static_cast<std::size_t>(i < b.valid ? i : b.valid - 1);
      const cx_pair z = p[index / run * v.item_stride];
      r.re.x[i] = z.re;
      r.im.x[i] = z.im;
    }
    return r;
  }
}

/// N neighbouring elements, the first of them `element`. Where they lie side by side in a CUDA device's
/// memory two complex values travel at once.
template <int N, class T>
WB_HD void load_cx_row(const view<const cx_pair>& v, std::size_t element, item<T> b, std::size_t run,
                       cx<T> (&x)[N]) {
#if defined(__CUDACC__)
  if constexpr (N % 2 == 0) {
    const cx_pair* p =
        v.data + element * v.element_stride + (run == 1 ? b.first : b.first / run) * v.item_stride;
    if (v.element_stride == 1 && reinterpret_cast<std::uintptr_t>(p) % sizeof(float4) == 0) {
      WB_UNROLL for (int i = 0; i < N; i += 2) {
        const auto* pair = reinterpret_cast<const float4*>(p + i);
        x[i] = {pair->x, pair->y};
        x[i + 1] = {pair->z, pair->w};
      }
      return;
    }
  }
#endif
  WB_UNROLL for (int i = 0; i < N; i++) x[i] = load_cx(v, element + static_cast<std::size_t>(i), b, run);
}
/// Stores N neighbouring elements, with +0 for either zero.
template <int N, class T>
WB_HD void store_row(const view<float>& v, std::size_t element, item<T> b, const T (&x)[N]) {
#if defined(__CUDACC__)
  float* p = v.data + element * v.element_stride + b.first * v.item_stride;
  if constexpr (N % 4 == 0) {
    if (v.element_stride == 1 && reinterpret_cast<std::uintptr_t>(p) % sizeof(float4) == 0) {
      WB_UNROLL for (int i = 0; i < N; i += 4) *
          reinterpret_cast<float4*>(p + i) = {x[i] + 0.f, x[i + 1] + 0.f, x[i + 2] + 0.f, x[i + 3] + 0.f};
      return;
    }
  } else if constexpr (N % 2 == 0) {
    if (v.element_stride == 1 && reinterpret_cast<std::uintptr_t>(p) % sizeof(float2) == 0) {
      WB_UNROLL for (int i = 0; i < N; i += 2) *
          reinterpret_cast<float2*>(p + i) = {x[i] + 0.f, x[i + 1] + 0.f};
      return;
    }
  }
#endif
  WB_UNROLL for (int i = 0; i < N; i++) store(v, element + static_cast<std::size_t>(i), b, x[i]);
}

/// Four values of scratch memory at once, on a multiple of four; with a place for each lane.
template <class T>
WB_HD void load4(const T* p, T (&x)[4]) {
#if defined(__CUDACC__)
  const float4 v = *reinterpret_cast<const float4*>(p);
  x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
#else
  for (int i = 0; i < 4; i++) x[i] = p[i];
#endif
}
template <class T>
WB_HD void store4(T* p, const T (&x)[4]) {
#if defined(__CUDACC__)
  *reinterpret_cast<float4*>(p) = {x[0], x[1], x[2], x[3]};
#else
  for (int i = 0; i < 4; i++) p[i] = x[i];
#endif
}
template <class T>
WB_HD void load4_at(const T* table, typename rebind<T>::i32 place, T (&x)[4]) {
  if constexpr (width_of<T> == 1) {
    load4(table + 4 * place, x);
  } else {
    for (int i = 0; i < width_of<T>; i++) {
      const T* p = table + 4 * place.x[i];
      for (int j = 0; j < 4; j++) x[j].x[i] = p[j].x[i];
    }
  }
}

/// Values of a table in scratch memory whose place differs from lane to lane.
template <class T>
WB_HD T load_at(const T* table, typename rebind<T>::i32 place) {
  if constexpr (width_of<T> == 1) {
    return table[place];
  } else {
    T r;
    for (int i = 0; i < width_of<T>; i++) r.x[i] = table[place.x[i]].x[i];
    return r;
  }
}
template <class T>
WB_HD void store_at(T* table, typename rebind<T>::i32 place, T x, typename rebind<T>::mask m) {
  if constexpr (width_of<T> == 1) {
    if (m) table[place] = x;
  } else {
    for (int i = 0; i < width_of<T>; i++)
      if (m.x[i]) table[place.x[i]].x[i] = x.x[i];
  }
}
template <class T>
WB_HD void store_cx(const view<cx_pair>& v, std::size_t element, item<T> b, cx<T> z) {
#if WB_WIDTH > 1
  if constexpr (width_of<T> > 1) {
    if (v.item_stride == 1 && b.valid == width_of<T>) {
      cx_pair* p = v.data + element * v.element_stride + b.first;
      z = {z.re + T(0.f), z.im + T(0.f)};
      // Lane i of the pair is re[i/2] or im[i/2]; the imaginary parts begin at index W of the shuffle.
      typename rebind<T>::i32 mix = as_int(iota<typename rebind<T>::u32>());
      mix = (mix >> 1) + ((mix & typename rebind<T>::i32(1)) << log2_width);
      const T low = T(WB_SHUFFLE(z.re.x, z.im.x, mix.x));
      const T high = T(WB_SHUFFLE(z.re.x, z.im.x, mix.x + width_of<T> / 2));
      __builtin_memcpy(p, &low, sizeof low);
      __builtin_memcpy(p + width_of<T> / 2, &high, sizeof high);
      return;
    }
  }
#endif
  store(parts(v, 0), element, b, z.re);
  store(parts(v, 1), element, b, z.im);
}

/// Integers of any stored width, as int32 lanes.
template <class T, class S>
WB_HD typename rebind<T>::i32 load_int(const view<S>& v, std::size_t element, item<T> b) {
  const S* p = v.data + element * v.element_stride + b.first * v.item_stride;
  if constexpr (width_of<T> == 1) {
    return static_cast<std::int32_t>(*p);
  } else {
    typename rebind<T>::i32 r;
#if WB_WIDTH > 1
    if constexpr (sizeof(S) == 1 && static_cast<S>(-1) > static_cast<S>(0)) {  // unsigned bytes
      if (v.item_stride == 1 && b.valid == width_of<T>)
        return load_bytes(reinterpret_cast<const unsigned char*>(p));
    }
#endif
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

/// Bits of a word, the highest one first, as `count` (up to 32) neighbouring elements of 0 or 1.
template <class T>
WB_HD void store_bits(const view<std::uint8_t>& v, std::size_t element, int count, item<T> b,
                      typename rebind<T>::u32 word) {
  for (int i = 0; i < b.valid; i++) {
    std::uint32_t w;
    if constexpr (width_of<T> == 1)
      w = word;
    else
      w = word.x[i];
    std::uint8_t* p =
        v.data + element * v.element_stride + (b.first + static_cast<std::size_t>(i)) * v.item_stride;
    int n = 0;
    if (v.element_stride == 1)
      for (; n + 8 <= count; n += 8, w <<= 8) {
        // The factor puts a copy of the byte at every ninth bit: the top bits of eight bytes are its bits.
        const std::uint64_t spread = ((w >> 24) * 0x8040201008040201u >> 7) & 0x0101010101010101u;
        __builtin_memcpy(p + n, &spread, 8);
      }
    for (; n < count; n++, w <<= 1)
      p[static_cast<std::size_t>(n) * v.element_stride] = static_cast<std::uint8_t>(w >> 31);
  }
}

}  // namespace WB_ISA
}  // namespace wb
