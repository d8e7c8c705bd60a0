#pragma once
// LLRs as 8-bit integers: multiples of a step of 1 / steps, limited to +-127 of them, as the turbo decoder
// takes them (turbo_decoder_config::llr_steps).
#include <warpband/core/memory.hpp>
#include <warpband/core/rounding.hpp>

namespace wb {
inline namespace WB_ISA {

/// The nearest integer to a finite LLR in steps, ties to even.
template <class T>
WB_HD typename rebind<T>::i32 to_steps(T llr, float steps) {
  return nearest_integer(max(min(llr * T(steps), T(127.f)), T(-127.f)));
}

/// Stores N neighbouring elements; on a CUDA device several at once where they lie side by side.
template <int N, class T>
WB_HD void store_steps_row(const view<std::int8_t>& v, std::size_t element, item<T> b, const T (&x)[N],
                           float steps) {
#if defined(__CUDACC__)
  std::int8_t* p = v.data + element * v.element_stride + b.first * v.item_stride;
  constexpr int per_word = N % 4 == 0 ? 4 : 2;
  if (N % 2 == 0 && v.element_stride == 1 && reinterpret_cast<std::uintptr_t>(p) % per_word == 0) {
    WB_UNROLL for (int i = 0; i < N; i += per_word) {
      std::uint32_t word = 0;
      WB_UNROLL for (int j = 0; j < per_word; j++) word |= (as_uint(to_steps(x[i + j], steps)) & 0xffu)
                                                           << 8 * j;
      if constexpr (per_word == 4)
        *reinterpret_cast<std::uint32_t*>(p + i) = word;
      else
        *reinterpret_cast<std::uint16_t*>(p + i) = static_cast<std::uint16_t>(word);
    }
    return;
  }
#endif
  WB_UNROLL for (int i = 0; i < N; i++)
      store_int<T>(v, element + static_cast<std::size_t>(i), b, to_steps(x[i], steps));
}
/// Neighbouring elements, as many as T has lanes.
template <class T>
WB_HD void store_steps_square(const view<std::int8_t>& v, std::size_t element, item<T> b, const T* x,
                              float steps) {
#if WB_WIDTH > 1
  if constexpr (width_of<T> > 1) {
    if (v.element_stride == 1) {
      typedef signed char bytes __attribute__((vector_size(width_of<T>)));
      T row[width_of<T>];
      WB_UNROLL for (int i = 0; i < width_of<T>; i++) row[i] = as_float(to_steps(x[i], steps));
      transpose(row);
      for (int i = 0; i < b.valid; i++) {
        const bytes of_row = __builtin_convertvector(as_int(row[i]).x, bytes);
        __builtin_memcpy(v.data + element + (b.first + static_cast<std::size_t>(i)) * v.item_stride, &of_row,
                         sizeof of_row);
      }
      return;
    }
  }
#endif
  for (int i = 0; i < width_of<T>; i++)
    store_int<T>(v, element + static_cast<std::size_t>(i), b, to_steps(x[i], steps));
}

}  // namespace WB_ISA
}  // namespace wb
