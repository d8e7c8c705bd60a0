#pragma once
// When decoders take a word as received. An LLR is usable where the decoder's numbers tell it from 0. A word
// with fewer usable LLRs than it has bits is an erasure, status_insufficient: many words fit it.
#include <type_traits>

#include <warpband/core/lane.hpp>

namespace wb {

/// An all-zero word satisfies every CRC, and LLRs at rest may tell it: at y = 0 those of the 2 of 4 bits of
/// 16-QAM (6 of 8 of 256-QAM) that tell amplitudes. It counts as received if `zeros_share` of `zeros_whole`
/// LLRs are usable and larger than zeros_least of the largest. Behind noise and fading nearly all are.
inline constexpr int zeros_share = 7, zeros_whole = 8;
inline constexpr float zeros_least = 1.f / 4096;

inline namespace WB_ISA {

/// The sum of all lanes.
template <class I>
WB_HD std::int32_t sum_of_lanes(I a) {
  if constexpr (std::is_same_v<I, std::int32_t>) {
    return a;
  } else {
    std::int32_t sum = 0;
    for (int i = 0; i < WB_WIDTH; i++) sum += a.x[i];
    return sum;
  }
}

}  // namespace WB_ISA
}  // namespace wb
