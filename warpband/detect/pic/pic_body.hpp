#pragma once
#include <warpband/detect/soft_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// LLRs of all streams from R, z and the costs of steps from a-priori LLRs; `given`: whether there are any.
template <class N, class B, class T, class Costs>
WB_HD void cancel_in_parallel(N n, B pam, const triangle<N, cx<T>>& t, T n0, bool given, const Costs& costs,
                              bool exact, soft_llrs<N, B, T>& llrs) {
  cx<T> mean[N::capacity];
  T deviation[N::capacity];
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    mean[k] = {T(0.f), T(0.f)};
    deviation[k] = T(1.f);
    if (!given) return;
    const moments<T> re = moments_of(pam, costs.re[k]), im = moments_of(pam, costs.im[k]);
    mean[k] = {re.mean, im.mean};
    deviation[k] = sqrt(re.variance + im.variance);
  });
  estimates<N, cx<T>> x;
  x.from(n, t, mean, deviation, n0);
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    T re[1 << B::capacity], im[1 << B::capacity];
    metrics_of(pam, x.weight[k], x.pull[k].re, costs.re[k], re);
    metrics_of(pam, x.weight[k], x.pull[k].im, costs.im[k], im);
    llrs.set(pam, k, exact, re, im);
  });
}

}  // namespace WB_ISA
}  // namespace wb
