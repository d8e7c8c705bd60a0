#pragma once
// Codes over subcarriers: linear combining of two uses with an H each. Of the elements 0 and 1 of a pair
//
//   y_0 = h_10 x1 - h_20 x2* + n_0,   y_1 = h_11 x2 + h_21 x1* + n_1
//   z1 = sum over receive antennas of h_10* y_0 + h_21 y_1* = (|h_10|^2 + |h_21|^2) x1 + c x2* + noise
//   z2 = sum over receive antennas of h_11* y_1 - h_20 y_0* = (|h_11|^2 + |h_20|^2) x2 + c x1* + noise
//   c  = sum over receive antennas of h_11* h_21 - h_10* h_20
//
// c is 0 where both elements have one H. Else its |c|^2 counts as noise.
#include <warpband/stbc/alamouti_op.hpp>
#include <warpband/stbc/posterior_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// What combining makes of a pair of elements: two symbols w, each with its gain's root and noise.
template <class T>
struct combined_pair {
  cx<T> w[2];
  T root[2], noise[2];
  typename rebind<T>::mask good;

  /// Pair p of Pairs: elements 2 p and 2 p + 1, sent by antennas p and p + Pairs.
  template <int Pairs>
  WB_HD void load_from(const stbc_decode_args& args, item<T> item, int p, T n0) {
    const cx<T> none = {T(0.f), T(0.f)};
    T n1[2], n2[2], energy = T(0.f), idle = T(0.f);
    cx<T> t[2], one[2], two[2];  // h1* h2, h1* y, h2* y
    const std::size_t rx = static_cast<std::size_t>(args.rx_antennas), run = args.codewords_per_channel;
    constexpr std::size_t tx = 2 * Pairs;
    WB_UNROLL for (int e = 0; e < 2; e++) {
      n1[e] = n2[e] = T(0.f);
      t[e] = one[e] = two[e] = none;
      const std::size_t element = static_cast<std::size_t>(2 * p + e);
      WB_ROLL for (std::size_t r = 0; r < rx; r++) {
        const std::size_t first = (element * rx + r) * tx + static_cast<std::size_t>(p);
        const cx<T> h1 = load_cx(args.channel, first, item, run),
                    h2 = load_cx(args.channel, first + Pairs, item, run),
                    y = load_cx(args.received, element * rx + r, item);
        n1[e] = norm_fma(h1, n1[e]);
        n2[e] = norm_fma(h2, n2[e]);
        energy = norm_fma(y, energy);
        if constexpr (Pairs ==
                      2) {  // antennas that send nothing here: what erases a codeword does so in every gain
          const std::size_t other = (element * rx + r) * tx + static_cast<std::size_t>(1 - p);
          idle = norm_fma(load_cx(args.channel, other, item, run), idle);
          idle = norm_fma(load_cx(args.channel, other + Pairs, item, run), idle);
        }
        t[e] = conj_fma(h1, h2, t[e]);
        one[e] = conj_fma(h1, y, one[e]);
        two[e] = conj_fma(h2, y, two[e]);
      }
    }
    const cx<T> z[2] = {{one[0].re + two[1].re, one[0].im - two[1].im},
                        {one[1].re - two[0].re, one[1].im + two[0].im}};
    const cx<T> mixed = {t[1].re - t[0].re, t[1].im - t[0].im};
    const T gain[2] = {n1[0] + n2[1], n1[1] + n2[0]};
    good = (idle <= T(1e30f)) & (energy <= T(1e30f)) & (n0 >= T(1e-30f)) & (n0 <= T(1e30f));
    WB_UNROLL for (int k = 0; k < 2; k++) good =
        good & (gain[k] <= T(1e30f)) & (gain[k] >= T(1e-30f)) & (energy <= T(1e10f) * gain[k]);
    WB_UNROLL for (int k = 0; k < 2; k++) {
      const T length = sqrt(select(good, gain[k], T(1.f))), per_length = T(1.f) / length;
      w[k] = per_length * or_zero(good, z[k]);
      root[k] = Pairs == 1 ? length : T(1.41421356f) * length;
      const T scaled = Pairs == 1 ? per_length : T(1.41421356f) * per_length;
      noise[k] = norm_fma(scaled * or_zero(good, mixed), select(good, n0, T(1.f)));
    }
  }
};
/// Of a pair.
inline double combined_pair_flops(const stbc_decode_args& a, int pairs) {
  return 2 * (pairs == 1 ? 18.0 : 22.0) * a.rx_antennas + 10 +
         2 * (square_root_flops + division_flops + 2 + (pairs == 1 ? 0 : 2) + 4);
}
inline double sfbc_bytes(const stbc_decode_args& a, int pairs) {
  const double bits = 4.0 * a.pam_bits * pairs, elements = 2.0 * pairs * a.rx_antennas;
  return 8 * elements * (1 + 2.0 * pairs / static_cast<double>(a.codewords_per_channel)) +
         (a.noise_var.item_stride ? 4 : 0) + (a.prior.data ? 4 * bits : 0) + (a.llr.data ? 4 * bits : 0) +
         (a.bits.data ? bits : 0) + (a.status.data ? 1 : 0);
}

