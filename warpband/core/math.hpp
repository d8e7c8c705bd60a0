#pragma once
// Elementary functions with the same bits on every build: only fma, *, +, /, integer operations.
// Bounds are against the correctly rounded result and are tested (core_test.cpp).
#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

/// Bit patterns as unsigned integers, which may wrap around.
template <class T>
WB_HD typename rebind<T>::u32 bits_of(T x) {
  return as_uint(as_int(x));
}
template <class T>
WB_HD T from_bits(typename rebind<T>::u32 x) {
  return as_float(as_int(x));
}

/// e^x within 2 ulp. x is clamped to [-87, 88], so the result is a normal number.
template <class T>
WB_HD T exp(T x) {
  x = max(min(x, T(88.f)), T(-87.f));
  const T magic = T(12582912.f);  // 1.5 * 2^23: adding it rounds to an integer
  const T z = fma(x, T(1.44269504f), magic);
  const auto n = bits_of(z) - typename rebind<T>::u32(0x4B400000u);
  const T k = z - magic;
  const T r = fma(k, T(-1.42860677e-6f), fma(k, T(-0.693145752f), x));  // x - k ln 2, ln 2 in two parts
  T p = fma(T(1.98412698e-4f), r, T(1.38888889e-3f));
  p = fma(p, r, T(8.33333377e-3f));
  p = fma(p, r, T(4.16666679e-2f));
  p = fma(p, r, T(0.166666672f));
  p = fma(p, r, T(0.5f));
  p = fma(p * r, r, r);
  p = p + T(1.f);
  return from_bits<T>(bits_of(p) + (n << 23));
}

/// ln x within 2 ulp for normal x > 0.
template <class T>
WB_HD T log(T x) {
  using U = typename rebind<T>::u32;
  const auto e = as_int(bits_of(x) - U(0x3f3504f3u)) >> 23;  // the mantissa m lies in [sqrt(1/2), sqrt 2)
  const T m = from_bits<T>(bits_of(x) - (as_uint(e) << 23)), k = to_float(e);
  const T f = m - T(1.f), s = f / (f + T(2.f)), q = s * s;  // ln m = 2 artanh s
  T p = fma(T(0.222222222f), q, T(0.285714298f));
  p = fma(p, q, T(0.400000006f));
  p = fma(p, q, T(0.666666687f));
  p = p * q;  // ln m = s (2 + p), and 2 s = f - s f
  const T low = fma(k, T(1.42860677e-6f), s * (p - f));
  return fma(k, T(0.693145752f), f + low);
}

/// Sine and cosine of r in [-pi/4 - eps, pi/4 + eps].
template <class T>
WB_HD void sincos_reduced(T r, T& s, T& c) {
  const T q = r * r;
  T p = fma(T(2.75573188e-6f), q, T(-1.98412701e-4f));
  p = fma(p, q, T(8.33333377e-3f));
  p = fma(p, q, T(-0.166666672f));
  s = fma(p * q, r, r);
  T d = fma(T(-2.75573196e-7f), q, T(2.48015876e-5f));
  d = fma(d, q, T(-1.38888892e-3f));
  d = fma(d, q, T(4.16666679e-2f));
  d = fma(d, q, T(-0.5f));
  c = fma(d, q, T(1.f));
}
/// Puts sine and cosine of the reduced angle into quadrant n.
template <class T>
WB_HD void sincos_quadrant(typename rebind<T>::i32 n, T& s, T& c) {
  using I = typename rebind<T>::i32;
  const auto swap = (n & I(1)) != I(0);
  const T a = select(swap, c, s), b = select(swap, s, c);
  s = as_float(as_int(a) ^ ((n & I(2)) << 30));
  c = as_float(as_int(b) ^ ((as_int(as_uint(n) + typename rebind<T>::u32(1u)) & I(2)) << 30));
}
/// sin x and cos x, absolute error below 1.2e-7, for |x| <= 1e4.
template <class T>
WB_HD void sincos(T x, T& s, T& c) {
  const T magic = T(12582912.f);
  const T z = fma(x, T(0.636619747f), magic);
  const auto n = bits_of(z) - typename rebind<T>::u32(0x4B400000u);
  const T k = z - magic;
  T r = fma(k, T(-1.57079601f), x);  // x - k pi/2, pi/2 in three parts
  r = fma(k, T(-3.13916473e-7f), r);
  r = fma(k, T(-5.39030253e-15f), r);
  sincos_reduced(r, s, c);
  sincos_quadrant(as_int(n), s, c);
}
/// Sine and cosine of 2 pi u / 2^32, absolute error below 1.2e-7.
template <class T>
WB_HD void sincos_turn(typename rebind<T>::u32 u, T& s, T& c) {
  using I = typename rebind<T>::i32;
  using U = typename rebind<T>::u32;
  const U n = (u + U(0x20000000u)) >> 30;                 // nearest quarter turn
  const I r = as_int(u - (n << 30));                      // rest, in [-2^29, 2^29)
  sincos_reduced(to_float(r) * T(1.46291808e-9f), s, c);  // 2 pi / 2^32
  sincos_quadrant(as_int(n), s, c);
}

}  // namespace WB_ISA
}  // namespace wb
