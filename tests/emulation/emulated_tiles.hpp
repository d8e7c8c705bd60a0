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
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    bits = emulation::exchange(members(), bits)[emulation::thread_index.x ^ static_cast<unsigned>(step)];
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
};
template <int Threads>
  requires(Threads > 1)
struct conv_short_team<Threads, emulated_warp> {
  using type = emulated_tile<Threads>;
};

}  // namespace WB_ISA
}  // namespace wb
