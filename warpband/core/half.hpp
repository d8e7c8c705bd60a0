#pragma once
// Complex values as pairs of IEEE 754 halves (binary16): 11 bits of precision, magnitudes from 2^-24 (in full
// precision from 2^-14) to 65504. A way to store and to send, not to compute.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace wb {

/// Bits of the real and the imaginary part, as torch.complex32 and a NumPy float16 array of shape (..., 2)
/// lay them out; on a multiple of 4 bytes.
struct alignas(4) half_complex {
  std::uint16_t re = 0, im = 0;
  bool operator==(const half_complex&) const = default;
};

/// The nearest half, ties to even; from 65520 on infinity. NaN stays NaN.
inline std::uint16_t to_half_bits(float x) noexcept {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  std::uint32_t half = 0;
  if (rest > 0x7f800000u)
    half = 0x7e00u;
  else if (rest >= 0x477ff000u)  // 65520
    half = 0x7c00u;
  else if (rest >= 0x38800000u)  // 2^-14
    half = (rest + 0xfffu + (rest >> 13 & 1u) - 0x38000000u) >> 13;
  else {
    // Smaller ones lie 2^-24 apart, as floats do around 0.5.
    float magnitude = 0;
    std::memcpy(&magnitude, &rest, sizeof magnitude);
    magnitude += 0.5f;
    std::memcpy(&half, &magnitude, sizeof half);
    half -= 0x3f000000u;
  }
  return static_cast<std::uint16_t>(sign | half);
}
/// Exact.
inline float from_half_bits(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16, rest = half & 0x7fffu;
  const std::uint32_t bits = rest >= 0x7c00u ? rest << 13 | 0x7f800000u : rest << 13;
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  if (rest < 0x7c00u) x *= 0x1p112f;  // the biases are 112 apart
  std::uint32_t signed_bits = 0;
  std::memcpy(&signed_bits, &x, sizeof signed_bits);
  signed_bits |= sign;
  std::memcpy(&x, &signed_bits, sizeof x);
  return x;
}

inline half_complex to_half(std::complex<float> z) noexcept {
  return {to_half_bits(z.real()), to_half_bits(z.imag())};
}
inline std::complex<float> from_half(half_complex z) noexcept {
  return {from_half_bits(z.re), from_half_bits(z.im)};
}
inline void to_half(const std::complex<float>* from, half_complex* to, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; i++) to[i] = to_half(from[i]);
}

}  // namespace wb
