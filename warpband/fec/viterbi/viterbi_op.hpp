#pragma once
// The Viterbi decoder as an op: runs of steps, the traceback, store.
#include <warpband/fec/viterbi/viterbi_args.hpp>
#include <warpband/fec/viterbi/viterbi_body.hpp>

namespace wb {
inline namespace WB_ISA {

template <int Memory, bool Paired, int Tile>
struct viterbi_op {
  viterbi_args a;
  static constexpr bool by_block = false;
  static constexpr int tile = Tile;
  static constexpr int S = 1 << Memory, words = viterbi_words<Memory>::count;

  int threads() const { return 1; }
  /// Metrics twice, branch weights and LLRs of a run, decisions of all steps after the first overlap.
  std::size_t scratch(int) const {
    return 2 * S +
           static_cast<std::size_t>((conv_run << a.code.outputs) + conv_run * a.code.outputs + WB_WIDTH) +
           static_cast<std::size_t>(a.code.steps + a.overlap) * words;
  }
  double flops() const {
    const double weights = 1 << a.code.outputs;
    return a.work.steps * (3.0 * S + weights - 2) + 3 * a.work.values + a.work.runs * (1 + weights) +
           (a.metric.data ? a.work.runs + 2 : 0);
  }
  double bytes() const {
    return 4.0 * static_cast<double>(a.llr.elements) + (a.bits.data ? 1.0 : 0.0) * a.code.k +
           (a.metric.data ? 4 : 0) + (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    using U = typename rebind<T>::u32;
    using mask = typename rebind<T>::mask;
    const conv_trellis& c = a.code;
    T *metrics = scratch, *decisions = scratch + 2 * S;
    conv_branches<max_log, T, G> branches(g, c, a.llr, nullptr, item,
                                          decisions + (c.steps + a.overlap) * words);
    const bool circular = c.ending == conv_ending::tail_biting;
    for (int s = g.rank; s < S; s += g.size)
      metrics[s] = circular || s == 0 ? max_log::one<T>() : max_log::zero<T>();
    g.sync();

    int now = 0;
    T taken = T(0.f);
    const int end = c.steps + a.overlap;
    conv_forward(-a.overlap, end, c.steps, [&](int v, int t, int count) WB_INLINE_LAMBDA {
      const T z = T(0.f) - metrics[now];
      if (a.metric.data) taken = taken + z;
      branches.make(t, count, &z, v >= 0 && v < c.steps);
      const auto weights = [&](int e) WB_INLINE_LAMBDA { return branches.table + (e << branches.bits); };
      // The first overlap's decisions are not read: they go where others overwrite them.
      const auto keep = [&](int e) WB_INLINE_LAMBDA { return decisions + (v < 0 ? 0 : v + e) * words; };
      int s = 0;
      if constexpr (G::size == 1 && Memory > 5)
        for (; s + 1 < count; s += 2, now = S - now)
          viterbi_two_steps<Memory, Paired>(c, metrics + now, metrics + (S - now), weights(s), weights(s + 1),
                                            keep(s), keep(s + 1));
      for (; s < count; s++, now = S - now)
        viterbi_step<Memory, Paired>(g, c, metrics + now, metrics + (S - now), weights(s), keep(s));
    });
    const I status = branches.erasure();
    const mask erased = status != I(0);

    I state(0);
    T best = metrics[now];
    if (c.ending != conv_ending::zero_tail)
      for (int s = 1; s < S; s++) {
        const T m = metrics[now + s];
        state = select(m > best, I(s), state);
        best = select(m > best, m, best);
      }
    if (g.rank == 0) {
      if (a.metric.data) store(a.metric, 0, item, select(erased, T(0.f), best - taken));
      if (a.status.data) store_int<T>(a.status, 0, item, status);
    }
    if (!a.bits.data) return;
    U word(0);
    const bool feedback = c.feedback != S;
    for (int v = end - 1; v >= 0; v--) {
      const I chosen = as_int(decision_at<Memory>(decisions + v * words, state)) & I(1);
      const I bits = (state << 1) | chosen;  // the register with the newest bit at this step
      const I u = feedback ? parity_of(bits & I(c.feedback)) : bits >> Memory;
      state = bits & I(S - 1);
      if (v >= c.k) continue;
      word = (word >> 1) ^ (as_uint(u) << 31);
      if (v % 32 == 0) {
        word = select(erased, U(0), word);
        const int count = c.k - v < 32 ? c.k - v : 32;
        if constexpr (G::size > 1) {
          for (int i = g.rank; i < count; i += g.size)
            store_int<T>(a.bits, static_cast<std::size_t>(v + i), item, as_int(word >> (31 - i)) & I(1));
        } else {
          store_bits(a.bits, static_cast<std::size_t>(v), count, item, word);
        }
        word = U(0);
      }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
