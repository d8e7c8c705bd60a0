#pragma once
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/link/frame/frame_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Nothing is computed: every build moves the same values one by one.
struct grid_copy_op {
  grid_copy_args a;
  static constexpr bool by_block = false;
  int threads() const { return 1; }
  std::size_t scratch(int) const { return 0; }
  double flops() const { return 0; }
  double bytes() const { return 16.0 * a.piece.slots * a.piece.antennas; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    const grid_piece& p = a.piece;
    for (int lane = 0; lane < item.valid; lane++) {
      const std::uint32_t i = static_cast<std::uint32_t>(item.first) + static_cast<std::uint32_t>(lane);
      const std::uint32_t row = i / p.steps, frame = row / p.tones;
      const std::size_t at =
          frame * p.frame_stride + (row % p.tones) * p.tone_stride + (i % p.steps) * p.step_stride;
      for (std::uint32_t e = 0, slot = 0; slot < p.slots; slot++)
        for (std::uint32_t r = 0; r < p.antennas; r++, e++) {
          const std::size_t place = at + slot * p.slot_stride + r * p.antenna_stride;
          if (a.from_grid != nullptr)
            a.to.data[e * a.to.element_stride + i * a.to.item_stride] = a.from_grid[place];
          else
            a.to_grid[place] = a.from.data[e * a.from.element_stride + i * a.from.item_stride];
        }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
