#pragma once
#include <warpband/exec/op.hpp>
#include <warpband/stbc/golden_op.hpp>
#include <warpband/stbc/pair_op.hpp>
#include <warpband/stbc/posterior_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Alamouti with a-priori LLRs: each dimension by itself.
template <int B>
struct alamouti_prior_op : thread_op<stbc_decode_args> {
  double flops() const {
    const double dimension = (1 << B) * (2 + B) + B;
    return codeword_sums_flops(a) + level_costs_flops(2, B) + 1 + square_root_flops + 2 * division_flops + 9 +
           4 * (dimension + B * posterior_flops(a));
  }
  double bytes() const { return stbc_bytes(a, 2) + 4.0 * 2 * 2 * B; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const codeword_sums<T> s(a, item);
    level_costs<2, B, T> costs;
    const auto good = s.good & costs.load_from(a, item, s.n0);
    const T root = sqrt(s.n1 + s.n2), per_root = T(1.f) / root, scale = s.llr_scale();
    const T half = T(qam_scale<B>()) * root;
    const cx<T> w[2] = {per_root * cx<T>{s.a.re + s.b.re, s.a.im - s.b.im},
                        per_root * cx<T>{s.c.re - s.d.re, s.c.im + s.d.im}};
    WB_UNROLL for (int k = 0; k < 2; k++) {
      T differences[2][B];
      differences_of_levels<B>(w[k].re, half, costs.cost[k][0], differences[0]);
      differences_of_levels<B>(w[k].im, half, costs.cost[k][1], differences[1]);
      store_posterior<B>(a, k, item, g, scale, good,
                         [&](int q, int i) WB_INLINE_LAMBDA { return differences[q][i]; });
    }
    store_status(a, item, g, good);
  }
};

/// Both pairs in turn: the one that is searched gets its LLRs. `problem()` conditions it by the other one, of
/// which `other` knows all but its costs, and `turn()` puts them in each other's place.
template <int B, class T, class G, class Other, class Problem, class Turn>
WB_HD void search_both_pairs(const stbc_decode_args& a, item<T> item, G g, T scale,
                             typename rebind<T>::mask good, const level_costs<4, B, T>& costs, Other other,
                             Problem problem, Turn turn) {
  WB_ROLL for (int pair = 2; pair >= 0; pair -= 2) {
    other.cost = costs.cost + (2 - pair);
    const searched_costs<B, T> pair_costs{costs.cost + pair};
    pair_minima<B, T> found;
    search_minima(g, problem(), other, found, pair_costs);
    WB_UNROLL for (int k = 0; k < 2; k++) {
      store_posterior<B>(a, pair + k, item, g, scale, good,
                         [&](int q, int i) WB_INLINE_LAMBDA { return found.difference(2 * k + q, i); });
    }
    turn();
  }
}
/// What costs add to search_flops of a pair.
inline double searched_costs_flops(int b, bool crossed) {
  const double levels = 1 << b;
  return levels * levels * (2 + levels + (crossed ? levels : 0)) + (crossed ? 0 : levels);
}

/// A pair code with a-priori LLRs.
template <int B>
struct pair_prior_op : thread_op<stbc_decode_args> {
  static constexpr int tile = codeword_tile<B>;
  double flops() const {
    const double other = 4 * enumerated_pair<B, float>::least_flops + 4;
    const double turn = 39 + search_flops(B, true, false, other) + searched_costs_flops(B, false) +
                        2 * 2 * B * (1 + posterior_flops(a));
    return codeword_sums_flops(a) + level_costs_flops(4, B) + 70 + square_root_flops + 2 * division_flops +
           1 + 2 * turn;
  }
  double bytes() const { return stbc_bytes(a, 4) + 4.0 * 4 * 2 * B; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const codeword_sums<T> s(a, item);
    level_costs<4, B, T> costs;
    const auto good = s.good & costs.load_from(a, item, s.n0);
    pair_channel<T> h = pair_channel_of(s, a.v);
    const T root = sqrt(h.p), per_root = T(1.f) / root;
    const enumerated_pair<B, T> other{T(qam_scale<B>()) * root, costs.cost};
    search_both_pairs<B>(
        a, item, g, s.llr_scale(), good, costs, other,
        [&]() WB_INLINE_LAMBDA { return condition<B>(h, root, per_root); },
        [&]() WB_INLINE_LAMBDA { h.turn(); });
    store_status(a, item, g, good);
  }
};

/// The Golden code with a-priori LLRs.
template <int B>
struct golden_prior_op : thread_op<stbc_decode_args> {
  static constexpr int tile = codeword_tile<B>;
  double flops() const {
    const double turn = 52 + search_flops(B, true, true, 2 + 2 * enumerated_twice<B, float>::least_flops) +
                        searched_costs_flops(B, true) + 2 * 2 * B * (1 + posterior_flops(a));
    return codeword_sums_flops(a) + level_costs_flops(4, B) + 53 + square_root_flops + 2 * division_flops +
           5 + 2 * turn;
  }
  double bytes() const { return stbc_bytes(a, 4) + 4.0 * 4 * 2 * B; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const float scale = qam_scale<B>();
    const codeword_sums<T> s(a, item);
    level_costs<4, B, T> costs;
    const auto good = s.good & costs.load_from(a, item, s.n0);
    golden_channel<T> h = golden_channel_of(s);
    const T root = sqrt(h.a), per_root = T(1.f) / root, beta = h.b * per_root;
    const enumerated_twice<B, T> other{T(scale) * root, T(scale) * beta,
                                       T(scale * scale) * fnma(beta, beta, h.d), costs.cost};
    search_both_pairs<B>(
        a, item, g, s.llr_scale(), good, costs, other,
        [&]() WB_INLINE_LAMBDA { return condition<B>(h, per_root, beta); },
        [&]() WB_INLINE_LAMBDA { h.turn(); });
    store_status(a, item, g, good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
