#pragma once
// The BCJR decoder as an op. Alpha is kept at the first step of each run and computed again, run by run, when
// the backward recursion comes there.
#include <warpband/fec/bcjr/bcjr_args.hpp>
#include <warpband/fec/bcjr/bcjr_body.hpp>

namespace wb {
inline namespace WB_ISA {

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
      const std::int32_t place = c.systematic ? c.places[(t + s) * c.outputs] : -1;
      if (place >= 0) x = x - saturate(load(a.llr, static_cast<std::size_t>(place), item), M::llr_limit);
      if (a.prior.data)
        x = x - saturate(load(a.prior, static_cast<std::size_t>(t + s), item), M::llr_limit);
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

template <int Memory, class M, bool Recursive, int Tile>
struct bcjr_op {
  bcjr_args a;
  static constexpr bool by_block = false;
  static constexpr int tile = Tile;
  static constexpr int S = 1 << Memory;

  int threads() const { return 1; }
  int weight_bits() const { return a.code.outputs + (a.prior.data != nullptr && !a.code.systematic ? 1 : 0); }
  /// Alpha of a run, beta twice, alpha at the first step of each run, ratios, branch weights, LLRs of a run.
  std::size_t scratch(int) const {
    const std::size_t runs = static_cast<std::size_t>((a.code.steps + conv_run - 1) / conv_run);
    return (conv_run + 2 + runs) * S + conv_run +
           static_cast<std::size_t>((conv_run << weight_bits()) + conv_run * (a.code.outputs + 1) + WB_WIDTH);
  }
  double flops() const { return 0; }
  double bytes() const {
    return 4.0 * static_cast<double>(a.llr.elements) + (a.prior.data ? 4.0 : 0.0) * a.code.k +
           (a.bits.data ? 1.0 : 0.0) * a.code.k + (a.soft.data ? 4.0 : 0.0) * a.code.k +
           (a.extrinsic.data ? 4.0 : 0.0) * a.code.k + (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    using mask = typename rebind<T>::mask;
    using range = bcjr_range<M>;
    const conv_trellis& c = a.code;
    const bool circular = c.ending == conv_ending::tail_biting;
    const int steps = c.steps, runs = (steps + conv_run - 1) / conv_run;
    T *alphas = scratch, *betas = alphas + conv_run * S, *kept = betas + 2 * S, *ratios = kept + runs * S;
    conv_branches<M, T, G> branches(g, c, a.llr, a.prior.data != nullptr ? &a.prior : nullptr, item,
                                    ratios + conv_run);
    const int known = (1 << branches.bits) - 1;
    const auto weights = [&](int s) WB_INLINE_LAMBDA { return branches.table + (s << branches.bits); };
    const auto begin = [&](T* metrics, bool any_state) WB_INLINE_LAMBDA {
      for (int s = g.rank; s < S; s += g.size)
        metrics[s] = any_state || s == 0 ? M::template one<T>() : range::template zero<T>();
      g.sync();
    };
    T factor = M::template one<T>();
    const auto forward = [&](int s, const T* before, T* after) WB_INLINE_LAMBDA {
      if (s == 0) factor = bcjr_first_factor<Memory, M>(g, before);
      if (range::each_step || s == 0)
        factor = bcjr_forward<Memory, M, true>(g, c, known, before, after, weights(s), factor);
      else
        bcjr_forward<Memory, M, false>(g, c, known, before, after, weights(s), factor);
    };

    begin(kept, circular);
    if (circular && a.overlap > 0) {
      // Two rows in turn; the last step leads to `kept`.
      T *now = kept, *next = alphas;
      conv_forward(-a.overlap, 0, steps, [&](int v, int t, int count) WB_INLINE_LAMBDA {
        branches.make(t, count, nullptr);
        for (int s = 0; s < count; s++) {
          if (v + s == -1) next = now == kept ? alphas : kept;
          forward(s, now, next);
          now = next;
          next = now == alphas ? alphas + S : alphas;
        }
      });
      if (now != kept) {
        for (int s = g.rank; s < S; s += g.size) kept[s] = now[s];
        g.sync();
      }
    }
    for (int r = 0; r + 1 < runs; r++) {
      branches.make(r * conv_run, conv_run, nullptr);
      for (int s = 0; s < conv_run; s++)
        forward(s, s == 0 ? kept + r * S : alphas + (s & 1) * S,
                s + 1 == conv_run ? kept + (r + 1) * S : alphas + ((s + 1) & 1) * S);
    }

    int now = 0;
    begin(betas, c.ending != conv_ending::zero_tail);
    T back = M::template one<T>(), sum0 = back, sum1 = back;
    const auto backward = [&]<bool Output>(bool first, const T* alpha, const T* next, int s) WB_INLINE_LAMBDA {
      T *after = betas + now, *before = betas + (S - now);
      if (first) back = bcjr_first_factor<Memory, M>(g, after);
      if (range::each_step || first)
        back = bcjr_backward<Memory, M, true, Output, Recursive>(g, c, known, alpha, next, after, before,
                                                                 weights(s), back, sum0, sum1);
      else
        bcjr_backward<Memory, M, false, Output, Recursive>(g, c, known, alpha, next, after, before, weights(s),
                                                           back, sum0, sum1);
      now = S - now;
    };
    for (int v = steps + a.overlap; v > steps;) {
      const int t = (v - 1) % steps;
      int count = t + 1 < v - steps ? t + 1 : v - steps;
      if (count > conv_run) count = conv_run;
      branches.make(t + 1 - count, count, nullptr);
      for (int s = count - 1; s >= 0; s--)
        backward.template operator()<false>(s == count - 1, nullptr, nullptr, s);
      v -= count;
    }

    mask erased = mask_from<mask>(false);
    for (int r = runs - 1; r >= 0; r--) {
      const int t = r * conv_run, count = steps - t < conv_run ? steps - t : conv_run;
      branches.make(t, count, nullptr);
      if (r == runs - 1) erased = g.any(branches.bad);  // by now every value was seen
      const auto alpha = [&](int s) WB_INLINE_LAMBDA { return s == 0 ? kept + r * S : alphas + (s - 1) * S; };
      for (int s = 0; s < count; s++) forward(s, alpha(s), alpha(s + 1));
      for (int s = count - 1; s >= 0; s--) {
        if (t + s < c.k) {
          backward.template operator()<true>(s == count - 1, alpha(s), alpha(s + 1), s);
          if (g.rank == 0) ratios[s] = M::ratio(sum1, sum0);
        } else {
          backward.template operator()<false>(s == count - 1, nullptr, nullptr, s);
        }
      }
      const int out = c.k - t < count ? c.k - t : count;
      if (out <= 0) continue;
      g.sync();
      bcjr_store<M>(g, a, t, out, item, ratios, erased);
    }
    if (g.rank == 0 && a.status.data)
      store_int<T>(a.status, 0, item, select(erased, I(status_erased), I(0)));
  }
};

}  // namespace WB_ISA
}  // namespace wb
