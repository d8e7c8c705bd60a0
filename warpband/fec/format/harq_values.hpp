#pragma once
// Values of a caller's HARQ memory: sums of LLRs, rounded and limited to what the format holds.
#include <warpband/core/half_lane.hpp>
#include <warpband/core/rounding.hpp>
#include <warpband/fec/format/format_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Integers, limited to +-127.
struct harq_int8 {
  using type = std::int8_t;
  WB_HD static float load(type x) { return static_cast<float>(x); }
  /// The nearest, ties to even, of a number that is not NaN.
  WB_HD static type rounded(float x) {
    return static_cast<type>(nearest_integer(max(min(x, 127.f), -127.f)));
  }
};
/// Halves, limited to +-65504.
struct harq_float16 {
  using type = std::uint16_t;  // its bits
  static constexpr float largest = 65504.f;
  /// Of memory that a caller may have spoilt: 0 for NaN.
  WB_HD static float load(type bits) {
    const float x = half_to_float(bits);
    return x == x ? max(min(x, largest), -largest) : 0.f;
  }
  WB_HD static type rounded(float x) {
    const std::int32_t bits = as_int(max(min(x, largest), -largest)), sign = bits >> 16 & 0x8000,
                       rest = bits & 0x7fffffff;
    // A normal half has the float's exponent less 112. Smaller ones are 2^-24 apart, as floats around 0.5.
    const std::int32_t normal = (rest + 0xfff + (rest >> 13 & 1) - 0x38000000) >> 13,
                       small = as_int(as_float(rest) + 0.5f) - 0x3f000000;
    return static_cast<type>(sign | (rest >= 0x38800000 ? normal : small));
  }
};
/// f(harq_int8()) or f(harq_float16()).
template <class F>
WB_HD void with_harq_format(harq_format format, F f) {
  if (format == harq_format::int8)
    f(harq_int8());
  else
    f(harq_float16());
}

}  // namespace WB_ISA
}  // namespace wb
