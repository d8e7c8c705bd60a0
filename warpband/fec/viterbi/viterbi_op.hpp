#pragma once
// The Viterbi decoder as an op: runs of steps, the traceback, store.
#include <warpband/exec/op.hpp>
#include <warpband/fec/viterbi/viterbi_args.hpp>
#include <warpband/fec/viterbi/viterbi_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Passes over all steps of a codeword. Scratch: metrics twice, decisions, bounds, what the branches need.
template <int Memory, bool Paired, class T, class G>
struct viterbi_passes {
  using I = typename rebind<T>::i32;
  using M = typename rebind<T>::mask;
  static constexpr int S = 1 << Memory, words = viterbi_words<Memory>::count;

  const viterbi_args& a;
  G g;
  T *metrics, *decisions, *bounds;
  conv_branches<max_log, T, G> branches;
  item<T> batch_item;
  int decided = 0;   // bits that were
  int current = 0;   // metrics + current are those after the last step
  T taken = T(0.f);  // what was added to all of them

  WB_HD viterbi_passes(const viterbi_args& args, G group, item<T> item, T* scratch)
      : a(args),
        g(group),
        metrics(scratch),
        decisions(scratch + 2 * S),
        bounds(decisions + kept_steps(a) * words),
        branches(g, a.code, a.llr, nullptr, item, bounds + (a.exact ? S : 0)),
        batch_item(item) {}
  WB_HD static int kept_steps(const viterbi_args& a) {
    return a.kept != 0 ? a.kept : a.code.steps + a.overlap;
  }
  WB_HD T* decisions_of(int v) const { return decisions + (a.kept != 0 ? v & (a.kept - 1) : v) * words; }

  /// From `start`, or the `first` time from all states that may be.
  WB_HD void run(bool first, I start) {
    const conv_trellis& c = a.code;
    const bool circular = c.ending == conv_ending::tail_biting;
    for (int s = g.rank; s < S; s += g.size) {
      const M may = first ? mask_from<M>(circular || s == 0) : I(s) == start;
      metrics[s] = select(may, max_log::one<T>(), max_log::zero<T>());
    }
    g.sync();
    current = 0;
    taken = T(0.f);
    conv_forward(-a.overlap, c.steps + a.overlap, c.steps, [&](int v, int t, int count) WB_INLINE_LAMBDA {
      if (a.kept != 0 && v + count - decided > a.kept && a.bits.data) decide(v);
      const T z = v == -a.overlap ? T(0.f) : T(0.f) - metrics[current];
      if (a.metric.data || a.exact) taken = taken + z;
      branches.make(t, count, &z, first && v >= 0 && v < c.steps);
      const auto weights = [&](int e) WB_INLINE_LAMBDA { return branches.table + (e << branches.bits); };
      // The first overlap's decisions are not read: they go where others overwrite them.
      const auto keep = [&](int e) WB_INLINE_LAMBDA { return decisions_of(v < 0 ? 0 : v + e); };
      int s = 0;
      if constexpr (G::size == 1 && Memory > 5)
        for (; s + 1 < count; s += 2, current = S - current)
          viterbi_two_steps<Memory, Paired>(c, metrics + current, metrics + (S - current), weights(s),
                                            weights(s + 1), keep(s), keep(s + 1));
      for (; s < count; s++, current = S - current)
        viterbi_step<Memory, Paired>(g, c, metrics + current, metrics + (S - current), weights(s), keep(s));
    });
  }
  /// The state that the path to trace back ends in, and its metric. An exact search first bounds the
  /// codewords of every start state, and then tries these until no bound is above the best.
  WB_HD I search(T& best) {
    I start(0), best_start(0);
    bool last = !a.exact;
    for (int pass = 0;; pass++) {
      run(pass == 0, start);
      if (last) break;
      if (pass == 0) {
        for (int s = g.rank; s < S; s += g.size) bounds[s] = metrics[current + s] - taken;
      } else {
        const T m = load_at(metrics + current, start) - taken;
        const M better = pass == 1 ? mask_from<M>(true) : m > best;
        best = select(better, m, best);
        best_start = select(better, start, best_start);
        g.sync();
        if (g.rank == 0) store_at(bounds, start, T(-3e38f), mask_from<M>(true));
      }
      g.sync();
      T top;
      const I next = largest(bounds, top);
      const M done = pass == 0 ? mask_from<M>(false) : !(top > best);
      start = select(done, best_start, next);
      last = all(done);
      if (last && pass == 1) break;  // decisions are those of the best
    }
    if (!a.exact) {
      best = metrics[current];
      if (a.code.ending != conv_ending::zero_tail) start = largest(metrics + current, best);
      best = best - taken;
    }
    return start;
  }
  /// Decides the bits that lie `depth` steps before step v, where survivors have met.
  WB_HD void decide(int v) {
    T best;
    const I state = largest(metrics + current, best);
    const int until = (v - a.depth) / 32 * 32;
    trace(state, v, until, mask_from<M>(false));
    decided = until;
    g.sync();
  }
  /// Goes back from a state before step `from`, and stores the bits from those that were decided to `until`.
  WB_HD_CALL void trace(I state, int from, int until, M erased) const {
    using U = typename rebind<T>::u32;
    const conv_trellis& c = a.code;
    U word(0);
    const bool feedback = c.feedback != S;
    for (int v = from - 1; v >= decided; v--) {
      const I chosen = as_int(decision_at<Memory>(decisions_of(v), state)) & I(1);
      const I bits = (state << 1) | chosen;  // the register with the newest bit at this step
      const I u = feedback ? parity_of(bits & I(c.feedback)) : bits >> Memory;
      state = bits & I(S - 1);
      if (v >= until) continue;
      word = (word >> 1) ^ (as_uint(u) << 31);
      if (v % 32 != 0) continue;
      word = select(erased, U(0), word);
      const int count = until - v < 32 ? until - v : 32;
      if constexpr (G::size > 1) {
        for (int i = g.rank; i < count; i += g.size)
          store_int<T>(a.bits, static_cast<std::size_t>(v + i), batch_item, as_int(word >> (31 - i)) & I(1));
      } else {
        store_bits(a.bits, static_cast<std::size_t>(v), count, batch_item, word);
      }
      word = U(0);
    }
  }
  /// The first state with the largest of S values.
  WB_HD static I largest(const T* values, T& metric) {
    I state(0);
    metric = values[0];
    for (int s = 1; s < S; s++) {
      const T m = values[s];
      state = select(m > metric, I(s), state);
      metric = select(m > metric, m, metric);
    }
    return state;
  }
};

