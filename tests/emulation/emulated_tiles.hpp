#pragma once
// Threads of a warp that share the windows of a 16-bit decoder of convolutional codes, on the host.
#include <cstring>

#include <tests/emulation/emulated_block.hpp>
#include <warpband/fec/conv/conv_short_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// What core/group.hpp has for a CUDA device.
struct emulated_warp {
  static constexpr int size = 32;
  int rank = static_cast<int>(emulation::thread_index.x);
  void sync() const { emulation::meet(0, size); }
};
template <int S>
struct emulated_tile {
  static constexpr int size = S;
  int rank = static_cast<int>(emulation::thread_index.x) % S;
  static unsigned members() {
    if constexpr (S == 32) return ~0u;
    return ((1u << S % 32) - 1) << emulation::thread_index.x % 32 / S * S;
  }
  void sync() const { (void)emulation::exchange(members(), 0); }
  template <class X>
  X exchange(X x, int step) const {
    std::uint64_t word = 0;
    std::memcpy(&word, &x, sizeof x);
    const std::uint64_t* const words = emulation::exchange(members(), word);
    std::memcpy(&x, &words[emulation::thread_index.x % 32 ^ static_cast<unsigned>(step)], sizeof x);
    return x;
  }
  std::int32_t sum_all(std::int32_t x) const {
    WB_UNROLL for (int step = 1; step < S; step *= 2) x += exchange(x, step);
    return x;
  }
  bool any(bool x) const { return sum_all(x) != 0; }
};
template <int Threads>
  requires(Threads > 1)
struct conv_short_team<Threads, emulated_warp> {
  using type = emulated_tile<Threads>;
};

}  // namespace WB_ISA
}  // namespace wb
