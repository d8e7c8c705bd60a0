#pragma once
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/link/regroup/regroup_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Moves bits; nothing is computed, so lanes have no part in it.
struct regroup_op : parts_op<regroup_args> {
  int threads() const { return a.rows * a.width < 128 ? a.rows * a.width : 128; }
  double flops() const { return 0; }
  double bytes() const { return 8.0 * a.rows * a.width; }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const std::size_t rows = static_cast<std::size_t>(a.rows), columns = static_cast<std::size_t>(a.columns),
                      width = static_cast<std::size_t>(a.width), matrix = first / columns,
                      column = first - matrix * columns;
    const float* in = a.in + (matrix * rows * columns + column) * width;
    float* out = a.out + first * rows * width;
    for (int i = g.rank; i < a.rows * a.width; i += g.size) {
      const int row = i / a.width;
      out[i] =
          in[static_cast<std::size_t>(row) * columns * width + static_cast<std::size_t>(i - row * a.width)];
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
