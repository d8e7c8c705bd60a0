#pragma once
// Recursive systematic convolutional codes as compile-time tables. States are shift registers, newest bit on
// top.
#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

/// The constituent code of TS 36.212 §5.1.3.2.1: g0 = 1 + D^2 + D^3 (feedback), g1 = 1 + D + D^3. The state
/// is r1 r2 r3 (bits 2, 1, 0), r1 the newest.
struct lte_rsc {
  static constexpr int states = 8;
  WB_HD static constexpr int feedback(int s) { return ((s >> 1) ^ s) & 1; }
  WB_HD static constexpr int next(int s, int u) { return ((u ^ feedback(s)) << 2) | (s >> 1); }
  WB_HD static constexpr int parity(int s, int u) { return (u ^ feedback(s) ^ (s >> 2) ^ s) & 1; }
  /// The input that brings a zero into the register, as termination sends it.
  WB_HD static constexpr int terminating_bit(int s) { return feedback(s); }
  /// The predecessors of state s, and the input that leads from predecessor p to s.
  WB_HD static constexpr int previous(int s, int i) { return ((s << 1) & 7) | i; }
  WB_HD static constexpr int input(int p, int s) { return (s >> 2) ^ feedback(p); }
};

}  // namespace WB_ISA
}  // namespace wb
