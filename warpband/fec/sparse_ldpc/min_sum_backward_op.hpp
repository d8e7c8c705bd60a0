#pragma once
// A CPU thread has a codeword in each lane, a block of a CUDA device one codeword.
#include <warpband/core/erased.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/sparse_ldpc/min_sum_backward_body.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc_load.hpp>

namespace wb {
inline namespace WB_ISA {

struct min_sum_backward_op : block_op<min_sum_backward_args> {
  int threads() const { return a.widest; }
  std::size_t scratch(int) const { return min_sum_backward_pass<lane, solo>::values(a); }
  /// About, and not counted by a test: iterations forward twice, and backward.
  double flops() const { return a.iterations * ((2 * 5 + 16) * a.ones + 20 * a.rows); }
  double bytes() const {
    return 4.0 * a.sent + 4.0 * a.n + (a.llr_gradient.data ? 4.0 * a.sent : 0) +
           (a.correction_gradient.data ? 4.0 * a.iterations : 0) + (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    using mask = typename rebind<T>::mask;
    const min_sum_backward_pass<T, G> pass(a, g, scratch);
    T *app = pass.app_values(), *gradients = pass.gradients();
    mask bad = mask_from<mask>(false);
    for (int i = g.rank; i < a.n; i += g.size) {
      const T given = load(a.soft_gradient, static_cast<std::size_t>(i), item);
      const mask finite = is_finite(given);
      bad = bad | (!finite);
      gradients[i] = or_zero(finite, given);
    }
    const mask given_finite = !g.any(bad);
    mask good = given_finite, enough = given_finite;
    const auto start = [&]() WB_INLINE_LAMBDA {
      I usable = I(0);
      good = load_sent_llrs(a, item, g, app, usable) & given_finite;
      enough = !(usable < I(a.k));
      g.sync();
      if (all(good & enough)) return;
      for (int i = g.rank; i < a.n; i += g.size) app[i] = or_zero(good & enough, app[i]);
      g.sync();
    };
    mask finite = mask_from<mask>(true);
    pass.run(start, [&](int iteration, T sum) WB_INLINE_LAMBDA {
      if (!a.correction_gradient.data) return;
      const mask known = is_finite(sum);
      finite = finite & known;
      store(a.correction_gradient, static_cast<std::size_t>(iteration), item,
            or_zero(good & enough & known, sum));
    });
    mask overflow = !finite;  // of the first thread
    if (a.llr_gradient.data) {
      mask infinite = mask_from<mask>(false);
      for (int i = g.rank; i < a.sent; i += g.size)
        infinite = infinite | (!is_finite(gradients[a.sent_columns[i]]));
      infinite = g.any(infinite);
      overflow = overflow | infinite;
      const mask stays = good & enough & (!infinite);
      for (int i = g.rank; i < a.sent; i += g.size) {
        const T x = load(a.llr, static_cast<std::size_t>(i), item);
        const mask moves = abs(or_zero(good, x)) <= T(known_llr);  // a limit has no derivative
        store(a.llr_gradient, static_cast<std::size_t>(i), item,
              or_zero(stays & moves, gradients[a.sent_columns[i]]));
      }
    }
    if (g.rank == 0 && a.status.data) {
      const I gone = select(good & (!enough), I(status_erased | status_insufficient), I(status_erased));
      store_int<T>(a.status, 0, item, select(good & enough & (!overflow), I(0), gone));
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
