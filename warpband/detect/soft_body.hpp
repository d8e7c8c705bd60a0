#pragma once
// What the detectors with soft symbols share: moments of a symbol under weights of its points, and the
// estimate of each unknown from y and the knowledge of the others. LLRs follow from such an estimate.
//
// An estimate x of a symbol s with error variance v is stored as weight = 1 / v and pull = x / v. These stay
// finite where nothing or everything is known.
#include <warpband/core/cx.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/math.hpp>
#include <warpband/core/size.hpp>
#include <warpband/detect/lattice_body.hpp>
#include <warpband/linalg/qr/qr_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Weights and pulls are limited to this, so that products with amplitudes and sums with costs stay finite.
inline constexpr float most_weight = 1e36f;

/// Amplitude of a step, counted from the top.
template <class B>
WB_HD float amplitude_of(B pam, int j) {
  return scale_of(pam) * static_cast<float>((1 << pam) - 1 - 2 * j);
}

template <class T>
struct moments {
  T mean, variance;
};
/// Mean and variance of an amplitude with probabilities in proportion to e^-metric.
template <class B, class T>
WB_HD moments<T> moments_of(B pam, const T (&metric)[1 << B::capacity]) {
  T least = metric[0], sum = T(0.f), mean = T(0.f), variance = T(0.f), weight[1 << B::capacity];
  loop(levels_of(pam), [&](int j) WB_INLINE_LAMBDA { least = min(least, metric[j]); });
  loop(levels_of(pam), [&](int j) WB_INLINE_LAMBDA {
    weight[j] = exp(least - metric[j]);
    sum = sum + weight[j];
    mean = fma(weight[j], T(amplitude_of(pam, j)), mean);
  });
  const T one = T(1.f) / sum;
  mean = mean * one;
  loop(levels_of(pam), [&](int j) WB_INLINE_LAMBDA {
    const T off = T(amplitude_of(pam, j)) - mean;
    variance = fma(weight[j] * off, off, variance);
  });
  return {mean, variance * one};
}

/// -ln of the likelihoods of all amplitudes, but for a constant, and their costs: of an estimate with
/// squared distances weighed by `weight`, that is weight (a^2 - 2 a x) = a (a weight - 2 pull).
template <class B, class T>
WB_HD void metrics_of(B pam, T weight, T pull, const T (&cost)[1 << B::capacity],
                      T (&metric)[1 << B::capacity]) {
  loop(levels_of(pam), [&](int j) WB_INLINE_LAMBDA {
    const float a = amplitude_of(pam, j);
    metric[j] = fma(T(a), fma(T(a), weight, T(-2.f) * pull), cost[j]);
  });
}

/// LLRs of the bits of one dimension from its metrics: max-log, or from sums of all points.
template <class B, class T>
WB_HD void llrs_of(B pam, const T (&metric)[1 << B::capacity], bool exact, T (&llr)[B::capacity]) {
  const int half = (1 << pam) / 2 - 1;
  loop(pam, [&](int i) WB_INLINE_LAMBDA {
    const auto is_one = [&](int j)
                            WB_INLINE_LAMBDA { return ((j ^ j >> 1 ^ half) >> (pam - 1 - i) & 1) != 0; };
    T zero = T(unreached), one = T(unreached);
    loop(levels_of(pam), [&](int j) WB_INLINE_LAMBDA {
      T& least = is_one(j) ? one : zero;
      least = min(least, metric[j]);
    });
    llr[i] = one - zero;
    if (!exact) return;
    T sum_zero = T(0.f), sum_one = T(0.f);
    loop(levels_of(pam), [&](int j) WB_INLINE_LAMBDA {
      const T e = exp((is_one(j) ? one : zero) - metric[j]);
      T& sum = is_one(j) ? sum_one : sum_zero;
      sum = sum + e;
    });
    llr[i] = llr[i] + (log(sum_zero) - log(sum_one));
  });
}

/// LLRs by stream and place in the label, as store_llrs asks for them.
template <class N, class B, class T>
struct soft_llrs {
  T values[N::capacity][2 * B::capacity];

  /// Those of position k from the metrics of its two dimensions.
  WB_HD void set(B pam, int k, bool exact, const T (&re)[1 << B::capacity], const T (&im)[1 << B::capacity]) {
    T llr[B::capacity];
    llrs_of(pam, re, exact, llr);
    loop(pam, [&](int i) WB_INLINE_LAMBDA { values[k][2 * pam - 1 - i] = llr[i]; });
    llrs_of(pam, im, exact, llr);
    loop(pam, [&](int i) WB_INLINE_LAMBDA { values[k][pam - 1 - i] = llr[i]; });
  }
};

/// Two parts of a column: what stands in the rows of R, and below them.
template <class E>
struct two_rows {
  E r, i;
};

