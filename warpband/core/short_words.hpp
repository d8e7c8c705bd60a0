#pragma once
// 16-bit integers in neighbouring groups, and words of bytes that become them.
#include <warpband/core/short_lane.hpp>

namespace wb {
inline namespace WB_ISA {

/// Lowest `bits` bits of each number from `low`, the others from `high`.
template <class V>
WB_HD V join_bits(V low, V high, int bits) {
  return (low & to_short((1 << bits) - 1)) | (high & to_short(~((1 << bits) - 1)));
}

#if defined(__CUDACC__)
/// Four neighbouring values, on a multiple of four.
WB_HD void store_four_shorts(short_element* p, const i16x* x) {
  *reinterpret_cast<uint4*>(p) = uint4{x[0].x, x[1].x, x[2].x, x[3].x};
}
/// Bits of lane, or item, `which` of what lies at p, from bit `from` on; higher ones may follow.
WB_HD int bits_at(const short_element* p, int which, int from) {
  return static_cast<int>(*p >> (16 * which + from));
}
/// Byte i of two words, with its sign, as the numbers of the two items.
WB_HD i16x signed_bytes(std::uint32_t first, std::uint32_t second, int i) {
  const std::uint32_t n = static_cast<std::uint32_t>(i),
                      which = n | (8 | n) << 4 | (4 | n) << 8 | (12 | n) << 12;
  std::uint32_t r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(first), "r"(second), "r"(which));
  return {r};
}
/// Up to 16 bytes from any address on, as words.
struct byte_words {
  std::uint32_t word[5];
  unsigned shift;  // of these, in bits

  /// `Count` words from p on. Reads from the multiple of 4 below p to that behind them.
  template <int Count>
  WB_HD void load(const std::int8_t* p) {
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(p);
    const std::uint32_t* from = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
    shift = static_cast<unsigned>(address & 3) * 8;
    WB_UNROLL for (int i = 0; i < Count; i++) word[i] = from[i];
    word[Count] = shift != 0 ? from[Count] : 0;
  }
  WB_HD void clear() {
    WB_UNROLL for (int i = 0; i < 5; i++) word[i] = 0;
    shift = 0;
  }
  WB_HD void put(int i, int byte) { word[i / 4] |= static_cast<std::uint32_t>(byte & 0xff) << i % 4 * 8; }
  WB_HD std::uint32_t at(int i) const { return __funnelshift_r(word[i], word[i + 1], shift); }
};
#else
WB_HD int bits_at(const short_element* p, int which, int from) { return lane_at(p, which) >> from; }
WB_HD void store_four_shorts(short_element* p, const i16x* x) {
  WB_UNROLL for (int i = 0; i < 4; i++) store_short(p + i * i16x::lanes, x[i]);
}
#endif

}  // namespace WB_ISA
}  // namespace wb
