#pragma once
// Op of the BCJR decoder. Alpha is stored at the first step of each run. The backward recursion recomputes
// alpha run by run.
#include <warpband/fec/bcjr/bcjr_coded_body.hpp>

namespace wb {
inline namespace WB_ISA {

WB_HD std::int32_t lane_of(std::int32_t x, int) { return x; }
#if WB_WIDTH > 1
WB_HD std::int32_t lane_of(i32x x, int i) { return x.x[i]; }
#endif

/// The bcjr_kind of each item, by its LLRs and priors. Scratch of 2 conv_run.
template <class T, class G>
WB_HD_CALL typename rebind<T>::i32 bcjr_kinds(const bcjr_args& a, item<T> item, G g, T* scratch) {
  using I = typename rebind<T>::i32;
  if constexpr (G::size > 1)
    if (a.kinds != nullptr) return a.kinds[item.first];
  I large = I(0), not_small = I(0);
  const float small = bcjr_small_llr(a);
  const auto add = [&](const view<const float>& v) WB_INLINE_LAMBDA {
    const int n = static_cast<int>(v.elements);
    for (int e = 0; e < n; e += conv_run)
      load_run(g, v, e, n - e < conv_run ? n - e : conv_run, item, scratch, [&](T x) WB_INLINE_LAMBDA {
        count_large(large, x, bcjr_large_llr, log_map::llr_limit);
        not_small = not_small + is_large(x, small);
        return x;
      });
  };
  add(a.llr);
  if (a.prior.data) add(a.prior);
  const I kinds = bcjr_kind_of(a, g.sum_all(large), g.sum_all(not_small));
  g.sync();
  return kinds;
}

/// Coded: with the extrinsics of the coded bits.
template <int Memory, class M, bool Recursive, int Tile, bool Coded = false>
struct bcjr_op {
  bcjr_args a;
  static constexpr bool by_block = false;
  static constexpr int tile = Tile;
  /// Blocks of a multiprocessor with few states: seven of max-log-MAP, five of log-MAP. Without this bound
  /// the compiler takes a third more registers for codes without feedback.
  static constexpr int resident = Tile != 8 || Recursive || Coded ? 1 : std::is_same_v<M, max_log> ? 7 : 5;
  static constexpr int S = 1 << Memory, R = bcjr_stage<Memory>;
  using range = bcjr_range<M>;
  static constexpr bool on_dual = std::is_same_v<M, log_map_on_dual>;

  int threads() const { return 1; }
  int weight_bits() const {
    return a.code.outputs + (a.prior.data != nullptr && a.code.systematic < 0 ? 1 : 0);
  }
  /// Of a run: alpha, beta twice, ratios, branch weights and LLRs. Also alpha at the first step of each run.
  /// Coded bits add their ratios and, on transforms, room for products. A code without feedback adds sums.
  std::size_t scratch(int) const {
    const std::size_t runs = static_cast<std::size_t>((a.code.steps + conv_run - 1) / conv_run);
    return (conv_run + 2 + runs) * S + conv_run +
           static_cast<std::size_t>((conv_run << weight_bits()) + conv_run * (a.code.outputs + 1) +
                                    WB_WIDTH) +
           (Coded ? static_cast<std::size_t>(conv_run * a.code.outputs + S) : 0) + (Recursive ? 0 : S);
  }
  double flops() const {
    const bool log = range::each_step;
    const double k = a.code.k, weights = 1 << weight_bits(), runs = (a.code.steps + conv_run - 1) / conv_run;
    // Alpha of the last run is not stepped twice; beta is stepped over what `work` has beyond alpha.
    const double back = a.code.steps + a.overlap, first = a.work.steps - back, again = a.code.steps;
    const double metric = log ? 5 : 3 + correction_flops_of<M>, ratio = log ? division_flops : 1;
    const double loaded = log ? 16 : 3, prior = log ? 20 : 4, value = log ? 20 : 1;
    const double normalised = log ? S * (a.work.runs + runs) : (1 + weights) * a.work.runs;
    return S * metric * (first + again + back) + sums_flops(ratio) + normalised +
           a.work.steps * (log ? 4 : 1) * (weights - 2) + loaded * a.work.values +
           (a.prior.data ? prior * a.work.inputs : 0) + k * value + (Coded ? coded_flops(ratio, value) : 0) +
           (a.soft.data ? k : 0) + (a.extrinsic.data ? k + 3 * a.systematic + (a.prior.data ? 3 * k : 0) : 0);
  }
  /// Sums and ratios. A step of a code with feedback adds over its branches, a stage of others over the
  /// states that differ in their newest bits and then over the rest.
  double sums_flops(double ratio) const {
    const int steps = a.code.steps, runs = steps / conv_run, rest = steps % conv_run;
    constexpr double plus = 1 + correction_flops_of<M>;
    if (Recursive) return (4 * S + (2 * S - 2) * plus) * (steps + a.overlap) + a.code.k * ratio;
    constexpr int others = S >> R;
    constexpr double stage = S + (others * (3 * (1 << R) - 2 * R - 4) + 2 * R * (others - 1)) * plus;
    return static_cast<double>(runs * (conv_run / R) + rest / R) * stage +
           static_cast<double>(runs * (conv_run % R) + rest % R) * (S + (S - 2) * plus) + steps * ratio;
  }
  /// A step has 2 S products of three, for each output sums of pairs and over butterflies, and a ratio.
  double coded_flops(double ratio, double value) const {
    const conv_trellis& c = a.code;
    double sums = 0;
    for (int j = 0; j < c.outputs; j++)
      sums += ((c.older | c.newer) >> j & 1) != 0 ? 2.0 * S - 2 : 2.5 * S - 2;
    sums *= 1 + correction_flops_of<M>;
    return c.steps * (4.0 * S + sums + c.outputs * ratio) + static_cast<double>(a.llr.elements) * (value + 6);
  }
  double bytes() const {
    return (Coded ? 8.0 : 4.0) * static_cast<double>(a.llr.elements) + (a.prior.data ? 4.0 : 0.0) * a.code.k +
           (a.bits.data ? 1.0 : 0.0) * a.code.k + (a.soft.data ? 4.0 : 0.0) * a.code.k +
           (a.extrinsic.data ? 4.0 : 0.0) * a.code.k + (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    if constexpr (requires { typename M::of_large_llrs; }) {
      const auto kinds = bcjr_kinds(a, item, g, scratch);
      for (int i = 0; i < item.valid;) {  // neighbours of one kind together
        auto part = item;
        part.first += static_cast<std::size_t>(i);
        part.valid = 1;
        const std::int32_t kind = lane_of(kinds, i);
        while (i + part.valid < item.valid && lane_of(kinds, i + part.valid) == kind) part.valid++;
        if (kind == of_usual_llrs) {
          if (a.kinds == nullptr) decode(part, g, scratch);
        } else if (kind == of_large_llrs) {
          bcjr_op<Memory, typename M::of_large_llrs, Recursive, Tile, Coded>{a}.decode(part, g, scratch);
        } else {  // transforms are the same with and without feedback
          bcjr_op<Memory, log_map_on_dual, false, Tile, Coded>{a}.decode(part, g, scratch);
        }
        g.sync();
        i += part.valid;
      }
    } else {
      decode(item, g, scratch);
    }
  }

  template <class T, class G>
  WB_HD_CALL void decode(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    const conv_trellis& c = a.code;
    const bool circular = c.ending == conv_ending::tail_biting;
    const int steps = c.steps, runs = (steps + conv_run - 1) / conv_run;
    T *alphas = scratch, *betas = alphas + conv_run * S, *kept = betas + 2 * S, *ratios = kept + runs * S;
    conv_branches<M, T, G> branches(g, c, a.llr, a.prior.data != nullptr ? &a.prior : nullptr, item,
                                    ratios + conv_run);
    [[maybe_unused]] T* coded = branches.staged + conv_run * (c.outputs + 1) + WB_WIDTH;
    [[maybe_unused]] T* products = coded + conv_run * c.outputs;
    [[maybe_unused]] T* parts = Coded ? products + S : coded;
    const int known = (1 << branches.bits) - 1;
    [[maybe_unused]] const bcjr_dual<M> dual(c, branches.bits);
    const auto weights = [&](int s) WB_INLINE_LAMBDA { return branches.table + (s << branches.bits); };
    const auto begin = [&](T* metrics, bool any_state) WB_INLINE_LAMBDA {
      for (int s = g.rank; s < S; s += g.size)
        // The transform of one known state is 1 everywhere, that of any state 1 at 0.
        metrics[s] = any_state != on_dual || s == 0 ? M::template one<T>() : range::template zero<T>();
      g.sync();
    };
    // The weights of a run, after metrics of which the first is the reference.
    const auto make = [&](int t, int count, const T* reference, bool counts) WB_INLINE_LAMBDA {
      const T z = T(0.f) - *reference;
      branches.make(t, count, range::each_step ? nullptr : &z, counts);
      if constexpr (on_dual) dual.transform(g, branches.table, count);
    };
    T ahead = M::template one<T>(), back = ahead, sum0 = ahead, sum1 = ahead;
    const auto forward = [&](int s, const T* before, T* after) WB_INLINE_LAMBDA {
      if constexpr (on_dual) {
        dual.forward(g, before, after, weights(s));
      } else {
        if (range::each_step && s == 0) ahead = bcjr_first_factor<Memory>(g, before);
        ahead = bcjr_forward<Memory, M>(g, c, known, before, after, weights(s), ahead);
      }
    };

    // Forward: alpha before step v is in one of two rows, or kept.
    const auto row = [&](int v) WB_INLINE_LAMBDA {
      return v >= 0 && v % conv_run == 0 ? kept + v / conv_run * S : alphas + (v & 1) * S;
    };
    begin(row(-a.overlap), circular);
    conv_forward(-a.overlap, (runs - 1) * conv_run, steps, [&](int v, int t, int count) WB_INLINE_LAMBDA {
      make(t, count, row(v), v >= 0);
      for (int s = 0; s < count; s++) forward(s, row(v + s), row(v + s + 1));
    });

    int current = 0;
    I status(0);
    begin(betas, c.ending != conv_ending::zero_tail);
    conv_backward(steps + a.overlap, steps, [&](int v, int t, int count) WB_INLINE_LAMBDA {
      const bool outside = v >= steps;  // in the overlap: without alpha, and nothing is output
      T* start = kept + t / conv_run * S;
      make(t, count, outside ? betas + current : start, v + count == steps);  // the last run, until now
      const auto alpha = [&](int s) WB_INLINE_LAMBDA { return s == 0 ? start : alphas + (s - 1) * S; };
      if (!outside)
        for (int s = 0; s < count; s++) forward(s, alpha(s), alpha(s + 1));
      for (int s = count - 1; s >= 0; s--) {
        T *after = betas + current, *before = betas + (S - current);
        if constexpr (on_dual) {
          dual.backward(g, after, before, weights(s));
          [[maybe_unused]] T differences[conv_most_outputs];
          if constexpr (Coded) {
            if (!outside)
              bcjr_coded_differences(g, dual, c.outputs, alpha(s), after, weights(s), products, differences);
          }
          if (!outside) dual.sums_of(g, alpha(s), alpha(s + 1), after, weights(s), sum0, sum1);
          if constexpr (Coded) {
            for (int j = g.rank; j < c.outputs && !outside; j += g.size)
              coded[s * c.outputs + j] = M::ratio(differences[j], sum0);
          }
        } else {
          if (range::each_step && s == count - 1) back = bcjr_first_factor<Memory>(g, after);
          if constexpr (!Recursive) {
            if (!outside && s >= count / R * R)
              bcjr_ratios<Memory, 1, M>(g, alpha(s + 1), after, parts, ratios + s);
            else if (!outside && s % R == R - 1)
              bcjr_ratios<Memory, R, M>(g, alpha(s + 1), after, parts, ratios + s - (R - 1));
          }
          back = bcjr_backward<Memory, M, Recursive>(g, c, known, outside ? after : alpha(s), after, before,
                                                     weights(s), back, sum0, sum1);
          if constexpr (Coded) {
            T sums[conv_most_outputs][2];
            if (!outside) bcjr_coded_sums<Memory, M>(g, c, known, alpha(s), after, weights(s), sums);
            if (!outside && g.rank == 0)
              for (int j = 0; j < c.outputs; j++) coded[s * c.outputs + j] = M::ratio(sums[j][1], sums[j][0]);
          }
        }
        if constexpr (Recursive || on_dual)
          if (g.rank == 0 && !outside && t + s < c.k) ratios[s] = M::ratio(sum1, sum0);
        current = S - current;
      }
      const int out = c.k - t < count ? c.k - t : count;
      if (outside) return;
      if (v + count == steps) status = branches.erasure();  // by now every value was seen
      if constexpr (Coded) {
        g.sync();
        bcjr_store_coded<M>(g, c, a.llr, a.coded, t, count, item, coded, status != I(0));
      }
      if (out <= 0) return;
      g.sync();
      bcjr_store<M>(g, a, t, out, item, ratios, status != I(0));
    });
    if (g.rank == 0 && a.status.data) store_int<T>(a.status, 0, item, status);
  }
};

}  // namespace WB_ISA
}  // namespace wb
