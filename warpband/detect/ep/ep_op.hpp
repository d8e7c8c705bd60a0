#pragma once
#include <warpband/detect/ep/ep_body.hpp>
#include <warpband/detect/soft_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class S>
struct ep_op {
  detect_args a;
  static constexpr bool by_block = false;
  int threads() const { return 1; }
  std::size_t scratch(int) const { return 0; }
  double flops() const {
    const double n = a.streams, m = 2 * n, bits = a.pam_bits;
    const double estimate = m * (division_flops + 1 + square_root_flops) + estimates_flops(1, m);
    const double refine = 2 + metrics_flops(bits) + moments_flops(bits) + division_flops + 2 + 4 + 2;
    return triangle_flops(a) + prior_flops(a) +
           m * ((a.prior.data ? moments_flops(bits) : 0) + 3 + division_flops) + 1 + n * (n - 1) / 2 +
           a.iterations * estimate + (a.iterations - 1) * m * refine +
           m * (2 + soft_llr_flops(bits, a.exact)) + llr_flops(a, false);
  }
  double bytes() const { return detect_bytes(a); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using N = typename S::streams;
    using B = typename S::pam;
    const S s(a);
    use_of_channel<S, T> use(a, s, item, as_they_come{});
    triangle<N, cx<T>> r;
    prior_costs<S, T> costs;
    const auto good = use.good & gram_schmidt(s.rx, s.n, use.h, use.y, use.least_pivot(), r) &
                      costs.load_from(a, s, item, as_they_come{}, T(1.f));
    const propagation how{a.iterations, a.damping, a.start_variance, a.prior.data != nullptr, a.exact};
    soft_llrs<N, B, T> llrs;
    expectation_propagation<N, B, T, prior_costs<S, T>>(s.n, s.b, r, use.n0, how, costs).run(llrs);
    store_llrs(a, s.n, s.b, item, g, as_they_come{}, T(1.f), good,
               [&](int k, int i) WB_INLINE_LAMBDA { return llrs.of[k][i]; });
  }
};

}  // namespace WB_ISA
}  // namespace wb
