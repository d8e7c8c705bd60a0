#pragma once
#include <warpband/channel/recorded/recorded_args.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>

namespace wb {
inline namespace WB_ISA {

/// Moves bits; nothing is computed, so lanes have no part in it. A call moves about 512 floats.
struct recorded_op {
  recorded_args a;
  int at_once;
  static constexpr bool by_block = true;
  explicit recorded_op(const recorded_args& args)
      : a(args), at_once(args.width < 512 ? 512 / args.width : 1) {}
  int threads() const { return at_once * a.width < 128 ? at_once * a.width : 128; }
  std::size_t scratch_bytes(int) const { return 0; }
  double flops() const { return 0; }
  double bytes() const { return 8.0 * a.width; }

  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, void*) const {
    const std::size_t width = static_cast<std::size_t>(a.width);
    for (int i = g.rank; i < items * a.width; i += g.size) {
      const int item = i / a.width;
      const std::size_t h = first + static_cast<std::size_t>(item), frame = h / a.per_frame,
                        row = (h - frame * a.per_frame) % a.rows,
                        snapshot = static_cast<std::size_t>((a.first + frame) % a.snapshots);
      a.h[h * width + static_cast<std::size_t>(i - item * a.width)] =
          a.table[(snapshot * a.rows + row) * width + static_cast<std::size_t>(i - item * a.width)];
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