template <int Pairs, class T>
struct combined_codeword {
  combined_pair<T> pair[Pairs];
  typename rebind<T>::mask good;

  WB_HD combined_codeword(const stbc_decode_args& a, item<T> item) {
    const T n0 = load(a.noise_var, 0, item);
    good = mask_from<typename rebind<T>::mask>(true);
    WB_UNROLL for (int p = 0; p < Pairs; p++) {
      pair[p].template load_from<Pairs>(a, item, p, n0);
      good = good & pair[p].good;
    }
  }
};

template <int Pairs, int B, bool Soft>
struct sfbc_op : thread_op<stbc_decode_args> {
  double flops() const {
    const double symbols = 2 * Pairs, folded = 1 + (B - 1);
    const double stored = Soft ? division_flops + 2 * (B + (B - 1) + B * (3 + stored_llr_flops))
                               : (a.bits.data ? 2. * (B - 1) : 0);
    return Pairs * combined_pair_flops(a, Pairs) + symbols * (folded + stored);
  }
  double bytes() const { return sfbc_bytes(a, Pairs); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const combined_codeword<Pairs, T> c(a, item);
    WB_UNROLL for (int p = 0; p < Pairs; p++) {
      WB_UNROLL for (int k = 0; k < 2; k++) {
        const folds<B, T> borders(T(qam_scale<B>()) * c.pair[p].root[k]);
        if constexpr (Soft)
          store_combined(a, 2 * p + k, item, g, c.good, borders, c.pair[p].w[k], T(1.f) / c.pair[p].noise[k]);
        else
          store_decision(a, 2 * p + k, item, g, c.good, borders, c.pair[p].w[k]);
      }
    }
    store_status(a, item, g, c.good);
  }
};

/// With a-priori LLRs: each dimension by itself, in amplitudes of unit noise.
template <int Pairs, int B>
struct sfbc_prior_op : thread_op<stbc_decode_args> {
  double flops() const {
    const double dimension = (1 << B) * (2 + B) + B;
    return Pairs * combined_pair_flops(a, Pairs) + level_costs_flops(2 * Pairs, B) +
           2 * Pairs * (square_root_flops + division_flops + 4 + 2 * (dimension + B * posterior_flops(a)));
  }
  double bytes() const { return sfbc_bytes(a, Pairs); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const combined_codeword<Pairs, T> c(a, item);
    level_costs<2 * Pairs, B, T> costs;
    const auto good = c.good & costs.load_from(a, item, T(1.f));
    WB_UNROLL for (int p = 0; p < Pairs; p++) {
      WB_UNROLL for (int k = 0; k < 2; k++) {
        const T per_noise = T(1.f) / sqrt(c.pair[p].noise[k]);
        const T half = T(qam_scale<B>()) * c.pair[p].root[k] * per_noise;
        const cx<T> w = per_noise * c.pair[p].w[k];
        T differences[2][B];
        differences_of_levels<B>(w.re, half, costs.cost[2 * p + k][0], differences[0]);
        differences_of_levels<B>(w.im, half, costs.cost[2 * p + k][1], differences[1]);
        store_posterior<B>(a, 2 * p + k, item, g, T(1.f), good,
                           [&](int q, int i) WB_INLINE_LAMBDA { return differences[q][i]; });
      }
    }
    store_status(a, item, g, good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
