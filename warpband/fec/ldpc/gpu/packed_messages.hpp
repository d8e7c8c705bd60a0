#pragma once
// Messages of a check in three words, for rows whose messages are in device memory.
#include <warpband/fec/ldpc/ldpc_messages.hpp>

namespace wb {
inline namespace WB_ISA {

/// Messages of a check of up to eight edges in three words: m1 and m2 of check_minima, and for edge d of each
/// codeword's half its sign, in bit 15 - d, and whether it takes m2, in bit 7 - d.
template <class T>
struct packed_messages {
  static constexpr int words = 3, most_edges = 8;
  static constexpr std::uint32_t signs = 0x80008000u, marks = 0x80808080u;

  WB_HD static std::uint32_t mark(T q, const check_minima<T>& minima, int d) {
    const T is_least = where_equal(magnitude(q), minima.least, T{0xffffffffu}, T{});
    return ((q.x & signs) | (is_least.x & ~signs)) >> d & marks >> d;
  }
  WB_HD static T message(T m1, T m2, std::uint32_t bits, int d) {
    const std::uint32_t shifted = bits << d;
    std::uint32_t takes_m2;  // bits 7 and 23 fill their halves
    asm("prmt.b32 %0, %1, 0, 0xaa88;" : "=r"(takes_m2) : "r"(shifted));
    return {m1.x ^ (takes_m2 & (m1.x ^ m2.x)) ^ (shifted & signs)};
  }
};

}  // namespace WB_ISA
}  // namespace wb
