#pragma once
// Saturating 8-bit integers of two codewords in a register, on a GPU.
//
// They are halves, which hold integers up to 2048 exactly: of sign and magnitude, as check nodes want them,
// and with instructions for two at once. After a sum or difference a clamp to -128..127 gives what integers
// that saturate give. (The device has no instructions for four bytes, and those for two 16-bit integers none
// for a sign.)
#include <warpband/fec/ldpc/ldpc_messages.hpp>

namespace wb {
inline namespace WB_ISA {

/// Two whole numbers of -128..127 as halves; magnitudes are up to 128.
struct i8_pair {
  std::uint32_t x;
};
template <>
struct message_memory<i8_pair> {
  using element = std::uint32_t;
  static constexpr int rows = 1, codewords = 2;
};
WB_HD f16x as_half(i8_pair a) { return {a.x}; }
WB_HD i8_pair as_int8(f16x a) { return {a.x}; }
WB_HD i8_pair saturated(f16x a) { return as_int8(max(min(a, to_half(127.f)), to_half(-128.f))); }
WB_HD i8_pair difference(i8_pair a, i8_pair b) { return saturated(difference(as_half(a), as_half(b))); }
WB_HD i8_pair sum(i8_pair a, i8_pair b) { return saturated(sum(as_half(a), as_half(b))); }
WB_HD i8_pair magnitude(i8_pair a) { return as_int8(magnitude(as_half(a))); }
WB_HD i8_pair min(i8_pair a, i8_pair b) { return as_int8(min(as_half(a), as_half(b))); }
WB_HD i8_pair max(i8_pair a, i8_pair b) { return as_int8(max(as_half(a), as_half(b))); }
WB_HD i8_pair where_equal(i8_pair a, i8_pair b, i8_pair x, i8_pair y) {
  return as_int8(where_equal(as_half(a), as_half(b), as_half(x), as_half(y)));
}
WB_HD i8_pair sign_product(i8_pair a, i8_pair b) { return {a.x ^ b.x}; }
WB_HD i8_pair sign_union(i8_pair a, i8_pair b) { return {a.x | b.x}; }
WB_HD i8_pair with_sign(i8_pair m, i8_pair s) { return as_int8(with_sign(as_half(m), as_half(s))); }

template <>
struct min_sum<i8_pair> {
  f16x scale, offset;  // of ldpc_correction: 1536 is in the offset
  static constexpr float limit = min_sum<i8x>::limit;
  /// max(floor(m scale + 1/2) - offset, 0) of m up to 42: with a scale in eighths m scale + 1/16 is a
  /// multiple of 1/16 and exact, never half way between two integers, and its nearest integer is that floor.
  /// A sum of 1024 to 2048 rounds to an integer.
  WB_HD i8_pair reduce(i8_pair m) const {
    const f16x exact = sum(product(as_half(m), scale), to_half(0.0625f));
    return as_int8(max(difference(sum(exact, to_half(1536.f)), offset), to_half(0.f)));
  }
  WB_HD static i8_pair most() { return as_int8(to_half(42.f)); }  // as min_sum<i8x>
  WB_HD static i8_pair zero() { return {0}; }
};

WB_HD min_sum<i8_pair> rule_of(const ldpc_correction& c, const min_sum<i8_pair>*) {
  return {{c.half_scale}, {c.half_offset}};
}

template <>
struct message_of<i8_pair> {
  WB_HD static i8_pair from(const llr_quantiser (&quantise)[2], const float (&x)[2]) {
    constexpr float limit = min_sum<i8x>::limit;
    return as_int8(to_half(to_float(quantise[0](x[0], limit)), to_float(quantise[1](x[1], limit))));
  }
  WB_HD static float get(i8_pair a, int codeword) { return message_of<f16x>::get(as_half(a), codeword); }
  WB_HD static float extrinsic(i8_pair a, i8_pair channel, int codeword) {
    return get(a, codeword) - get(channel, codeword);
  }
  WB_HD static std::uint32_t sign_bits(i8_pair a) { return message_of<f16x>::sign_bits(as_half(a)); }
  WB_HD static float llr(const llr_quantiser& by, float x) { return message_of<i8x>::llr(by, x); }
};

}  // namespace WB_ISA
}  // namespace wb
