#pragma once
#include <warpband/channel/matrix/matrix_args.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Threads of a group share the outputs of a vector, four at a time, so that an input is read once for four.
template <bool Adjoint>
struct matrix_channel_op : block_op<matrix_channel_args> {
  // Plain arithmetic: host code calls no device function.
  int threads() const {
    const int fours = ((Adjoint ? a.columns : a.rows) + 3) / 4;
    return fours < 128 ? fours : 128;
  }
  double flops() const {  // the products; scale and store of each output
    return 4.0 * a.rows * a.columns + 4.0 * (Adjoint ? a.columns : a.rows);
  }
  double bytes() const {
    return 8.0 * (1.0 * a.rows * a.columns / static_cast<double>(a.vectors_per_channel) + a.rows + a.columns);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const int outs = Adjoint ? a.columns : a.rows;
    for (int row = 4 * g.rank; row < outs; row += 4 * g.size) {
      if (row + 4 <= outs) {
        sums<4>(row, item);
      } else {
        for (int i = row; i < outs; i++) sums<1>(i, item);
      }
    }
  }

 private:
  template <int N, class T>
  WB_HD void sums(int first, item<T> item) const {
    const int ins = Adjoint ? a.rows : a.columns;
    cx<T> sum[N];
    WB_UNROLL for (int k = 0; k < N; k++) sum[k] = {T(0.f), T(0.f)};
    for (int i = 0; i < ins; i++) {
      const cx<T> x = load_cx(a.in, static_cast<std::size_t>(i), item);
      WB_UNROLL for (int k = 0; k < N; k++) {
        const int e = Adjoint ? i * a.columns + first + k : (first + k) * a.columns + i;
        const cx<T> h = load_cx(a.channel, static_cast<std::size_t>(e), item, a.vectors_per_channel);
        if constexpr (Adjoint)
          sum[k] = conj_fma(h, x, sum[k]);
        else
          sum[k] = fma(h, x, sum[k]);
      }
    }
    WB_UNROLL for (int k = 0; k < N; k++)
        store_cx(a.out, static_cast<std::size_t>(first + k), item, T(a.scale) * sum[k]);
  }
};

}  // namespace WB_ISA
}  // namespace wb
