#pragma once
#include <warpband/detect/ep/ep_args.hpp>
#include <warpband/detect/ep/ep_body.hpp>
#include <warpband/detect/soft_op.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class S>
struct ep_op : thread_op<ep_args> {
  double flops() const {
    const double n = a.streams, m = 2 * n, bits = a.pam_bits;
    const double gaussians = m * (division_flops + 1 + square_root_flops);
    const double refine = 2 + metrics_flops(bits) + moments_flops(bits) + division_flops + 2 + 4 + 3;
    // Without a prior all begin with the same known Gaussian, in which n zeros of the real system meet it.
    const double start = a.prior.data ? m * (moments_flops(bits) + 3 + division_flops) : -gaussians - n;
    return triangle_flops(a) + prior_flops(a) + 1 + start +
           a.iterations * (gaussians + estimates_flops(1, m)) + (a.iterations - 1) * m * refine +
           m * (2 + soft_llr_flops(bits, a.exact)) + llr_flops(a, false);
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
    const propagation how{a.iterations, a.damping, a.start_variance, a.prior.data != nullptr, a.exact};
    soft_llrs<N, B, T> llrs;
    expectation_propagation<N, B, T, prior_costs<S, T>>(s.n, s.b, r, n0, how, costs).run(llrs);
    store_soft(a, s, item, g, good, llrs);
  }
};

}  // namespace WB_ISA
}  // namespace wb
