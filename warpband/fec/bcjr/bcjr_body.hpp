#pragma once
// Forward and backward recursion of BCJR on the trellis of a shift register (formulas: bcjr.hpp): semiring M,
// lane type T, group G.
//
// bcjr_forward, bcjr_ratios, bcjr_backward and bcjr_store are collectives of the group, on metrics in its
// scratch memory. They need g.sync() of the caller after a write of their inputs. bcjr_forward and
// bcjr_backward end with g.sync(); bcjr_ratios and bcjr_store leave it to the caller. Cost per step: 2
// branches per state and recursion.
#include <warpband/core/large_llr.hpp>
#include <warpband/fec/bcjr/bcjr_args.hpp>
#include <warpband/fec/conv/conv_body.hpp>
#include <warpband/fec/trellis/max_star_table.hpp>

namespace wb {
inline namespace WB_ISA {

/// Which semiring decodes a codeword.
enum bcjr_kind : std::int32_t { of_usual_llrs, of_large_llrs, of_small_llrs };
inline constexpr float bcjr_large_llr = 15.f;  // of a codeword that is_large
/// The largest LLR of a codeword of small ones: their soft outputs are below the rounding of sums of
/// probabilities. Where bits are punctured outputs are smaller.
WB_HD float bcjr_small_llr(const bcjr_args& a) {
  return static_cast<int>(a.llr.elements) < 2 * a.code.steps ? 2.5f : 1.25f;
}
/// The bcjr_kind of a codeword of whose LLRs and priors `large` are large (count_large) and `not_small` not
/// small.
template <class I>
WB_HD I bcjr_kind_of(const bcjr_args& a, I large, I not_small) {
  const int count =
      static_cast<int>(a.llr.elements) + (a.prior.data ? static_cast<int>(a.prior.elements) : 0);
  const I small = select(not_small == I(0), I(of_small_llrs), I(of_usual_llrs));
  return select(are_large(large, count), I(of_large_llrs), small);
}

/// Normalisation of metrics.
template <class M>
struct bcjr_range;

/// The weights of a run's first step bring alpha of state 0 back to 0; that alone keeps beta near 0 too, as
/// the best path's alpha + beta is the same at every step.
template <>
struct bcjr_range<max_log> {
  static constexpr bool each_step = false;
  template <class T>
  WB_HD static T zero() {
    return max_log::zero<T>();
  }
};
template <>
struct bcjr_range<log_map::of_large_llrs> : bcjr_range<max_log> {};
template <>
struct bcjr_range<max_star_table> : bcjr_range<max_log> {};
/// The largest metric before each step is brought to [1, 2); after it, it is below 4. All are at least 2^-63
/// and branch weights at least 2^-60, so that no product of two metrics, or of a metric and a weight,
/// underflows.
template <>
struct bcjr_range<log_map> {
  static constexpr bool each_step = true;
  template <class T>
  WB_HD static T zero() {
    return T(0x1p-63f);
  }
};

/// 2^-exponent, exact.
template <class T>
WB_HD T bcjr_factor(T largest) {
  using I = typename rebind<T>::i32;
  return as_float(I(0x7f000000) - (as_int(largest) & I(0x7f800000)));
}
/// The factor of the first step of a run.
template <int Memory, class T, class G>
WB_HD T bcjr_first_factor(G g, const T* metrics) {
  T largest = T(0.f);
  for (int s = g.rank; s < conv_states<Memory>::states; s += g.size) largest = max(largest, metrics[s]);
  return bcjr_factor(g.max_all(largest));
}

/// Loop over the butterflies of a round: `unroll` per thread, `span` per group.
template <int Memory, class G>
struct bcjr_loop {
  static constexpr int round = conv_states<Memory>::round;
  static constexpr int unroll = G::size > 1 ? 1 : round < 4 ? round : 4, span = unroll * G::size;
};

/// The sum of x over the threads that had a butterfly of a round, pairs of neighbours first: for every group
/// size the same order.
template <int Round, class M, class T, class G>
WB_HD T sum_of_round(G g, T x) {
  if constexpr (G::size > 1)
    WB_UNROLL for (int step = 1; step < Round && step < G::size; step *= 2) x =
        M::plus(x, g.exchange(x, step));
  return x;
}
template <class M, int N, class T>
WB_HD T sum_of_pairs(T (&x)[N]) {
  if constexpr (N > 1)
    WB_UNROLL for (int n = 1; n < N; n *= 2) for (int i = 0; i < N; i += 2 * n) x[i] =
        M::plus(x[i], x[i + n]);
  return x[0];
}

/// Metrics of a step's butterfly: new ones from those of two states and the weights of their branches.
template <class M, class T>
WB_HD T bcjr_metric(T a, T w, T b, T x, T factor, T& largest) {
  T n = M::accumulate(M::times(a, w), b, x);
  if constexpr (bcjr_range<M>::each_step) {
    n = max(M::times(n, factor), bcjr_range<M>::template zero<T>());
    largest = max(largest, n);
  }
  return n;
}

/// alpha of the next step, times a factor. Returns the factor for the step after it.
template <int Memory, class M, class T, class G>
WB_HD_CALL T bcjr_forward(G g, const conv_trellis& c, int known, const T* before, T* after, const T* weights,
                          T factor) {
  using loop = bcjr_loop<Memory, G>;
  constexpr int half = conv_states<Memory>::butterflies;
  T largest = T(0.f);
  for (int q = 0; q < half; q += loop::round)
    for (int i = 0; i < loop::round; i += loop::span) WB_UNROLL for (int u = 0; u < loop::unroll; u++) {
        const int b = i + u * G::size + g.rank;
        if (loop::round % loop::span == 0 || b < loop::round) {
          const int j = q + b;
          const std::int32_t code = c.codes[j] & known;
          const T p0 = before[2 * j], p1 = before[2 * j + 1];
          after[j] =
              bcjr_metric<M>(p0, weights[code], p1, weights[code ^ (c.older & known)], factor, largest);
          after[j + half] = bcjr_metric<M>(p0, weights[code ^ (c.newer & known)], p1,
                                           weights[code ^ ((c.older ^ c.newer) & known)], factor, largest);
        }
      }
  g.sync();
  if constexpr (bcjr_range<M>::each_step) return bcjr_factor(g.max_all(largest));
  return factor;
}

/// Steps of a stage. A feed-forward code has the inputs of as many steps in its state, so that the products
/// of alpha and beta behind a stage tell the LLRs of all of them.
template <int Memory>
inline constexpr int bcjr_stage = Memory < 4 ? Memory : 4;

/// The sums over x by the bits of its index: sums[2 b + v] of those whose bit b is v. The highest bit first,
/// after which its halves are added.
template <class M, int Bits, class T>
WB_HD void bcjr_sums_by_bit(const T (&x)[1 << Bits], T* sums) {
  constexpr int half = 1 << (Bits - 1);
  T low[half], high[half];
  WB_UNROLL for (int i = 0; i < half; i++) {
    low[i] = x[i];
    high[i] = x[half + i];
  }
  if constexpr (Bits > 1) {
    T both[half];
    WB_UNROLL for (int i = 0; i < half; i++) both[i] = M::plus(low[i], high[i]);
    bcjr_sums_by_bit<M, Bits - 1>(both, sums);
  }
  sums[2 * Bits - 2] = sum_of_pairs<M>(low);
  sums[2 * Bits - 1] = sum_of_pairs<M>(high);
}
/// The ratios of a stage's steps, of alpha and beta behind it. First the sums over states that differ in
/// their `Steps` newest bits, then those over the others, neighbours first: for every group size the same
/// order. `parts` has room for as many values as there are states.
template <int Memory, int Steps, class M, class T, class G>
WB_HD_CALL void bcjr_ratios(G g, const T* alpha, const T* beta, T* parts, T* ratios) {
  constexpr int N = 1 << Steps, count = 1 << (Memory - Steps);
  for (int p = g.rank; p < count; p += g.size) {
    T x[N], sums[2 * Steps];
    WB_UNROLL for (int u = 0; u < N; u++) x[u] = M::times(alpha[u * count + p], beta[u * count + p]);
    bcjr_sums_by_bit<M, Steps>(x, sums);
    WB_UNROLL for (int i = 0; i < 2 * Steps; i++) parts[i * count + p] = sums[i];
  }
  g.sync();
  for (int step = g.rank; step < Steps; step += g.size) {
    T *zero = parts + 2 * step * count, *one = zero + count;
    for (int n = 1; n < count; n *= 2)
      for (int i = 0; i < count; i += 2 * n) {
        zero[i] = M::plus(zero[i], zero[i + n]);
        one[i] = M::plus(one[i], one[i + n]);
      }
    ratios[step] = M::ratio(one[0], zero[0]);
  }
}

/// beta of the step before, times a factor. Sums: and the sums over the step's branches with input 0 and 1
/// (right in thread 0), which a code with feedback needs. `alpha` is that before the step.
template <int Memory, class M, bool Sums, class T, class G>
WB_HD_CALL T bcjr_backward(G g, const conv_trellis& c, int known, const T* alpha, const T* after, T* before,
                           const T* weights, T factor, T& sum0, T& sum1) {
  using loop = bcjr_loop<Memory, G>;
  constexpr int half = conv_states<Memory>::butterflies, groups = (loop::round + loop::span - 1) / loop::span;
  T largest = T(0.f);
  for (int q = 0; q < half; q += loop::round) {
    [[maybe_unused]] T part0[groups], part1[groups];
    for (int i = 0; i < groups; i++) {
      [[maybe_unused]] T x0[loop::unroll], x1[loop::unroll];
      WB_UNROLL for (int u = 0; u < loop::unroll; u++) {
        const int b = i * loop::span + u * G::size + g.rank;
        if constexpr (Sums) x0[u] = x1[u] = M::template one<T>();
        if (loop::round % loop::span == 0 || b < loop::round) {
          const int j = q + b;
          const std::int32_t coded = c.codes[j], code = coded & known;
          const T low = after[j], high = after[j + half];
          const T w = weights[code], x = weights[code ^ (c.older & known)],
                  y = weights[code ^ (c.newer & known)], z = weights[code ^ ((c.older ^ c.newer) & known)];
          before[2 * j] = bcjr_metric<M>(low, w, high, y, factor, largest);
          before[2 * j + 1] = bcjr_metric<M>(low, x, high, z, factor, largest);
          if constexpr (Sums) {
            const T a0 = alpha[2 * j], a1 = alpha[2 * j + 1];
            const T even0 = M::times(M::times(a0, w), low), even1 = M::times(M::times(a0, y), high);
            const T odd0 = M::times(M::times(a1, x), low), odd1 = M::times(M::times(a1, z), high);
            // The oldest bit flips the input where the feedback taps it.
            const bool flips = (c.older >> c.outputs & 1) != 0, one = (coded >> c.outputs & 1) != 0;
            const T same = M::plus(even0, flips ? odd1 : odd0), other = M::plus(even1, flips ? odd0 : odd1);
            x0[u] = one ? other : same;
            x1[u] = one ? same : other;
          }
        }
      }
      if constexpr (Sums) {
        part0[i] = sum_of_pairs<M>(x0);
        part1[i] = sum_of_pairs<M>(x1);
      }
    }
    if constexpr (Sums) {
      const T s0 = sum_of_round<loop::round, M>(g, sum_of_pairs<M>(part0));
      const T s1 = sum_of_round<loop::round, M>(g, sum_of_pairs<M>(part1));
      sum0 = q == 0 ? s0 : M::plus(sum0, s0);
      sum1 = q == 0 ? s1 : M::plus(sum1, s1);
    }
  }
  g.sync();
  if constexpr (bcjr_range<M>::each_step) return bcjr_factor(g.max_all(largest));
  return factor;
}

/// What leaves a run: steps t, ... t + out - 1, whose ratios become LLRs.
template <class M, class T, class G>
WB_HD_CALL void bcjr_store(G g, const bcjr_args& a, int t, int out, item<T> item, T* ratios,
                           typename rebind<T>::mask erased) {
  using U = typename rebind<T>::u32;
  const conv_trellis& c = a.code;
  for (int s = g.rank; s < out; s += g.size)
    ratios[s] = select(erased, T(0.f), M::llr(M::limit_twice(ratios[s])));
  g.sync();
  if (a.soft.data) store_run(g, a.soft, t, out, item, [&](int s) WB_INLINE_LAMBDA { return ratios[s]; });
  if (a.extrinsic.data)
    store_run(g, a.extrinsic, t, out, item, [&](int s) WB_INLINE_LAMBDA {
      T x = ratios[s];
      const std::int32_t place = c.systematic < 0 ? -1 : c.places[(t + s) * c.outputs + c.systematic];
      if (place >= 0) x = x - saturate(load(a.llr, static_cast<std::size_t>(place), item), M::llr_limit);
      if (a.prior.data) x = x - saturate(load(a.prior, static_cast<std::size_t>(t + s), item), M::llr_limit);
      return select(erased, T(0.f), x);
    });
  if (a.bits.data) {
    if constexpr (G::size > 1) {
      for (int s = g.rank; s < out; s += g.size)
        store_int<T>(a.bits, static_cast<std::size_t>(t + s), item, decide(ratios[s]));
    } else {
      U word(0);
      for (int s = 0; s < out; s++) word = word ^ (as_uint(decide(ratios[s])) << (31 - s));
      store_bits(a.bits, static_cast<std::size_t>(t), out, item, word);
    }
  }
}

}  // namespace WB_ISA
}  // namespace wb
