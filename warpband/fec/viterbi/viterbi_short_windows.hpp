#pragma once
// The windows of a value through the 16-bit Viterbi decoder: segments, stages, traceback.
#include <warpband/fec/viterbi/viterbi_short_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Decodes the windows of one value's lanes, all alike: g's threads share them. V: what it computes with.
template <int Memory, int Steps, bool Paired, class V, class G>
struct viterbi_windows {
  using parts = viterbi_parts<Memory, Steps>;
  static constexpr int S = parts::states, R = parts::steps, L = i16x::lanes, lanes = conv_short_lanes::count;

  const viterbi_short_args& a;
  const conv_short_lanes& of;
  G g;
  short_element *metrics, *survivors;
  const int* codes;
  conv_short_branches<V, G>& branches;
  std::int32_t* usable;  // [codeword]
  V largest;             // of the metrics; without a survivor
  int now = 0;           // of two sets of metrics
  int unsettled = 0;     // steps for which paths that began behind a known state last
  int stages = 0;        // done; the first that is kept:
  int oldest = 0;
  int slot = 0;     // where the next one's survivors go, of a.kept
  int decided = 0;  // steps whose bits are stored

  WB_HD short_element* survivors_in(int place) const { return survivors + place * parts::words * L; }
  /// The metrics before the next stage, and where those behind it go.
  WB_HD short_element* metrics_before() const {
    return parts::with_metrics ? survivors_in(slot == 0 ? a.kept - 1 : slot - 1)
                               : metrics + now * parts::room * L;
  }
  WB_HD short_element* metrics_behind() const {
    return parts::with_metrics ? survivors_in(slot) : metrics + (1 - now) * parts::room * L;
  }
  /// D: by how much metrics of states differ at most.
  WB_HD int spread() const { return Memory * a.code.outputs * 127; }
  static constexpr int segments = conv_short_segments::count;
  WB_HD int boundary(int i) const { return conv_short_segments{a}.boundary(i); }
  WB_HD int single_steps(int i) const { return conv_short_segments{a}.single_steps(i, R); }

  WB_HD void run() {
    for (int s = g.rank; s < S; s += g.size) store_short(metrics_before() + parts::place(s) * L, to_short(0));
    largest = to_short(0);
    g.sync();
    for (int i = 0; i < segments; i++) {
      know_states(boundary(i));
      segment(i);
    }
    const int end = boundary(segments);
    know_states(end);
    decide(segments - 1, end, end);
  }

 private:
  WB_HD void know_states(int at) {
    conv_short_segments{a}.known_at(at, [&](int window) { known_state(window); });
  }
  WB_HD void segment(int i) {
    const int from = boundary(i), to = boundary(i + 1), stages_from = from + single_steps(i);
    const i16x counts = i == 1   ? to_short(-1)
                        : i == 2 ? conv_short_in_window(of, a.windows - 1, 0, -1)
                                 : to_short(0);
    int runs = 0;
    for (int r = from; r < to;) {
      const bool single = r < stages_from;
      const int rest = to - r, count = single ? stages_from - r : rest < parts::run ? rest : parts::run;
      branches.make(r, count, counts);
      if (++runs % 64 == 0) add_usable();
      for (int s = 0; s < count; s += single ? 1 : R) {
        if (stages - oldest == a.kept) decide(i, r + s, r + s - a.depth);
        step(s, single);
        stages++;
        slot = slot + 1 == a.kept ? 0 : slot + 1;
        if (to <= 0) oldest = stages;
      }
      r += count;
    }
    add_usable();
  }
  /// State 0 before the next step, in the lanes with a window.
  WB_HD void known_state(int window) {
    const i16x here = conv_short_in_window(of, window, -1, 0);
    const i16x others = to_short((-1 - spread()) * parts::size);
    for (int s = g.rank; s < S; s += g.size) {
      short_element* m = metrics_before() + parts::place(s) * L;
      const i16x x = load_short(m);
      store_short(m, select_less(here, to_short(0), s == 0 ? to_short(0) : others, parts::metric_of(x)) |
                         parts::survivor_of(x));
    }
    largest = select_less(here, to_short(0), V(to_short(0)), largest);
    unsettled = Memory;
    g.sync();
  }
  /// No metric is more than D + 1 below the largest.
  WB_HD void limit_metrics() {
    const i16x least = i16x(largest) + to_short((-1 - spread()) * parts::size);
    for (int s = g.rank; s < S; s += g.size) {
      short_element* m = metrics_before() + parts::place(s) * L;
      const i16x x = load_short(m);
      store_short(m, max(parts::metric_of(x), least) | parts::survivor_of(x));
    }
    g.sync();
  }
  /// The stage that begins with step s of the run.
  WB_HD void step(int s, bool single) {
    const conv_trellis& c = a.code;
    if (unsettled > 0) {
      limit_metrics();
      unsettled -= single ? 1 : R;
    }
    const conv_short_table weights{branches.table + (s << (c.outputs + 1)) * L, 2 << c.outputs,
                                   c.newer * 2 * L};
    const V base = to_short(spread() / 2 * parts::size) - largest;
    const short_element* from = metrics_before();
    short_element *to = metrics_behind(), *kept = survivors_in(slot);
    V most = to_short(-32768);
    if (single) {
      viterbi_short_step<Memory, R, Paired>(g.rank, g.size, c.codes, (1 << c.outputs) - 1, from, to, weights,
                                            base, most, kept);
    } else {
      V begin[parts::size];
      WB_UNROLL for (int u = 0; u < parts::size; u++) begin[u] = base + to_short(parts::survivor - u);
      constexpr int each = (parts::count + G::size - 1) / G::size;
      WB_UNROLL_ON_DEVICE for (int i = 0; i < each; i++) viterbi_stage<Memory, R, Paired>(
          g.rank + i * G::size, codes + i * (R * parts::half), from, to, weights, begin, most, kept);
    }
    if constexpr (G::size > 1)
      WB_UNROLL for (int step = 1; step < G::size; step *= 2) most =
          max(most, i16x{g.exchange(most.x, step)});
    largest = parts::metric_of(most);
    now = 1 - now;
    g.sync();
  }
  WB_HD void add_usable() {
    short_element x[L];
    store_short(x, i16x(branches.usable));
    WB_UNROLL_ON_DEVICE for (int l = 0; l < lanes; l++) if (of.stores[l])
        add_to(usable + of.codeword[l], lane_at(x, l));
    branches.usable = to_short(0);
  }