/// For z = R x + n, n of variance `noise` in each entry, and entries of x of the given means and standard
/// deviations: of each entry the linear MMSE estimate from z and the other entries, without bias. Its weight
/// is
///   w_k = h_k^H (noise I + sum_{j != k} E_j h_j h_j^H)^-1 h_k,   E_j = deviation_j^2, h_k column k of R.
///
/// One decomposition serves all entries: [R D; sqrt(noise) I] = Q T, D the deviations. Let v_k and e be what
/// Q leaves of [h_k; 0] and [z - R mean; 0]. Let p_k be the squared norm of row k of the lower part of Q.
/// Then
///   w_k = |v_k|^2 / (noise p_k),   w_k x_k = w_k mean_k + v_k^H e / (noise p_k).
/// All are sums of squares or of small products: no difference of large numbers where a deviation or the
/// noise is small.
template <class N, class E>
struct estimates {
  using T = real_of<E>;
  T weight[N::capacity];
  E pull[N::capacity];

  WB_HD void from(N n, const triangle<N, E>& t, const E (&mean)[N::capacity],
                  const T (&deviation)[N::capacity], T noise) {
    two_rows<E> q[N::capacity][N::capacity], e[N::capacity];
    const E none = entry<E>::of(T(0.f));
    const T sigma = sqrt(noise);
    loop(n, [&](int k) WB_INLINE_LAMBDA {
      loop(n, [&](int r) WB_INLINE_LAMBDA {
        if (r < k) q[k][r] = {deviation[k] * t.above[r][k], none};
      });
      q[k][k] = {entry<E>::of(deviation[k] * t.diagonal[k]), entry<E>::of(sigma)};
      E rest = fnma(entry<E>::of(t.diagonal[k]), mean[k], t.z[k]);
      loop(n, [&](int j) WB_INLINE_LAMBDA {
        if (j > k) rest = fnma(t.above[k][j], mean[j], rest);
      });
      e[k] = {rest, none};
    });
    /// Column j of Q off v.
    const auto take_off = [&](int j, two_rows<E>(&v)[N::capacity]) WB_INLINE_LAMBDA {
      E s = none;
      loop(n, [&](int r) WB_INLINE_LAMBDA {
        if (r <= j) s = conj_fma(q[j][r].i, v[r].i, conj_fma(q[j][r].r, v[r].r, s));
      });
      loop(n, [&](int r) WB_INLINE_LAMBDA {
        if (r <= j) v[r] = {fnma(s, q[j][r].r, v[r].r), fnma(s, q[j][r].i, v[r].i)};
      });
    };
    loop(n, [&](int k) WB_INLINE_LAMBDA {
      T square = T(0.f);
      loop(n, [&](int r) WB_INLINE_LAMBDA {
        if (r <= k) square = norm_fma(q[k][r].i, norm_fma(q[k][r].r, square));
      });
      const T inverse = T(1.f) / sqrt(square);
      loop(n, [&](int r) WB_INLINE_LAMBDA {
        if (r <= k) q[k][r] = {inverse * q[k][r].r, inverse * q[k][r].i};
      });
      loop(n, [&](int j) WB_INLINE_LAMBDA {
        if (j > k) take_off(k, q[j]);
      });
      take_off(k, e);
    });
    const T one = T(1.f) / noise;
    loop(n, [&](int k) WB_INLINE_LAMBDA {
      two_rows<E> v[N::capacity];
      loop(n, [&](int r) WB_INLINE_LAMBDA {
        v[r] = {r < k ? t.above[r][k] : r == k ? entry<E>::of(t.diagonal[k]) : none, none};
      });
      loop(n, [&](int j) WB_INLINE_LAMBDA { take_off(j, v); });
      T row = T(0.f), square = T(0.f);
      E along = none;
      loop(n, [&](int r) WB_INLINE_LAMBDA {
        if (r >= k) row = norm_fma(q[r][k].i, row);
        square = norm_fma(v[r].i, norm_fma(v[r].r, square));
        along = conj_fma(v[r].i, e[r].i, conj_fma(v[r].r, e[r].r, along));
      });
      const T scale = T(1.f) / max(row, T(1e-37f));
      weight[k] = limited_weight(limited_weight(square * one) * scale);
      const E off = limited_weight(scale * limited_weight(one * along));
      pull[k] = limited_weight(weight[k] * mean[k] + off);
    });
  }

 private:
  WB_HD static T limited_weight(T x) { return saturate(x, most_weight); }
  template <class C>
  WB_HD static cx<C> limited_weight(cx<C> x) {
    return {saturate(x.re, most_weight), saturate(x.im, most_weight)};
  }
};

}  // namespace WB_ISA
}  // namespace wb
