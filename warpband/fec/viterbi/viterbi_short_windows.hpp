#pragma once
// The windows of a value through the 16-bit Viterbi decoder: segments, stages, traceback.
#include <warpband/fec/viterbi/viterbi_short_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Decodes the windows of one value's lanes, all alike: g's threads share them. Code: conv_any_code or a
/// known one. V: what it computes with.
template <int Memory, int Steps, bool Paired, class Code, class V, class G>
struct viterbi_windows {
  using parts = viterbi_parts<Memory, Steps>;
  static constexpr int S = parts::states, R = parts::steps, L = i16x::lanes, lanes = conv_short_lanes::count;

  const viterbi_short_args& a;
  const conv_short_lanes& lane_map;
  G g;
  short_element *metrics, *survivors;
  const int* codes;
  conv_short_branches<V, G, Code>& branches;
  std::int32_t* usable;  // [codeword]
  V largest;             // of the metrics; without a survivor. Not used if state 0 is the centre
  int current = 0;       // of two sets of metrics
  int unsettled = 0;     // steps for which paths that began behind a known state last
  int stages = 0;        // done; the first that is kept:
  int oldest = 0;
  int slot = 0;     // where the next one's survivors go, of a.kept
  int decided = 0;  // steps whose bits are stored

  WB_HD short_element* survivors_in(int place) const { return survivors + place * parts::words * L; }
  /// The metrics before the next stage, and where those behind it go.
  WB_HD short_element* metrics_before() const {
    return parts::with_metrics ? survivors_in(slot == 0 ? a.kept - 1 : slot - 1)
                               : metrics + current * parts::room * L;
  }
  WB_HD short_element* metrics_behind() const {
    return parts::with_metrics ? survivors_in(slot) : metrics + (1 - current) * parts::room * L;
  }
  /// D: by how much metrics of states differ at most.
  WB_HD int spread() const { return Memory * a.code.outputs * 127; }
  /// Metrics are centred at that of state 0.
  static constexpr bool at_state_zero = [] {
    if constexpr (Code::known) return viterbi_centres_state_zero(Memory, Code::outputs, Steps);
    return false;
  }();
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
  }

 private:
  WB_HD void know_states(int step) {
    const int window = conv_short_segments{a}.known_at(step);
    if (window >= 0) known_state(window);
  }
  WB_HD void segment(int i) {
    const int from = boundary(i), to = boundary(i + 1), stages_from = from + single_steps(i),
              end = boundary(segments);
    const i16x counts = i == 1   ? to_short(-1)
                        : i == 2 ? conv_short_in_window(lane_map, a.windows - 1, 0, -1)
                                 : to_short(0);
    int runs = 0;
    for (int r = from; r < to;) {
      const bool single = r < stages_from;
      const int rest = to - r, count = single ? stages_from - r : rest < parts::run ? rest : parts::run;
      branches.make(r, count, counts);
      if (++runs % 64 == 0) add_usable();
      for (int s = 0;; s += single ? 1 : R) {
        const bool finished = r + s == end;
        if (finished) know_states(end);
        if (finished || (s < count && stages - oldest == a.kept))
          decide(i, r + s, finished ? end : r + s - a.depth);
        if (s == count) break;
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
    const i16x here = conv_short_in_window(lane_map, window, -1, 0);
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
    if constexpr (at_state_zero) {
      largest = parts::metric_of(V(load_short(metrics_before())));
      for (int s = 1; s < S; s++)
        largest = max(largest, parts::metric_of(V(load_short(metrics_before() + parts::place(s) * L))));
      g.sync();
    }
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
    if (unsettled > 0) {
      limit_metrics();
      unsettled -= single ? 1 : R;
    }
    const conv_short_table weights = branches.table_at(s);
    const V base = at_state_zero ? V(to_short(0) - parts::metric_of(load_short(metrics_before())))
                                 : V(to_short(spread() / 2 * parts::size)) - largest;
    V stage_largest = to_short(-32768);
    if (single)
      viterbi_short_step<Memory, R, Paired, Code>(g.rank, g.size, a.code, metrics_before(), metrics_behind(),
                                                  weights, base, stage_largest, survivors_in(slot));
    else
      stage(weights, base, stage_largest);
    if constexpr (!at_state_zero) {
      if constexpr (G::size > 1)
        WB_UNROLL for (int step = 1; step < G::size; step *= 2) stage_largest =
            max(stage_largest, i16x{g.exchange(stage_largest.x, step)});
      largest = parts::metric_of(stage_largest);
    }
    current = 1 - current;
    g.sync();
  }
  /// A stage of this thread's parts.
  WB_HD void stage(const conv_short_table& table, V base, V& stage_largest) {
    using weights = conv_stage_weights<parts, Paired, Code, V>;
    constexpr int per_thread = (parts::count + G::size - 1) / G::size,
                  codes_each = parts::template code_count<Code>;
    V begin[parts::size];
    if constexpr (!Code::known)
      WB_UNROLL for (int u = 0; u < parts::size; u++) begin[u] = base + to_short(parts::survivor - u);
    WB_UNROLL_ON_DEVICE for (int i = 0; i < per_thread; i++) {
      weights w(table, codes + i * codes_each);
      if constexpr (Code::known) w.raise(base);
      viterbi_stage<Memory, R, !at_state_zero>(g.rank + i * G::size, metrics_before(), metrics_behind(), w,
                                               begin, stage_largest, survivors_in(slot));
    }
  }
  WB_HD void add_usable() {
    short_element x[L];
    store_short(x, i16x(branches.usable));
    WB_UNROLL_ON_DEVICE for (int l = 0; l < lanes; l++) if (lane_map.stores[l])
        add_to(usable + lane_map.codeword[l], lane_at(x, l));
    branches.usable = to_short(0);
  }

  /// Traces back from the best state before step r, which is in segment i or follows it. Stores the bits of
  /// steps up to `until` that are not stored yet.
  WB_HD_CALL void decide(int i, int r, int until) {
    constexpr int per_thread = (lanes + G::size - 1) / G::size;
    int state[per_thread], place = slot;
    std::uint8_t* to[per_thread];  // where the bits of the lane's window lie,
    int limit[per_thread];         // and how many there are
    short_element best[L];
    store_short(best, viterbi_best_state<parts, V>(metrics_before(), g));
    WB_UNROLL_ON_DEVICE for (int n = 0; n < per_thread; n++) {
      const int l = g.rank + n * G::size;
      const bool in_use = l < lanes;
      state[n] = in_use ? lane_at(best, l) : 0;
      const int window = in_use ? conv_short_lanes::at(lane_map.window, l) : 0,
                rest = a.code.k - window * a.length;
      const std::size_t batch_index = in_use ? conv_short_lanes::at(lane_map.item, l) : lane_map.item[0];
      limit[n] = a.bits.data == nullptr || !in_use || !conv_short_lanes::at(lane_map.stores, l) ? 0
                 : rest < a.length                                                              ? rest
                                                                                                : a.length;
      to[n] = limit[n] == 0 ? nullptr
                            : a.bits.data + batch_index * a.bits.item_stride +
                                  static_cast<std::size_t>(window * a.length) * a.bits.element_stride;
    }
    int stage = stages, first = -1, left = stages, plain = 0;  // bits that all lanes have, on a CPU
#if WB_WIDTH > 1
    if (a.bits.element_stride == 1 && a.code.feedback == S) plain = a.length;
    for (int l = 0; l < lanes; l++) plain = limit[l] < plain ? limit[l] : plain;
#endif
    const int stop = decided;
    const auto larger = [](int x, int y) { return x > y ? x : y; };
    for (; r > stop && stage > oldest; i--) {
      const int from = boundary(i), stages_from = from + single_steps(i);
      /// Back to step `least`, or as far as there is anything to do.
      const auto go_back = [&](auto steps, auto stores, int least) {
        constexpr int by = decltype(steps)::value;
        const int steps_left = r - larger(least, stop), stages_left = stage - oldest;
        const int n = -larger(-((steps_left + by - 1) / by), -stages_left);
        if (steps_left <= 0 || n <= 0) return;
        if (decltype(stores)::value && first < 0) first = r, left = stage;
        for (int j = 0; j < n; j++) {
          place = place == 0 ? a.kept - 1 : place - 1;
          r -= by;
          back<by, decltype(stores)::value>(survivors_in(place), state, r, to, limit, plain);
        }
        stage -= n;
      };
      go_back(count_of<R>{}, std::false_type{}, larger(stages_from, until));
      go_back(count_of<R>{}, std::true_type{}, stages_from);
      go_back(count_of<1>{}, std::false_type{}, larger(from, until));
      go_back(count_of<1>{}, std::true_type{}, from);
    }
    if (first > 0) decided = first;
    oldest = left;
    g.sync();
  }
  template <int N>
  using count_of = std::integral_constant<int, N>;
  /// From the states after a stage of `Now` steps to those before it, which is step r.
  template <int Now, bool Stores>
  WB_HD void back(const short_element* kept, int* state, int r, std::uint8_t* const* to, const int* limit,
                  [[maybe_unused]] int plain) const {
#if WB_WIDTH > 1
    if (Now == 4 && (!Stores || r + Now <= plain)) return all_back<Stores>(kept, state, to, r);
#endif
    constexpr int per_thread = (lanes + G::size - 1) / G::size;
    WB_UNROLL_ON_DEVICE for (int n = 0; n < per_thread; n++) {
      const int l = g.rank + n * G::size;
      if (l >= lanes) continue;
      const int entered = viterbi_step_back<Memory, R, Now>(kept, l, state[n]);
      if (Stores) store<Now>(to[n], limit[n], r, entered, state[n]);
    }
  }
  /// Bits of `Now` steps from r on, of `limit` at `to`: `entered` the register, which had `before` in it.
  template <int Now>
  WB_HD void store(std::uint8_t* to, int limit, int r, int entered, int before) const {
    int bits = entered;
    if (!Code::known && a.code.feedback != S) {
      bits = 0;
      for (int j = 0; j < Now; j++)
        bits |= parity_of((entered << Memory | before) >> j & a.code.feedback) << j;
    }
    if (Now == 4 && a.bits.element_stride == 1 && r + 4 <= limit && is_aligned(to + r, 2))
      return put_four(to + r, bits);
    for (int j = 0; j < Now && r + j < limit; j++)
      to[static_cast<std::size_t>(r + j) * a.bits.element_stride] = static_cast<std::uint8_t>(bits >> j & 1);
  }
  WB_HD static bool is_aligned(const std::uint8_t* p, unsigned to) {
#if defined(__CUDACC__)
    return reinterpret_cast<std::uintptr_t>(p) % to == 0;
#else
    (void)p, (void)to;
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
    if (is_aligned(p, 4)) {
      *reinterpret_cast<std::uint32_t*>(p) = x;
    } else {
      *reinterpret_cast<std::uint16_t*>(p) = static_cast<std::uint16_t>(x);
      *reinterpret_cast<std::uint16_t*>(p + 2) = static_cast<std::uint16_t>(x >> 16);
    }
#else
    __builtin_memcpy(p, &x, sizeof x);
#endif
  }
};

}  // namespace WB_ISA
}  // namespace wb