  /// Traces back from the best state before step r, which segment i is followed by or has, and stores the
  /// bits of steps up to `until` that are not stored yet.
  WB_HD_CALL void decide(int i, int r, int until) {
    constexpr int each = (lanes + G::size - 1) / G::size;
    int state[each], place = slot;
    std::uint8_t* to[each];  // where the bits of the lane's window lie,
    int limit[each];         // and how many there are
    short_element best[L];
    store_short(best, viterbi_best_state<parts, V>(metrics_before()));
    WB_UNROLL_ON_DEVICE for (int n = 0; n < each; n++) {
      const int l = g.rank + n * G::size;
      const bool mine = l < lanes;
      state[n] = mine ? lane_at(best, l) : 0;
      const int window = mine ? conv_short_lanes::at(of.window, l) : 0, rest = a.code.k - window * a.length;
      const std::size_t at = mine ? conv_short_lanes::at(of.item, l) : of.item[0];
      limit[n] = a.bits.data == nullptr || !mine || !conv_short_lanes::at(of.stores, l) ? 0
                 : rest < a.length                                                      ? rest
                                                                                        : a.length;
      to[n] = limit[n] == 0 ? nullptr
                            : a.bits.data + at * a.bits.item_stride +
                                  static_cast<std::size_t>(window * a.length) * a.bits.element_stride;
    }
    int stage = stages, first = -1, left = stages;
#if WB_WIDTH > 1
    int plain =
        a.bits.element_stride == 1 && a.code.feedback == S ? a.length : 0;  // bits that all lanes have
    for (int l = 0; l < lanes; l++) plain = limit[l] < plain ? limit[l] : plain;
#endif
    for (; r > decided && stage > oldest; stage--) {
      while (boundary(i) >= r) i--;
      const bool single = r <= boundary(i) + single_steps(i), stores = r <= until;
      const int steps = single ? 1 : R;
      if (stores && first < 0) first = r, left = stage;
      place = place == 0 ? a.kept - 1 : place - 1;
      const short_element* kept = survivors_in(place);
#if WB_WIDTH > 1
      if (R == 4 && !single && (!stores || r <= plain)) {
        stores ? all_back<true>(kept, state, to, r - R) : all_back<false>(kept, state, to, r - R);
        r -= R;
        continue;
      }
#endif
      WB_UNROLL_ON_DEVICE for (int n = 0; n < each; n++) {
        const int l = g.rank + n * G::size;
        if (l >= lanes) continue;
        const int entered = single ? viterbi_step_back<Memory, R, 1>(kept, l, state[n])
                                   : viterbi_step_back<Memory, R, R>(kept, l, state[n]);
        if (stores && r - steps < limit[n]) store(to[n], limit[n], r - steps, steps, entered, state[n]);
      }
      r -= steps;
    }
    if (first > 0) decided = first;
    oldest = left;
    g.sync();
  }
  /// Bits of `steps` steps from r on, of `limit` at `to`: `entered` the register, which had `before` in it.
  WB_HD void store(std::uint8_t* to, int limit, int r, int steps, int entered, int before) const {
    int bits = entered;
    if (a.code.feedback != S) {
      bits = 0;
      for (int j = 0; j < steps; j++)
        bits |= parity_of((entered << Memory | before) >> j & a.code.feedback) << j;
    }
    if (steps == 4 && a.bits.element_stride == 1 && r + 4 <= limit && is_aligned(to + r))
      return put_four(to + r, bits);
    for (int j = 0; j < steps && r + j < limit; j++)
      to[static_cast<std::size_t>(r + j) * a.bits.element_stride] = static_cast<std::uint8_t>(bits >> j & 1);
  }
  WB_HD static bool is_aligned(const std::uint8_t* p) {
#if defined(__CUDACC__)
    return reinterpret_cast<std::uintptr_t>(p) % 4 == 0;
#else
    (void)p;
    return true;
#endif
  }
#if WB_WIDTH > 1
  /// All lanes a stage back.
  template <bool Stores>
  WB_HD void all_back(const short_element* kept, int* state, std::uint8_t* const* to, int r) const {
    for (int l = 0; l < lanes; l++) {
      const int entered = viterbi_step_back<Memory, R, R>(kept, l, state[l]);
      if (Stores) put_four(to[l] + r, entered);
    }
  }
#endif
  WB_HD static void put_four(std::uint8_t* p, int bits) {
    // The factor puts a copy at every seventh bit: the low bits of four bytes are the four bits.
    const std::uint32_t x = static_cast<std::uint32_t>(bits) * 0x00204081u & 0x01010101u;
#if defined(__CUDACC__)
    *reinterpret_cast<std::uint32_t*>(p) = x;
#else
    __builtin_memcpy(p, &x, sizeof x);
#endif
  }
};

}  // namespace WB_ISA
}  // namespace wb
