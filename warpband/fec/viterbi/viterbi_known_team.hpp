#pragma once
// The Viterbi algorithm in float32 for a code that is known when a kernel is compiled. Four threads of a warp
// share a codeword of 64 states, and a warp has eight of them. Additions, comparisons and decisions are those
// of viterbi_op.hpp, to the bit.
//
// All metrics stay in registers. That of place p is in register p % 16 of thread p / 16. A step overwrites
// the metrics of states 2 j and 2 j + 1 with those of j and j + states / 2. Which state a place holds thus
// changes from step to step: step v (the first is 0) writes its input bit to bit v % Memory of the place
// number, where the oldest bit of the state was. v % Memory is the step's phase. So state bit i is bit
// (v + i) % Memory of the place number, which is made of the last Memory inputs. In phases whose bit belongs
// to the thread, two threads exchange metrics, and each computes one of the two states of a butterfly.
//
// The winning branch is told by the sign of the difference of both sums. No sum is -0, so that of equal ones
// is +0, and the state whose oldest bit is 0 survives.
//
// Decisions, a bit for each place, go to device memory. Tracing back loads those of all places, whatever the
// path. It can thus load them ahead of their use.
#include <type_traits>

#include <warpband/fec/conv/conv_short_body.hpp>
#include <warpband/fec/viterbi/viterbi_args.hpp>

