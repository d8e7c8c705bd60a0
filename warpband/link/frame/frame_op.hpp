#pragma once
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/link/frame/frame_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Nothing is computed: every build moves the same values one by one.
struct grid_copy_op : thread_op<grid_copy_args> {
  double flops() const { return 0; }
  double bytes() const { return 16.0 * a.piece.slots * a.piece.antennas; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    const grid_piece& p = a.piece;
    const std::uint32_t first = static_cast<std::uint32_t>(item.first), row = first / p.steps;
    std::uint32_t step = first % p.steps, tone = row % p.tones, frame = row / p.tones;
    for (int lane = 0; lane < item.valid; lane++) {
      const std::size_t offset = frame * p.frame_stride + tone * p.tone_stride + step * p.step_stride;
      const std::size_t i = item.first + static_cast<std::size_t>(lane);
      if (a.from_grid != nullptr)
        copy(p, a.from_grid + offset, p.slot_stride, p.antenna_stride, a.to.data + i * a.to.item_stride,
             p.antennas * a.to.element_stride, a.to.element_stride);
      else
        copy(p, a.from.data + i * a.from.item_stride, p.antennas * a.from.element_stride,
             a.from.element_stride, a.to_grid + offset, p.slot_stride, p.antenna_stride);
      if (++step < p.steps) continue;
      step = 0;
      if (++tone < p.tones) continue;
      tone = 0;
      frame++;
    }
  }

 private:
  static WB_HD void copy(const grid_piece& p, const cx_pair* from, std::size_t from_slot,
                         std::size_t from_antenna, cx_pair* to, std::size_t to_slot, std::size_t to_antenna) {
    const bool pairs = p.antennas == 2 && from_antenna == 1 && to_antenna == 1;
    for (std::uint32_t slot = 0; slot < p.slots; slot++, from += from_slot, to += to_slot) {
      if (pairs) {
        const cx_pair one = from[0], two = from[1];
        to[0] = one;
        to[1] = two;
        continue;
      }
      for (std::uint32_t r = 0; r < p.antennas; r++) to[r * to_antenna] = from[r * from_antenna];
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
