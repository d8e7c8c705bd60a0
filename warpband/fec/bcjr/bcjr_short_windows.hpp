#pragma once
// Recursions over the windows of one value in 16-bit integers. Alpha is stored before each run of a window.
// The backward recursion recomputes alpha of a run stage by stage.
//
// bcjr_windows::run is a collective of the group g. bcjr_short_space names its scratch memory. The caller
// needs a barrier before it reads `usable`.
#include <warpband/fec/bcjr/bcjr_short_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Scratch memory of a value's windows.
struct bcjr_short_space {
  short_element* metrics;  // two sets
  short_element* runs;     // before each run of the window
  short_element* stages;   // before each but the first stage of a run
  short_element* ratios;   // of a run's steps
};

/// Decodes the windows of one value's lanes in lockstep. V: type of metrics. Code: conv_any_code, or a known
/// code with generators as template arguments.
template <int Memory, int Steps, bool Paired, class Code, class V, class G>
struct bcjr_windows {
  using parts = bcjr_parts<Memory, Steps>;
  static constexpr int S = parts::states, R = Steps, L = i16x::lanes, lanes = conv_short_lanes::count;
  static constexpr int set = parts::room * L;  // values of a set of metrics

  const bcjr_short_args& a;
  const conv_short_lanes& lane_map;
  G g;
  bcjr_short_space space;
  const int* codes;
  conv_short_branches<V, G, Code>& branches;
  std::int32_t* usable;  // [codeword]

  WB_HD void run() {
    forward();
    backward();
  }

 private:
  WB_HD int boundary(int i) const { return conv_short_segments{a}.boundary(i); }
  /// The first steps of segment i that are stages of one step.
  WB_HD int single_steps(int i) const { return conv_short_segments{a}.single_steps(i, R); }
  WB_HD int runs_of(int i) const {
    const int single = single_steps(i), rest = boundary(i + 1) - boundary(i) - single;
    return (single > 0) + (rest + parts::run - 1) / parts::run;
  }
  WB_HD short_element* metrics(int i) const { return space.metrics + i * set; }
  WB_HD short_element* before_run(int i) const { return space.runs + i * set; }
  /// The other of the two sets.
  WB_HD short_element* other(const short_element* current) const { return metrics(current == metrics(0)); }

  WB_HD void clear(short_element* m) const {
    for (int s = g.rank; s < S; s += g.size) store_short(m + parts::place(s) * L, to_short(0));
    g.sync();
  }
  /// Sets state 0 as known in the lanes with this window.
  WB_HD void known_state(short_element* m, int window) const {
    const i16x here = conv_short_in_window(lane_map, window, -1, 0),
               others = to_short(-1 - Memory * a.code.outputs * 127);
    for (int s = g.rank; s < S; s += g.size) {
      short_element* x = m + parts::place(s) * L;
      store_short(x, select_less(here, to_short(0), s == 0 ? to_short(0) : others, load_short(x)));
    }
    g.sync();
  }
  /// f(part, weights) of this thread's parts of a stage of Now steps, from step s of the run on.
  template <int Now, class F>
  WB_HD void each_part(int s, F f) const {
    using stage = conv_parts<Memory, Now>;
    using weights = conv_stage_weights<stage, Paired, Code, V>;
    const conv_short_table table = branches.table_at(s);
    if constexpr (Now == R) {
      constexpr int per_thread = (parts::count + G::size - 1) / G::size;
      WB_UNROLL_ON_DEVICE for (int i = 0; i < per_thread; i++)
          f(g.rank + i * G::size, weights(table, codes + i * parts::template code_count<Code>));
    } else {
      for (int part = g.rank; part < stage::count; part += g.size) {
        int code;
        stage::template find_codes<Code>(a.code, part, &code);
        f(part, weights(table, &code));
      }
    }
  }
  template <int Now>
  WB_HD void alpha(int s, const short_element* from, short_element* to) const {
    const V add = to_short(0) - load_short(from);
    each_part<Now>(s, [&](int part, const auto& weights)
                          WB_INLINE_LAMBDA { bcjr_short_alpha<Memory, Now>(part, weights, from, add, to); });
    g.sync();
  }
  WB_HD_CALL void alpha(int s, bool single, const short_element* from, short_element* to) const {
    single ? alpha<1>(s, from, to) : alpha<R>(s, from, to);
  }
  /// The stage at step s of a run, with `alphas` before it. Leaves the ratios of its steps.
  template <int Now, bool Out>
  WB_HD void beta(int s, const short_element* alphas, const short_element* from, short_element* to) const {
    V largest[Now][2];
    WB_UNROLL for (int i = 0; i < Now; i++) largest[i][0] = largest[i][1] = to_short(-32768);
    const V add = to_short(0) - load_short(from);
    const V add_alpha = Out ? V(to_short(0) - load_short(alphas)) : V(to_short(0));
    each_part<Now>(s, [&](int part, const auto& weights) WB_INLINE_LAMBDA {
      bcjr_short_beta<Memory, Now, Out>(part, weights, alphas, add_alpha, from, add, to, largest);
    });
    if constexpr (Out) WB_UNROLL for (int i = 0; i < Now; i++) {
        if constexpr (G::size > 1)
          WB_UNROLL for (int u = 0; u < 2; u++) WB_UNROLL for (int step = 1; step < G::size; step *= 2)
              largest[i][u] = max(largest[i][u], i16x{g.exchange(largest[i][u].x, step)});
        if (g.rank == 0) store_short(space.ratios + (s + i) * L, largest[i][0] - largest[i][1]);
      }
    g.sync();
  }
  WB_HD_CALL void beta(int s, bool single, const short_element* from, short_element* to) const {
    single ? beta<1, false>(s, nullptr, from, to) : beta<R, false>(s, nullptr, from, to);
  }
  WB_HD_CALL void beta_out(int s, bool single, const short_element* alphas, const short_element* from,
                           short_element* to) const {
    single ? beta<1, true>(s, alphas, from, to) : beta<R, true>(s, alphas, from, to);
  }

