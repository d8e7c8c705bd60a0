#pragma once
#include <warpband/detect/pic/pic_body.hpp>
#include <warpband/detect/soft_op.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class S>
struct pic_op : thread_op<soft_args> {
  static constexpr int resident = S::pam::known ? 3 : 1;  // 168 registers hold all it needs
  double flops() const {
    const double n = a.streams;
    return triangle_flops(a) + prior_flops(a) +
           (a.prior.data ? n * (2 * moments_flops(a.pam_bits) + 1 + square_root_flops) : 0) +
           estimates_flops(2, n) + 2 * n * soft_llr_flops(a.pam_bits, a.exact) + llr_flops(a, false);
  }
  double bytes() const { return detect_bytes(a); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using N = typename S::streams;
    using B = typename S::pam;
    const S s(a);
    triangle<N, cx<T>> r;
    prior_costs<S, T> costs;
    T n0;
    const auto good = load_soft(a, s, item, r, costs, n0);
    soft_llrs<N, B, T> llrs;
    cancel_in_parallel(s.n, s.b, r, n0, a.prior.data != nullptr, costs, a.exact, llrs);
    store_soft(a, s, item, g, good, llrs);
  }
};

}  // namespace WB_ISA
}  // namespace wb
