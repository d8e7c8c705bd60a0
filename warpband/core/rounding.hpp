#pragma once
// Rounding to the nearest integer, ties to even, by one addition: a float32 from 2^23 on has no fraction, so
// that of x + 1.5 * 2^23 the integer nearest to x is left, in the low bits.
#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

/// 1.5 * 2^23, and its bits. What is rounded with it is below 2^22 in magnitude.
inline constexpr float rounder = 12582912.f;
inline constexpr std::int32_t rounder_bits = 0x4B400000;

/// x rounded.
template <class T>
WB_HD T round_to_even(T x) {
  return (x + T(rounder)) - T(rounder);
}
/// The same as an integer.
template <class T>
WB_HD typename rebind<T>::i32 nearest_integer(T x) {
  return as_int(x + T(rounder)) - typename rebind<T>::i32(rounder_bits);
}

}  // namespace WB_ISA
}  // namespace wb
