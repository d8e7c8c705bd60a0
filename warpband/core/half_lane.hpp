#pragma once
// Halves in memory to floats, exactly; infinities and NaN stay what they are. Intrinsics for halves live
// here.
#include <warpband/core/half.hpp>
#include <warpband/core/lane.hpp>
#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

namespace wb {
inline namespace WB_ISA {

struct float_pair {
  float re, im;
};
WB_HD float half_to_float(std::uint16_t bits) {
#if defined(__CUDACC__)
  return __half2float(__ushort_as_half(bits));
#else
  // The exponent's bias is 112 less than a float's: a product, which is exact also for what is no normal
  // half.
  const std::int32_t rest = bits & 0x7fff, sign = (bits & 0x8000) << 16;
  const float x = as_float(rest << 13) * 0x1p112f;
  return as_float((rest >= 0x7c00 ? (rest << 13) | 0x7f800000 : as_int(x)) | sign);
#endif
}
WB_HD float_pair to_floats(half_complex z) { return {half_to_float(z.re), half_to_float(z.im)}; }
#if defined(__CUDACC__)
/// The same of the bits of a pair, the real part in the lower half.
WB_HD float2 to_floats(std::uint32_t pair) {
  return __half22float2(*reinterpret_cast<const __half2*>(&pair));
}
#endif

#if !defined(__CUDACC__)
/// `count` neighbouring complex values to their parts in turn.
WB_HD void halves_to_floats(const half_complex* from, float* to, int count) {
  int i = 0;
#if WB_WIDTH > 1
  for (; i + WB_WIDTH / 2 <= count; i += WB_WIDTH / 2) {
    f32x x;
#if defined(__AVX512F__) && WB_WIDTH == 16
    x.x = (f32x::v)_mm512_maskz_cvtph_ps(__mmask16(-1),
                                         _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
#elif defined(__F16C__) && WB_WIDTH == 8
    x.x = (f32x::v)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
#elif defined(__aarch64__)
    uint16x4_t bits;
    __builtin_memcpy(&bits, from + i, sizeof bits);
    x.x = (f32x::v)vcvt_f32_f16(vreinterpret_f16_u16(bits));
#else
    typedef std::uint16_t halves __attribute__((vector_size(WB_WIDTH * 2)));
    halves h;
    __builtin_memcpy(&h, from + i, sizeof h);
    const i32x bits = __builtin_convertvector(h, i32x::v);
    const i32x rest = bits & i32x(0x7fff), wide = rest << 13;
    const i32x finite = as_int(as_float(wide) * f32x(0x1p112f));
    x = as_float(select(rest < i32x(0x7c00), finite, wide | i32x(0x7f800000)) |
                 ((bits & i32x(0x8000)) << 16));
#endif
    __builtin_memcpy(to + 2 * i, &x, sizeof x);
  }
#endif
  for (; i < count; i++) {
    const float_pair z = to_floats(from[i]);
    to[2 * i] = z.re;
    to[2 * i + 1] = z.im;
  }
}
#endif

}  // namespace WB_ISA
}  // namespace wb