template <int Memory, bool Paired, int Tile>
struct viterbi_op : thread_op<viterbi_args> {
  static constexpr int tile = Tile;
  static constexpr int resident = 6;  // as many as shared memory holds of K = 7, k = 1024 on an H100
  static constexpr int S = 1 << Memory, words = viterbi_words<Memory>::count;

  /// Metrics twice, branch weights and LLRs of a run, decisions of all steps after the first overlap. An
  /// exact search also has a bound for each state.
  std::size_t scratch(int) const {
    return (a.exact ? 3 : 2) * S +
           static_cast<std::size_t>((conv_run << a.code.outputs) + conv_run * a.code.outputs + WB_WIDTH) +
           static_cast<std::size_t>(a.kept != 0 ? a.kept : a.code.steps + a.overlap) * words;
  }
  /// Of an exact search the least: two passes.
  double flops() const {
    const double weights = 1 << a.code.outputs;
    const double pass =
        a.work.steps * (3.0 * S + weights - 2) + 3 * a.work.values + a.work.runs * (1 + weights);
    return (a.exact ? 2 : 1) * pass + (a.metric.data ? a.work.runs + 2 : 0);
  }
  double bytes() const {
    return 4.0 * static_cast<double>(a.llr.elements) + (a.bits.data ? 1.0 : 0.0) * a.code.k +
           (a.metric.data ? 4 : 0) + (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    using mask = typename rebind<T>::mask;
    const conv_trellis& c = a.code;
    viterbi_passes<Memory, Paired, T, G> passes(a, g, item, scratch);
    T best = T(0.f);
    I state = passes.search(best);
    const I status = passes.branches.erasure();
    const mask erased = status != I(0);
    if (g.rank == 0) {
      if (a.metric.data) store(a.metric, 0, item, select(erased, T(0.f), best));
      if (a.status.data) store_int<T>(a.status, 0, item, status);
    }
    if (!a.bits.data) return;
    passes.trace(state, c.steps + a.overlap, c.k, erased);
    if (any(erased))  // bits that were decided before it was known
      for (int v = g.rank; v < passes.decided; v += g.size)
        store_int<T>(a.bits, static_cast<std::size_t>(v), item, I(0), erased);
  }
};

}  // namespace WB_ISA
}  // namespace wb
