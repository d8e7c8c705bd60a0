#pragma once
// The 16-bit Viterbi decoder as an op: windows of codewords are the lanes of values.
#include <type_traits>

#include <warpband/fec/viterbi/viterbi_short_body.hpp>
#include <warpband/fec/viterbi/viterbi_short_weights.hpp>

namespace wb {
inline namespace WB_ISA {

/// Who shares the windows of a value: this many threads of the group that decodes codewords.
template <int Threads, class G>
struct viterbi_team {
  using type = solo;
};
#if defined(__CUDACC__)
template <int Threads>
  requires(Threads > 1)
struct viterbi_team<Threads, block<>> {
  using type = tile<Threads>;
};
#endif

/// Where everything of a tile lies in scratch, in bytes.
struct viterbi_short_plan {
  std::size_t metrics = 0, table = 0, survivors = 0, codes = 0, rows = 0, staged = 0, bytes = 0;
  std::size_t flags = 0;  // bytes before the first tile
};

/// Decodes the windows of one value's lanes, all alike: g's threads share them.
template <int Memory, bool Paired, class G>
struct viterbi_windows {
  using parts = viterbi_parts<Memory>;
  static constexpr int S = parts::states, R = parts::steps, L = i16x::lanes, lanes = viterbi_lanes::count;

  const viterbi_short_args& a;
  const viterbi_lanes& of;
  G g;
  short_element *metrics, *survivors;
  const int* codes;
  viterbi_short_branches<G>& branches;
  std::int32_t* usable;  // [codeword]
  int now = 0;           // of two sets of metrics
  int stages = 0;        // done; the first that is kept:
  int oldest = 0;
  int slot = 0;     // where the next one's survivors go, of a.kept
  int decided = 0;  // steps whose bits are stored

  WB_HD short_element* metrics_of(int set) const { return metrics + set * parts::room * L; }
  WB_HD short_element* survivors_in(int place) const { return survivors + place * parts::words * L; }
  WB_HD int steps_of_last() const { return a.code.steps - (a.windows - 1) * a.length; }
  /// Steps of a window are five segments, some of them empty: before it, two to its end, of which the second
  /// is none of the last window's, and two behind it. Stages end where segments do.
  static constexpr int segments = 5;
  WB_HD int boundary(int i) const {
    const int end = a.length + a.overlap, last = steps_of_last(), next = last + a.length;
    return i == 0   ? -a.overlap
           : i == 1 ? 0
           : i == 2 ? last
           : i == 3 ? a.length
           : i == 4 ? (next < end ? next : end)
                    : end;
  }
  /// How many steps of a segment, its first ones, are no stages of R steps.
  WB_HD int single_steps(int i) const { return (boundary(i + 1) - boundary(i)) % R; }

  WB_HD void run() {
    for (int s = g.rank; s < S; s += g.size) store_short(metrics_of(0) + parts::place(s) * L, to_short(0));
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
    if (a.code.ending == conv_ending::tail_biting) return;
    if (at == 0) known_state(0);
    if (a.code.ending != conv_ending::zero_tail) return;
    const int last = steps_of_last();
    if (at == last) known_state(a.windows - 1);
    if (at == last + a.length) known_state(a.windows - 2);
  }
  WB_HD void segment(int i) {
    const int from = boundary(i), to = boundary(i + 1), stages_from = from + single_steps(i);
    const i16x counts = i == 1 ? to_short(-1) : i == 2 ? in_window(a.windows - 1, 0, -1) : to_short(0);
    int runs = 0;
    for (int r = from; r < to;) {
      const bool single = r < stages_from;
      const int rest = to - r, count = single ? stages_from - r : rest < parts::run ? rest : parts::run;
      branches.make(r, count, metrics_of(now), counts);
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
  /// A value that is `then` in the lanes with a window, else `other`.
  WB_HD i16x in_window(int window, int then, int other) const {
    std::int16_t x[lanes];
    WB_UNROLL for (int l = 0; l < lanes; l++) x[l] =
        static_cast<std::int16_t>(of.window[l] == window ? then : other);
    return of_lanes(x);
  }
  /// State 0 before the next step, in the lanes with a window.
  WB_HD void known_state(int window) {
    const i16x here = in_window(window, -1, 0);
    for (int s = g.rank; s < S; s += g.size) {
      short_element* m = metrics_of(now) + parts::place(s) * L;
      store_short(m,
                  select_less(here, to_short(0), to_short(s == 0 ? 0 : viterbi_impossible), load_short(m)));
    }
    g.sync();
  }
  /// The stage that begins with step s of the run.
  WB_HD void step(int s, bool single) {
    const conv_trellis& c = a.code;
    const viterbi_weights weights{branches.table + (s << (c.outputs + 1)) * L, 2 << c.outputs,
                                  c.newer * 2 * L};
    short_element *to = metrics_of(1 - now), *kept = survivors_in(slot);
    if (single)
      viterbi_short_step<Memory, Paired>(g.rank, g.size, c.codes, (1 << c.outputs) - 1, metrics_of(now), to,
                                         weights, kept);
    else if constexpr (G::size == parts::count)
      viterbi_stage<Memory, Paired>(g.rank, codes, metrics_of(now), to, weights, kept);
    else
      for (int part = 0; part < parts::count; part++)
        viterbi_stage<Memory, Paired>(part, codes + part * (R * parts::half), metrics_of(now), to, weights,
                                      kept);
    now = 1 - now;
    g.sync();
  }
  WB_HD void add_usable() {
    short_element x[L];
    store_short(x, branches.usable);
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
    store_short(best, viterbi_best_state<Memory>(metrics_of(now)));
    WB_UNROLL_ON_DEVICE for (int n = 0; n < each; n++) {
      const int l = g.rank + n * G::size;
      const bool mine = l < lanes;
      state[n] = mine ? lane_at(best, l) : 0;
      const int window = mine ? viterbi_lanes::at(of.window, l) : 0, rest = a.code.k - window * a.length;
      const std::size_t at = mine ? viterbi_lanes::at(of.item, l) : of.item[0];
      limit[n] = a.bits.data == nullptr || !mine || !viterbi_lanes::at(of.stores, l) ? 0
                 : rest < a.length                                                   ? rest
                                                                                     : a.length;
      to[n] = limit[n] == 0 ? nullptr
                            : a.bits.data + at * a.bits.item_stride +
                                  static_cast<std::size_t>(window * a.length) * a.bits.element_stride;
    }
    int stage = stages, first = -1, left = stages;
    for (; r > decided && stage > oldest; stage--) {
      while (boundary(i) >= r) i--;
      const bool single = r <= boundary(i) + single_steps(i), stores = r <= until;
      const int steps = single ? 1 : R;
      if (stores && first < 0) first = r, left = stage;
      place = place == 0 ? a.kept - 1 : place - 1;
      const short_element* kept = survivors_in(place);
      WB_UNROLL_ON_DEVICE for (int n = 0; n < each; n++) {
        const int l = g.rank + n * G::size;
        if (l >= lanes) continue;
        const int entered = single ? viterbi_step_back<Memory, 1>(kept, l, state[n])
                                   : viterbi_step_back<Memory, R>(kept, l, state[n]);
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
    if (steps == 4 && a.bits.element_stride == 1 && r + 4 <= limit && is_aligned(to + r)) {
      // The factor puts a copy at every seventh bit: the low bits of four bytes are the four bits.
      put_word(to + r, static_cast<std::uint32_t>(bits) * 0x00204081u & 0x01010101u);
      return;
    }
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
  WB_HD static void put_word(std::uint8_t* p, std::uint32_t x) {
#if defined(__CUDACC__)
    *reinterpret_cast<std::uint32_t*>(p) = x;
#else
    __builtin_memcpy(p, &x, sizeof x);
#endif
  }
};

template <int Memory, bool Paired>
struct viterbi_short_op {
  using parts = viterbi_parts<Memory>;
  static constexpr bool by_block = true;
  static constexpr int most_threads = 32, resident = 8;  // as many as shared memory holds of K = 7
  static constexpr int S = parts::states, R = parts::steps, L = i16x::lanes, lanes = viterbi_lanes::count;

  viterbi_short_args a;
  int at_once = 1;  // codewords of a call
  viterbi_short_plan plan = {};

  explicit viterbi_short_op(const viterbi_short_args& args) : a(args) {
    const int windows = a.tiles * lanes;
    at_once = windows > a.windows ? windows / a.windows : 1;
    plan.flags = (2 * static_cast<std::size_t>(at_once) * sizeof(std::int32_t) + 127) / 128 * 128;
    constexpr std::size_t each = sizeof(short_element) * L;
    const auto take = [&](std::size_t size) {
      const std::size_t at = plan.bytes;
      plan.bytes += (size + 63) / 64 * 64;
      return at;
    };
    plan.metrics = take(2 * each * parts::room);
    plan.table = take(each * (static_cast<std::size_t>(conv_run) << (a.code.outputs + 1)));
    plan.survivors = take(each * static_cast<std::size_t>(a.kept) * parts::words);
    if (WB_WIDTH > 1 || i16x::items == 1) plan.codes = take(sizeof(int) * parts::count * R * parts::half);
    if (WB_WIDTH > 1) {
      plan.rows = take(L * conv_run * 4);
      plan.staged = take(L * conv_run * 4);
    } else {
      plan.bytes = (plan.bytes + 127) / 128 * 128 + 16;  // tiles begin in different banks of shared memory
    }
  }
  int threads() const { return a.tiles * parts::count; }
  std::size_t scratch_bytes(int) const { return plan.flags + plan.bytes * static_cast<std::size_t>(a.tiles); }
  /// Of packed numbers together: two sums, two maxima, to a state and step; weights.
  double flops() const {
    const double steps = a.windows * (a.length + 2.0 * a.overlap), weights = 1 << a.code.outputs;
    constexpr double packed = static_cast<double>(lanes) / WB_WIDTH;
    return steps * (3.0 * S + weights - 2) / packed +
           (a.llr8.data ? 0 : 3) * static_cast<double>(a.llr.elements);
  }
  double bytes() const {
    return (a.llr8.data ? 1.0 * static_cast<double>(a.llr8.elements)
                        : 4.0 * static_cast<double>(a.llr.elements)) +
           (a.bits.data ? 1.0 : 0.0) * a.code.k + (a.status.data ? 1 : 0);
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, void* scratch) const {
    std::int32_t *usable = static_cast<std::int32_t*>(scratch), *spoilt = usable + at_once;
    for (int q = g.rank; q < 2 * at_once; q += g.size) usable[q] = 0;
    g.sync();
    constexpr int members = std::is_same_v<G, solo> ? 1 : parts::count;
    const int tile = g.rank / members;
    if (tile < a.tiles)
      for (int value = tile; value * lanes < at_once * a.windows; value += a.tiles)
        decode(first, items, value, typename viterbi_team<members, G>::type{}, usable, spoilt,
               static_cast<char*>(scratch) + plan.flags + plan.bytes * static_cast<std::size_t>(tile));
    g.sync();
    const int n = static_cast<int>(a.llr8.data ? a.llr8.elements : a.llr.elements);
    for (int q = 0; q < items; q++) {
      const int status = spoilt[q] != 0                              ? status_erased
                         : usable[q] < (a.code.k < n ? a.code.k : n) ? status_erased | status_insufficient
                                                                     : 0;
      const std::size_t item = first + static_cast<std::size_t>(q);
      if (g.rank == 0 && a.status.data != nullptr)
        a.status.data[item * a.status.item_stride] = static_cast<std::uint8_t>(status);
      if (status == 0 || a.bits.data == nullptr) continue;
      for (int i = g.rank; i < a.code.k; i += g.size)
        a.bits.data[static_cast<std::size_t>(i) * a.bits.element_stride + item * a.bits.item_stride] = 0;
    }
  }

 private:
  /// The windows of one value.
  template <class G>
  WB_HD void decode(std::size_t first, int items, int value, G g, std::int32_t* usable, std::int32_t* spoilt,
                    char* scratch) const {
    viterbi_lanes of;
    bool bad[lanes];
    WB_UNROLL_ON_DEVICE for (int l = 0; l < lanes; l++) {
      const int slot = value * lanes + l, most = items * a.windows - 1, used = slot < most ? slot : most;
      of.codeword[l] = used / a.windows;
      of.window[l] = used % a.windows;
      of.item[l] = first + static_cast<std::size_t>(of.codeword[l]);
      of.stores[l] = slot <= most;
      bad[l] = false;
    }
    const auto at = [&](std::size_t place)
                        WB_INLINE_LAMBDA { return reinterpret_cast<short_element*>(scratch + place); };
#if defined(__CUDACC__)
    int codes[R * parts::half];
    find_codes(g.rank, codes);
#else
    int* codes = reinterpret_cast<int*>(scratch + plan.codes) + (G::size > 1 ? g.rank * R * parts::half : 0);
    for (int part = 0; part < (G::size > 1 ? 1 : parts::count); part++)
      find_codes(G::size > 1 ? g.rank : part, codes + part * (R * parts::half));
#endif
    viterbi_short_branches<G> branches{a,
                                       of,
                                       g,
                                       at(plan.table),
                                       reinterpret_cast<signed char*>(scratch + plan.rows),
                                       reinterpret_cast<byte_element*>(scratch + plan.staged),
                                       bad,
                                       to_short(0)};
    viterbi_windows<Memory, Paired, G> windows{a,     of,       g,     at(plan.metrics), at(plan.survivors),
                                               codes, branches, usable};
    windows.run();
    WB_UNROLL_ON_DEVICE for (int l = 0; l < lanes; l++) if (bad[l] && of.stores[l])
        set_flag(spoilt + of.codeword[l]);
  }
  /// Offsets of the coded bits of a part's butterflies, of each step of a stage.
  WB_HD void find_codes(int part, int* codes) const {
    WB_UNROLL_ON_DEVICE for (int i = 0; i < R; i++)
        WB_UNROLL_ON_DEVICE for (int q = 0; q < parts::half; q++) {
      const int rest = R - 1 - i,
                j = (q >> rest) << (Memory - 1 - i) | part << rest | (q & ((1 << rest) - 1));
      codes[i * parts::half + q] = (a.code.codes[j] & ((1 << a.code.outputs) - 1)) * 2 * L;
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
