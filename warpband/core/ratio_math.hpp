#pragma once
// exp, and the logarithm of a ratio, for LLRs. They take fewer operations than those of math.hpp, as errors
// of 1e-6 do not matter to LLRs. Every build gives the same bits. core_test.cpp tests the bounds.
#include <warpband/core/math.hpp>

namespace wb {
inline namespace WB_ISA {

/// e^x of |x| <= 40 within a factor of 1 +- 7e-7, in fewer operations than exp.
template <class T>
WB_HD T exp_of_moderate(T x) {
  const T magic = T(12582912.f), log2e = T(1.44269504f);
  const T z = fma(x, log2e, magic);
  const T f = fma(x, log2e, magic - z);  // 2^f, f in [-1/2, 1/2]
  T p = fma(T(1.32647015e-3f), f, T(9.67151113e-3f));
  p = fma(p, f, T(5.55073433e-2f));
  p = fma(p, f, T(0.240222424f));
  p = fma(p, f, T(0.69314698f));
  p = fma(p, f, T(1.f));
  return from_bits<T>(bits_of(p) + (bits_of(z) << 23));  // the low bits of z are the exponent
}

/// ln(a / b) of numbers from 2^-60 to 2^66 within a factor of 1 +- 1.2e-6; 0 if a == b.
template <class T>
WB_HD T log_of_ratio(T a, T b) {
  using U = typename rebind<T>::u32;
  const U distance = bits_of(a) - bits_of(b) + U(0x400000u);
  const T c = from_bits<T>(bits_of(b) + (distance & U(0xff800000u)));  // 2^k b, a / c in [2/3, 3/2]
  const T k = from_bits<T>(as_uint(as_int(distance) >> 23) + U(0x4B400000u)) - T(12582912.f);
  // ln(a / c) = 2 artanh s with s = (a - c) / (a + c). First a guess of 1 / (a + c) within 13 %. Each step
  // leaves the cube of the relative error.
  const T sum = a + c;
  T r = from_bits<T>(U(0x7ef311c7u) - bits_of(sum));
  for (int step = 0; step < 2; step++) {
    const T error = fma(T(0.f) - sum, r, T(1.f));
    r = fma(r, fma(error, error, error), r);
  }
  const T s = (a - c) * r, q = s * s;
  T p = fma(T(0.417811841f), q, T(0.666395605f));
  p = fma(p, q, T(2.f));
  return fma(k, T(0.693147182f), s * p);
}

}  // namespace WB_ISA
}  // namespace wb
