#pragma once
// The Golden code: given (x3, x4) the Gram of (x1, x2) is real, [[a, b], [b, d]], and the same as that of
// (x3, x4). Real and imaginary part separate: each is the least over two levels of
//   (u - step l2 - g l1)^2 + weight l2^2 - t l2
#include <warpband/stbc/stbc_body.hpp>

namespace wb {
inline namespace WB_ISA {

template <int B, class T>
struct golden_pair {
  folds<B, T> borders;
  T step, weight;                // step = scale b / sqrt a, weight = scale^2 (d - b^2 / a)
  T weighted[(1 << B) / 2];      // weight l^2, from the outermost level
  T per_g, per_weight, per_sum;  // of slicing: 1 / g, 1 / (2 weight), 1 / (step^2 + weight)
  explicit WB_HD golden_pair(T g) : borders(g) {}
  WB_HD T square_of(int j) const { return weighted[j < (1 << B) / 2 ? j : (1 << B) - 1 - j]; }
};

/// All levels of the second symbol, the first one sliced. `value` of a prefix is u and t.
template <int B, class T>
struct enumerated : golden_pair<B, T> {
  static constexpr double least_flops = (1 << B) * (4 + B), decide_flops = least_flops + (1 << B) + 1;
  using golden_pair<B, T>::golden_pair;
  static constexpr bool crossed = true, unrolled = false;
  WB_HD T least(T u, T t) const {
    T best = T(unreached_metric);
    loop(fixed<(1 << B)>{}, [&](int j) WB_INLINE_LAMBDA {
      const float level = level_of<B>(j);
      const T e = this->borders.error(fnma(this->step, T(level), u));
      best = min(best, fma(e, e, fnma(t, T(level), this->square_of(j))));
    });
    return best;
  }
  WB_HD T metric(const prefix<T>& p) const {
    return p.metric + (least(p.value[0].re, p.value[1].re) + least(p.value[0].im, p.value[1].im));
  }
  /// The best level of the second symbol, and what it leaves of u.
  WB_HD void decide(T u, T t, T& second, T& rest) const {
    T best = T(unreached_metric);
    second = T(0.f);
    WB_ROLL for (int j = 0; j < 1 << B; j++) {
      const float level = level_of<B>(j);
      const T e = this->borders.error(fnma(this->step, T(level), u));
      const T m = fma(e, e, fnma(t, T(level), this->weight * T(level * level)));
      second = select(m < best, T(level), second);
      best = min(best, m);
    }
    rest = fnma(this->step, second, u);
  }
};

/// One symbol sliced, then the other: the better of the two orders.
template <int B, class T>
struct sliced_twice : golden_pair<B, T> {
  static constexpr double least_flops = 21 + 2 * (4 + B) + 1, decide_flops = least_flops;
  using golden_pair<B, T>::golden_pair;
  static constexpr bool crossed = true, unrolled = false;
  WB_HD T cost(T u, T t, T second) const {
    const T e = this->borders.error(fnma(this->step, second, u));
    return fma(e, e, fma(this->weight, second, -t) * second);
  }
  WB_HD void both(T u, T t, T& one, T& two) const {
    const T free = min(max(t * this->per_weight, T(-1e4f)), T(1e4f));  // the second symbol without its levels
    one = nearest_level<B>(free);
    const T first = nearest_level<B>(fnma(this->step, free, u) * this->per_g);
    const T left = fnma(this->borders.g(), first, u);
    two = nearest_level<B>(fma(this->step, left, T(0.5f) * t) * this->per_sum);
  }
  WB_HD T least(T u, T t) const {
    T one, two;
    both(u, t, one, two);
    return min(cost(u, t, one), cost(u, t, two));
  }
  WB_HD T metric(const prefix<T>& p) const {
    return p.metric + (least(p.value[0].re, p.value[1].re) + least(p.value[0].im, p.value[1].im));
  }
  WB_HD void decide(T u, T t, T& second, T& rest) const {
    T one, two;
    both(u, t, one, two);
    second = select(cost(u, t, two) < cost(u, t, one), two, one);
    rest = fnma(this->step, second, u);
  }
};

/// Sums of a codeword: P^H y, Q^H y, P^H Q, and the Gram of either pair.
template <class T>
struct golden_channel {
  cx<T> zp[2], zq[2], g[2][2];
  T a, b, d;
  /// P and Q in each other's place.
  WB_HD void turn() {
    WB_UNROLL for (int k = 0; k < 2; k++) {
      const cx<T> z = zp[k];
      zp[k] = zq[k];
      zq[k] = z;
    }
    const cx<T> off = g[0][1];
    g[0][1] = {g[1][0].re, -g[1][0].im};
    g[1][0] = {off.re, -off.im};
    g[0][0].im = -g[0][0].im;
    g[1][1].im = -g[1][1].im;
  }
};
/// The problem of finding (x3, x4): |y - P c - Q s|^2 - |y|^2 + |value[0]|^2.
template <int B, class T>
WB_HD conditioned<T> condition(const golden_channel<T>& h, T per_root, T beta) {
  const float scale = qam_scale<B>();
  conditioned<T> c;
  c.value[0] = per_root * h.zp[0];
  c.value[1] =
      T(2.f * scale) * cx<T>{fnma(beta, c.value[0].re, h.zp[1].re), fnma(beta, c.value[0].im, h.zp[1].im)};
  const T turn = T(-scale) * per_root;
  WB_UNROLL for (int n = 0; n < 2; n++) {
    const cx<T> first = turn * h.g[0][n];
    c.by[0][n] = first;
    const cx<T> second = T(-scale) * h.g[1][n];
    c.by[1][n] = T(2.f * scale) * cx<T>{fnma(beta, first.re, second.re), fnma(beta, first.im, second.im)};
    c.linear[n] = T(-2.f) * conj_fma(first, c.value[0], T(scale) * h.zq[n]);
    c.square[n] = norm_fnma(first, T(scale * scale) * (n == 0 ? h.a : h.d));
  }
  const cx<T> overlap = conj_fnma(c.by[0][1], c.by[0][0], cx<T>{T(scale * scale) * h.b, T(0.f)});
  c.cross = T(2.f) * overlap;
  return c;
}

}  // namespace WB_ISA
}  // namespace wb
