#pragma once
// Of cuda_fp16.h what reads halves.
struct __half {
  unsigned short bits;
};
struct __half2 {
  __half x, y;
};
inline __half __ushort_as_half(unsigned short bits) { return {bits}; }
inline float __half2float(__half h) {
  const unsigned rest = h.bits & 0x7fffu;
  const float x = __uint_as_float(rest << 13) * 0x1p112f;
  return __uint_as_float((rest >= 0x7c00u ? (rest << 13) | 0x7f800000u : __float_as_uint(x)) |
                         static_cast<unsigned>(h.bits & 0x8000) << 16);
}
inline float2 __half22float2(__half2 h) { return {__half2float(h.x), __half2float(h.y)}; }