  /// alpha before each run of the window.
  WB_HD void forward() const {
    short_element* current = a.overlap > 0 ? metrics(0) : before_run(0);
    clear(current);
    int done = 0;
    for (int i = 0; i < 3; i++) {
      if (i == 1 && a.code.ending != conv_ending::tail_biting) known_state(current, 0);
      const int from = boundary(i), to = boundary(i + 1), stages_from = from + single_steps(i);
      for (int r = from; r < to;) {
        const bool single = r < stages_from;
        const int rest = to - r, count = single ? stages_from - r : rest < parts::run ? rest : parts::run;
        if (r + count == a.length) return;  // nobody needs what is behind
        branches.make(r, count, to_short(0));
        if (i > 0) done++;
        for (int s = 0, step = single ? 1 : R; s < count; s += step) {
          const bool last = s + step == count && (i > 0 || r + count == 0);
          short_element* next = last ? before_run(done) : other(current);
          alpha(s, single, current, next);
          current = next;
        }
        r += count;
      }
    }
  }
  WB_HD void backward() const {
    short_element* current = metrics(0);
    clear(current);
    int left = runs_of(1) + runs_of(2);
    for (int i = conv_short_segments::count - 1; i > 0; i--) {
      const int from = boundary(i), to = boundary(i + 1), stages_from = from + single_steps(i);
      const int known = conv_short_segments{a}.known_at(to);
      if (known >= 0) known_state(current, known);
      const i16x counts = i == 1   ? to_short(-1)
                          : i == 2 ? conv_short_in_window(lane_map, a.windows - 1, 0, -1)
                                   : to_short(0);
      for (int end = to; end > from;) {
        const bool single = end <= stages_from;
        const int r = single ? from : stages_from + (end - stages_from - 1) / parts::run * parts::run,
                  count = end - r, step = single ? 1 : R;
        branches.make(r, count, counts);
        if (i > 2) {
          for (int s = count - step; s >= 0; s -= step) {
            beta(s, single, current, other(current));
            current = other(current);
          }
        } else {
          current = run_back(--left, r, count, single, current);
          add_usable();
        }
        end = r;
      }
    }
  }
  /// Run `run` of the window, of `count` steps from r on: alpha again, beta, and what leaves.
  WB_HD short_element* run_back(int run, int r, int count, bool single, short_element* current) const {
    const int step = single ? 1 : R;
    const auto before_stage = [&](int s) {
      return s == 0 ? before_run(run) : space.stages + (s / step - 1) * set;
    };
    for (int s = 0; s + step < count; s += step) alpha(s, single, before_stage(s), before_stage(s + step));
    for (int s = count - step; s >= 0; s -= step) {
      beta_out(s, single, before_stage(s), current, other(current));
      current = other(current);
    }
    store(r, count);
    return current;
  }
  WB_HD void add_usable() const {
    short_element x[L];
    store_short(x, i16x(branches.usable));
    WB_UNROLL_ON_DEVICE for (int l = 0; l < lanes; l++) if (lane_map.stores[l])
        add_to(usable + lane_map.codeword[l], lane_at(x, l));
    branches.usable = to_short(0);
  }
  /// LLRs and decisions of steps r, ... of the window.
  WB_HD_CALL void store(int r, int count) const {
    WB_UNROLL_ON_DEVICE for (int l = 0; l < lanes; l++) {
      if (!lane_map.stores[l]) continue;
      const int first = lane_map.window[l] * a.length + r, rest = a.code.k - first,
                n = rest < count ? rest : count;
      for (int s = g.rank; s < n; s += g.size) {
        const int ratio = lane_at(space.ratios + s * L, l);
        const auto t = static_cast<std::size_t>(first + s);
        if (a.soft.data != nullptr)
          a.soft.data[t * a.soft.element_stride + lane_map.item[l] * a.soft.item_stride] =
              static_cast<float>(ratio) * (1.f / llr_quantiser(a.quanta, lane_map.item[l]).quanta);
        if (a.bits.data != nullptr)
          a.bits.data[t * a.bits.element_stride + lane_map.item[l] * a.bits.item_stride] =
              static_cast<std::uint8_t>(ratio < 0);
      }
    }
    g.sync();
  }
};

}  // namespace WB_ISA
}  // namespace wb