namespace wb {
inline namespace WB_ISA {

template <int Memory_, class Code>
struct viterbi_known_sizes {
  static constexpr int Memory = Memory_, S = 1 << Memory, patterns = Code::patterns, outputs = Code::outputs;
  static constexpr int team = S / 16;                 // threads that share a codeword
  static constexpr int count = S / team;              // places of a thread
  static constexpr int steps_each = conv_run / team;  // steps of a run whose weights it makes
  /// Values of shared memory: the weights of a run. Neighbouring codewords begin in other banks.
  static constexpr int table_values = conv_run * patterns + patterns;
  using decisions = std::uint16_t;  // of a thread in a step
  using team_decisions = std::uint64_t;
  static_assert(sizeof(team_decisions) == team * sizeof(decisions));

  /// Slots for the decisions of a codeword, one for each step: of all steps, or of those that are kept.
  static int slots_for(const viterbi_args& a) {
    const int steps = a.kept != 0 ? a.kept : a.code.steps + 2 * a.overlap;
    return (steps + Memory - 1) / Memory * Memory;
  }
};

/// Decodes a codeword: run(), then finish(). All threads of a warp call both together. No barrier is left to
/// the caller. Code: a conv_known_code. G: a warp_tile of `team` threads.
template <int Memory, class Code, class G>
struct viterbi_known : viterbi_known_sizes<Memory, Code> {
  using sizes = viterbi_known_sizes<Memory, Code>;
  using sizes::S, sizes::patterns, sizes::outputs, sizes::team, sizes::count, sizes::steps_each;
  using typename sizes::decisions, typename sizes::team_decisions;
  static_assert(G::size == team);

  const viterbi_args& a;
  G g;
  item<float> batch_item;
  bool stores;      // false: another team has this codeword
  float* table;     // table_values of shared memory, on a multiple of four
  decisions* kept;  // device memory, [slot][thread of the warp]: from this thread's on
  int slots;        // a multiple of Memory
  float m[count] = {};
  float ahead[steps_each][outputs] = {};  // LLRs of this thread's steps of the next run
  float taken = 0.f;                      // rank 0: what was added to all metrics
  float spoilt = 0.f;                     // not a number once an LLR was not finite
  int usable = 0;                         // LLRs that are not 0
  int phase = 0;                          // of the next step
  decisions* next = kept;                 // its slot
  int decided = 0;                        // bits that were

  WB_HD static constexpr int state_of(int phase, int place) {
    return (place >> phase | place << (Memory - phase)) & (S - 1);
  }
  /// Coded bits of a place's butterfly. Linear in the place.
  WB_HD static constexpr int coded(int phase, int place) { return Code::coded(state_of(phase, place) >> 1); }
  WB_HD static std::uint32_t rotate_right(std::uint32_t x, int n) { return x >> (n & 31) | x << (-n & 31); }
  WB_HD decisions* kept_end() const { return kept + static_cast<std::size_t>(slots) * 32; }
  WB_HD int first_place() const { return g.rank * count; }

  /// From the first step to the last.
  WB_HD void run() {
    const conv_trellis& c = a.code;
    const bool circular = c.ending == conv_ending::tail_biting;
    WB_UNROLL for (int r = 0; r < count; r++) m[r] =
        circular || first_place() + r == 0 ? max_log::one<float>() : max_log::zero<float>();
    load_ahead((c.steps - a.overlap % c.steps) % c.steps);
    conv_forward(-a.overlap, c.steps + a.overlap, c.steps, [&](int v, int t, int n) WB_INLINE_LAMBDA {
      if (a.kept != 0 && v + n - decided > a.kept && a.bits.data != nullptr) decide(v);
      make_weights(v >= 0 && v < c.steps);
      load_ahead(t + n == c.steps ? 0 : t + n);
      g.sync();
      do_steps(n);
      g.sync();
    });
  }
  /// After all steps: stores everything.
  WB_HD void finish() {
    const conv_trellis& c = a.code;
    float best = m[0];
    int state = 0;
    if (c.ending != conv_ending::zero_tail) state = largest(best);
    const int status = erasure();
    if (stores && g.rank == 0) {
      if (a.metric.data != nullptr) store(a.metric, 0, batch_item, status != 0 ? 0.f : best - taken);
      if (a.status.data != nullptr) store_int<float>(a.status, 0, batch_item, status);
    }
    if (a.bits.data == nullptr) return;
    trace(state, c.steps + a.overlap, c.k, status != 0);
    if (status != 0 && stores)  // bits that were decided before it was known
      for (int v = g.rank; v < decided; v += team)
        store_int<float>(a.bits, static_cast<std::size_t>(v), batch_item, 0);
  }

 private:
  /// Loads LLRs of the run that begins with step t; 0 behind the last step.
  WB_HD void load_ahead(int t) {
    const conv_trellis& c = a.code;
    const int first = t + g.rank * steps_each;
    if (!a.punctured && t + conv_run <= c.steps) {
      const std::size_t step = (c.ranges == 1 ? outputs : 1) * a.llr.element_stride,
                        output = c.ranges == 1 ? a.llr.element_stride
                                               : static_cast<std::size_t>(c.steps) * a.llr.element_stride;
      const float* p =
          a.llr.data + batch_item.first * a.llr.item_stride + static_cast<std::size_t>(first) * step;
      WB_UNROLL for (int i = 0; i < steps_each; i++, p += step) {
        const float* q = p;
        WB_UNROLL for (int e = 0; e < outputs; e++, q += output) ahead[i][e] = *q;
      }
      return;
    }
    WB_UNROLL for (int i = 0; i < steps_each; i++) WB_UNROLL for (int e = 0; e < outputs; e++) {
      const std::int32_t place = first + i < c.steps ? c.places[(first + i) * outputs + e] : -1;
      ahead[i][e] = place < 0 ? 0.f : load(a.llr, static_cast<std::size_t>(place), batch_item);
    }
  }
  /// The weights of a run's steps: minus the LLRs of the coded bits that are 1. Those of its first step bring
  /// the metric of state 0 back to 0.
  WB_HD void make_weights(bool counts) {
    WB_UNROLL for (int i = 0; i < steps_each; i++) {
      float w[patterns];
      w[0] = 0.f;
      WB_UNROLL for (int e = 0; e < outputs; e++) {
        const float x = ahead[i][e];
        spoilt = fma(x, 0.f, spoilt);
        usable += counts && abs(x) > max_log::least_llr ? 1 : 0;
        const float one = max_log::weight(x);
        WB_UNROLL for (int code = 0; code < 1 << e; code++) w[code + (1 << e)] = w[code] + one;
      }
      if (i == 0) {
        const float z = g.rank == 0 ? 0.f - m[0] : 0.f;
        taken = taken + z;
        WB_UNROLL for (int code = 0; code < patterns; code++) w[code] = w[code] + z;
      }
      float* row = table + (g.rank * steps_each + i) * patterns;
      WB_UNROLL for (int code = 0; code < patterns; code += 4) {
        const float four[4] = {w[code], w[code + 1], w[code + 2], w[code + 3]};
        store4(row + code, four);
      }
    }
  }
  template <int N>
  using count_of = std::integral_constant<int, N>;
  /// The `n` steps of a run, two at a time where their phases are 0 and 1, 2 and 3, or 4 and 5: the compiler
  /// mixes their instructions.
  WB_HD void do_steps(int n) {
    const float* row = table;
    for (int left = n; left > 0;)
      if (left > 1 && phase % 2 == 0)
        do_steps_of<0, 2, 4>(count_of<2>{}, row, left);
      else
        do_steps_of<0, 1, 2, 3, 4, 5>(count_of<1>{}, row, left);
  }
  /// `at_once` steps of each of these phases in turn, if it is the next one's and so many are left.
  template <int... Phases, int N>
  WB_HD void do_steps_of(count_of<N> at_once, const float*& row, int& left) {
    ((phase == Phases && left >= N ? do_steps_from<Phases>(at_once, row, left) : (void)0), ...);
  }
  template <int Phase, int N>
  WB_HD void do_steps_from(count_of<N>, const float*& row, int& left) {
    step<Phase>(row);
    if constexpr (N == 2) step<Phase + 1>(row + patterns);
    row += N * patterns;
    left -= N;
    phase = (Phase + N) % Memory;
  }
  /// A step with the weights `row`.
  template <int Phase>
  WB_HD void step(const float* row) {
    constexpr int bit = 1 << Phase;
    const int thread_code = coded(Phase, first_place());
    float w[patterns], apart[count];
    WB_UNROLL for (int code = 0; code < patterns; code++) w[code] = row[code ^ thread_code];
    if constexpr (bit < count) {
      WB_UNROLL for (int r = 0; r < count; r++) {
        if ((r & bit) != 0) continue;
        const int code = coded(Phase, r);
        const float x = w[code], y = w[patterns - 1 - code];
        const float low = m[r] + x, low_other = m[r + bit] + y, high = m[r] + y, high_other = m[r + bit] + x;
        m[r] = max(low, low_other);
        m[r + bit] = max(high, high_other);
        apart[r] = low - low_other;
        apart[r + bit] = high - high_other;
      }
    } else {
      constexpr int distance = bit / count;
      const float sign = (g.rank & distance) != 0 ? -1.f : 1.f;
      WB_UNROLL for (int r = 0; r < count; r++) {
        const int code = coded(Phase, r);
        const float local = m[r] + w[code], other = g.exchange(m[r], distance) + w[patterns - 1 - code];
        m[r] = max(local, other);
        apart[r] = fnma(sign, other, sign * local);
      }
    }
    // Signs of differences become bits, the last one's the lowest. Two words at a time do not wait as long.
    std::uint32_t low = 0, high = 0;
    WB_UNROLL for (int r = count / 2 - 1; r >= 0; r--) {
      low = low << 1 | as_uint(as_int(apart[r])) >> 31;
      high = high << 1 | as_uint(as_int(apart[r + count / 2])) >> 31;
    }
    *next = static_cast<decisions>(high << count / 2 | low);
    next += 32;
    if (Phase == Memory - 1 && next == kept_end()) next = kept;
  }

  /// The first state of the largest metric, for all threads.
  WB_HD int largest(float& metric) const {
    int best = state_of(phase, first_place());
    metric = m[0];
    const auto compare = [&](float x, int state) WB_INLINE_LAMBDA {
      const bool better = x > metric || (!(x < metric) && state < best);
      metric = better ? x : metric;
      best = better ? state : best;
    };
    WB_UNROLL for (int r = 1; r < count; r++) compare(m[r], state_of(phase, first_place() + r));
    WB_UNROLL for (int d = 1; d < team; d *= 2) {
      const float x = g.exchange(metric, d);
      compare(x, g.exchange(best, d));
    }
    return best;
  }
  WB_HD int erasure() {
    int bad = is_finite(spoilt) ? 0 : 1;
    WB_UNROLL for (int d = 1; d < team; d *= 2) {
      usable += g.exchange(usable, d);
      bad |= g.exchange(bad, d);
    }
    const int n = static_cast<int>(a.llr.elements), least = a.code.k < n ? a.code.k : n;
    return bad != 0 ? status_erased : usable < least ? status_erased | status_insufficient : 0;
  }
  /// Decides the bits that lie `depth` steps before step v, where survivors have met.
  WB_HD void decide(int v) {
    float metric;
    const int state = largest(metric), until = (v - a.depth) / 32 * 32;
    trace(state, v, until, false);
    decided = until;
  }
  /// Traces back from a state before step v, the next one. Stores the bits from `decided` to `until`.
  WB_HD void trace(int state, int v, int until, bool erased) const {
    int place = (state << phase | state >> (Memory - phase)) & (S - 1);
    // Decisions are rotated before they are needed: only the last rotation, by the place, waits for the path.
    const auto back = [&](int p, team_decisions x, bool upper) WB_INLINE_LAMBDA {
      const auto word = static_cast<std::uint32_t>(upper ? x >> 32 : x);
      const int chosen = as_int(rotate_right(word << p | word >> 1 >> (31 - p), place));
      place = (place & ~(1 << p)) | (chosen & 1 << p);
    };
    const auto decisions_of = [&](const decisions* group, int p) WB_INLINE_LAMBDA {
      team_decisions x;
      __builtin_memcpy(&x, __builtin_assume_aligned(group + p * 32 - g.rank, sizeof x), sizeof x);
      return x;
    };
    const decisions* group = next - phase * 32;  // of Memory steps, the one that step v is in
    // Loads run ahead of the path and past its first step. Until all slots are written they repeat the first
    // group there.
    const decisions* const behind_first = v + a.overlap >= slots ? kept_end() : kept + Memory * 32;
    store_bits_of(place, v - phase, until, erased, g.rank == 0);
    for (int p = phase - 1; p >= 0; p--) back(p, decisions_of(group, p), (place & 32) != 0);
    team_decisions x[team][Memory];  // of groups before that
    const auto load_group = [&](team_decisions(&to)[Memory]) WB_INLINE_LAMBDA {
      group = (group == kept ? behind_first : group) - Memory * 32;
      WB_UNROLL for (int p = 0; p < Memory; p++) to[p] = decisions_of(group, p);
    };
    WB_UNROLL for (int i = 0; i < team; i++) load_group(x[i]);
    for (v -= phase; v > decided; v -= team * Memory) {
      int thread_place = 0;
      WB_UNROLL for (int i = 0; i < team; i++) {
        thread_place = g.rank == i ? place : thread_place;
        back(Memory - 1, x[i][Memory - 1], (place & 32) != 0);
        const bool upper = (place & 32) != 0;
        WB_UNROLL for (int p = Memory - 2; p >= 0; p--) back(p, x[i][p], upper);
        load_group(x[i]);
      }
      store_bits_of(thread_place, v - (g.rank + 1) * Memory, until, erased, true);
    }
  }
  /// Stores the inputs that make up a place number: those of the Memory steps from v on that lie from
  /// `decided` to `until`.
  WB_HD void store_bits_of(int place, int v, int until, bool erased, bool by_thread) const {
    if (!stores || !by_thread) return;
    if (erased) place = 0;
    std::uint8_t* const bits = a.bits.data + batch_item.first * a.bits.item_stride;
    WB_UNROLL for (int i = 0; i < Memory; i++) {
      if (v + i < decided || v + i >= until) continue;
      bits[static_cast<std::size_t>(v + i) * a.bits.element_stride] =
          static_cast<std::uint8_t>(place >> i & 1);
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
