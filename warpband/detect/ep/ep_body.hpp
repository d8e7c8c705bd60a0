#pragma once
#include <warpband/detect/soft_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Twice a size.
template <class N>
struct doubled;
template <int N>
struct doubled<fixed<N>> {
  using size = fixed<2 * N>;
  WB_HD static size of(fixed<N>) { return {}; }
};
template <int N>
struct doubled<upto<N>> {
  using size = upto<2 * N>;
  WB_HD static size of(upto<N> n) { return {2 * n.n}; }
};

/// The same system in real dimensions, those of a symbol side by side.
template <class N, class M, class T>
WB_HD void to_real(N n, const triangle<N, cx<T>>& t, triangle<M, T>& out) {
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    const int re = 2 * k, im = 2 * k + 1;
    out.diagonal[re] = out.diagonal[im] = t.diagonal[k];
    out.z[re] = t.z[k].re;
    out.z[im] = t.z[k].im;
    out.above[re][im] = T(0.f);
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j <= k) return;
      const cx<T> h = t.above[k][j];
      out.above[re][2 * j] = out.above[im][2 * j + 1] = h.re;
      out.above[re][2 * j + 1] = -h.im;
      out.above[im][2 * j] = h.im;
    });
  });
}

/// Variances of amplitudes below this count as this.
inline constexpr float least_variance = 1e-6f;

/// A new lambda at most this, in units of the estimate's 1 / v, is not taken. Between many points that are
/// close to each other it is 0, and rounding would decide about its sign.
inline constexpr float least_gain = 1e-4f;

struct propagation {
  int iterations;
  float damping, start_variance;
  bool given;  // whether there are a-priori LLRs
  bool exact;  // LLRs from sums of all points
};

template <class N, class B, class T, class Costs>
class expectation_propagation {
  using D = doubled<N>;
  using M = typename D::size;

 public:
  WB_HD expectation_propagation(N n, B pam, const triangle<N, cx<T>>& t, T n0, const propagation& how,
                                const Costs& costs)
      : n_(n), m_(D::of(n)), pam_(pam), noise_(T(0.5f) * n0), how_(how), costs_(costs) {
    to_real(n, t, system_);
  }

  WB_HD void run(soft_llrs<N, B, T>& llrs) {
    start();
    for (int i = 1;; i++) {
      estimate();
      if (i == how_.iterations) break;
      loop(n_, [&](int k) WB_INLINE_LAMBDA {
        refine(2 * k, costs_.re[k]);
        refine(2 * k + 1, costs_.im[k]);
      });
    }
    loop(n_, [&](int k) WB_INLINE_LAMBDA {
      T re[1 << B::capacity], im[1 << B::capacity];
      metrics(2 * k, costs_.re[k], re);
      metrics(2 * k + 1, costs_.im[k], im);
      llrs.set(pam_, k, how_.exact, re, im);
    });
  }

 private:
  WB_HD void start() {
    loop(n_, [&](int k) WB_INLINE_LAMBDA {
      start_with(2 * k, costs_.re[k]);
      start_with(2 * k + 1, costs_.im[k]);
    });
  }
  WB_HD void start_with(int d, const T (&cost)[1 << B::capacity]) {
    moments<T> prior{T(0.f), T(0.5f)};
    if (how_.given) prior = moments_of(pam_, cost);
    precision_[d] = T(1.f) / max(prior.variance * T(how_.start_variance), T(least_variance));
    shift_[d] = precision_[d] * prior.mean;
  }
  /// Of each dimension from z and the Gaussians of the others.
  WB_HD void estimate() {
    T mean[M::capacity], deviation[M::capacity];
    loop(m_, [&](int d) WB_INLINE_LAMBDA {
      const T variance = T(1.f) / precision_[d];
      mean[d] = variance * shift_[d];
      deviation[d] = sqrt(variance);
    });
    found_.from(m_, system_, mean, deviation, noise_);
  }
  WB_HD void metrics(int d, const T (&cost)[1 << B::capacity], T (&metric)[1 << B::capacity]) const {
    metrics_of(pam_, T(0.5f) * found_.weight[d], T(0.5f) * found_.pull[d], cost, metric);
  }
  WB_HD void refine(int d, const T (&cost)[1 << B::capacity]) {
    T metric[1 << B::capacity];
    metrics(d, cost, metric);
    const moments<T> seen = moments_of(pam_, metric);
    const T one = T(1.f) / max(seen.variance, T(least_variance));
    const T precision = one - found_.weight[d], shift = fma(one, seen.mean, T(0.f) - found_.pull[d]);
    const auto taken = precision > T(least_gain) * found_.weight[d];
    const T kept = T(how_.damping), share = T(1.f - how_.damping);
    precision_[d] = select(taken, fma(kept, precision_[d], share * precision), precision_[d]);
    shift_[d] = select(taken, fma(kept, shift_[d], share * shift), shift_[d]);
  }

  N n_;
  M m_;
  B pam_;
  T noise_;
  propagation how_;
  const Costs& costs_;
  triangle<M, T> system_;
  estimates<M, T> found_;
  T precision_[M::capacity], shift_[M::capacity];  // lambda, gamma
};

}  // namespace WB_ISA
}  // namespace wb
