#pragma once
// 8-bit LLRs become the branch weights of a run of steps.
#include <warpband/core/group.hpp>
#include <warpband/core/short_words.hpp>
#include <warpband/fec/conv/conv_short_args.hpp>
#include <warpband/fec/conv/conv_short_code_body.hpp>
#include <warpband/fec/conv/conv_short_llrs_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Makes weights, for a thread of the group that shares the lanes. V: what it computes with. Code:
/// conv_any_code, or a known one, whose table has one weight of each combination of coded bits.
template <class V, class G, class Code = conv_any_code>
struct conv_short_branches {
  static constexpr int L = i16x::lanes;
  /// Values of a step in the table.
  WB_HD static constexpr int row_values(int outputs) { return (Code::known ? 1 : 2) << outputs; }
  /// CUDA, known codes: neighbouring steps of a run that a thread makes weights of, and how many at a time.
  static constexpr int thread_steps = G::size < conv_run ? conv_run / G::size : 1,
                       group = thread_steps < 4 ? thread_steps : 4;
  /// Steps whose LLRs are loaded at once, and bytes of a row: those of one lane.
  static constexpr int row_run = 4 * conv_run, row_bytes = 4 * row_run;

  const conv_short_args& a;
  const conv_short_lanes& lane_map;
  G g;
  short_element* table;   // [step][coded bits]: a weight and that of the other state's branch
  signed char* rows;      // lanes alone: of each one's LLRs
  byte_element* staged;   // the same, neighbouring lanes side by side
  bool* bad;              // [lane]
  int scale;              // weights are multiples of 2^scale
  V usable;               // LLRs that are not 0, where they count
  int loaded = -1 << 30;  // the first of the steps in `staged`; CUDA: of the run in `ahead`
#if defined(__CUDACC__)
  byte_words ahead[conv_short_lanes::count] = {};  // LLRs of this thread's steps of the next run
#endif

  /// The weights of step s of the run and of those behind it.
  WB_HD conv_short_table table_at(int s) const {
    int values = row_values(a.code.outputs);
    if constexpr (Code::known) values = Code::patterns;
    return {table + s * values * L, values, a.code.newer * 2 * L};
  }

  /// The step of the code of which step r of lane l's window is; -1: none.
  WB_HD int step_of(int l, int r) const {
    const int v = conv_short_lanes::at(lane_map.window, l) * a.length + r, steps = a.code.steps;
    if (a.code.ending != conv_ending::tail_biting) return v < steps ? v : -1;
    const int t = v % steps;
    return t < 0 ? t + steps : t;
  }
  WB_HD int place_in_row(int s, int output) const {
    return a.code.ranges == 1 ? s * a.code.outputs + output : output * row_run + s;
  }
#if WB_WIDTH > 1
  /// Steps r, ... of lane l to its row: pieces that lie together in the codeword, or are not there.
  WB_HD_CALL void fill_row(int l, int r, int count) const {
    const conv_trellis& c = a.code;
    const conv_short_llrs llrs{a};
    signed char* row = rows + l * row_bytes;
    for (int s = 0; s < count;) {
      const int t = step_of(l, r + s);
      int n = count - s;
      if (t < 0) {
        const int v = lane_map.window[l] * a.length + r + s;
        if (v < 0 && n > -v) n = -v;
        for (int i = 0; i < n; i++)
          for (int e = 0; e < c.outputs; e++) row[place_in_row(s + i, e)] = 0;
      } else {
        if (n > c.steps - t) n = c.steps - t;
        signed char sent[row_bytes];
        for (int range = 0; range < c.ranges; range++) {
          const std::int32_t* begin = c.firsts + range * (c.steps + 1) + t;
          signed char* to = a.punctured ? sent + range * row_run : row + place_in_row(s, range);
          llrs.row(static_cast<std::size_t>(begin[0]), begin[n] - begin[0], lane_map.item[l], to, bad[l]);
        }
        if (a.punctured) spread(row, sent, s, t, n);
      }
      s += n;
    }
  }
  /// Puts what was sent of n steps from t on where a row has it, and 0 for what was not.
  WB_HD void spread(signed char* row, const signed char* sent, int s, int t, int n) const {
    const conv_trellis& c = a.code;
    const std::int32_t* places = c.places + t * c.outputs;
    if (c.ranges == 1) {
      const std::int32_t first = c.firsts[t];
      for (int i = 0; i < n * c.outputs; i++)
        row[s * c.outputs + i] = places[i] < 0 ? static_cast<signed char>(0) : sent[places[i] - first];
      return;
    }
    for (int e = 0; e < c.outputs; e++) {
      const std::int32_t first = c.firsts[e * (c.steps + 1) + t];
      for (int i = 0; i < n; i++) {
        const std::int32_t place = places[i * c.outputs + e];
        row[e * row_run + s + i] =
            place < 0 ? static_cast<signed char>(0) : sent[e * row_run + place - first];
      }
    }
  }
  /// Finds the LLRs of steps `loaded`, ... of each lane, where they lie in memory as a row has them.
  WB_HD bool find_rows(const signed char** row) const {
    const conv_trellis& c = a.code;
    if (a.llr8.data == nullptr || a.llr8.element_stride != 1 || c.ranges != 1 || a.punctured) return false;
    for (int l = 0; l < L; l++) {
      const int first = lane_map.window[l] * a.length + loaded;
      if (first < 0 || first + row_run > c.steps) return false;
      row[l] = reinterpret_cast<const signed char*>(a.llr8.data) + lane_map.item[l] * a.llr8.item_stride +
               first * c.outputs;
    }
    return true;
  }
  /// LLRs of steps `loaded`, ...: byte e of lane l's row becomes byte l of value e.
  WB_HD_CALL void load_rows() const {
    const signed char* row[L];
    if (!find_rows(row))
      for (int l = 0; l < L; l++) {
        fill_row(l, loaded, row_run);
        row[l] = rows + l * row_bytes;
      }
    const int used = row_run * a.code.outputs;
    if constexpr (L % 16 == 0) {
      for (int l = 0; l < L; l += 16)
        for (int e = 0; e < used; e += 16) {
          byte_row x[16];
          WB_UNROLL for (int i = 0; i < 16; i++) {
            __builtin_memcpy(&x[i], row[l + i] + e, sizeof x[i]);
            x[i] = limited(x[i]);
          }
          transpose_bytes(x);
          WB_UNROLL for (int i = 0; i < 16; i++)
              __builtin_memcpy(staged + (e + i) * L + l, &x[i], sizeof x[i]);
        }
    } else {
      for (int e = 0; e < used; e++)
        for (int l = 0; l < L; l++) staged[e * L + l] = row[l][e] < -127 ? -127 : row[l][e];
    }
  }
#endif
#if WB_WIDTH == 1
  /// What output e of step r of lane l's window was received as.
  WB_HD int value(int l, int r, int e) const {
    const int t = step_of(l, r);
    const conv_trellis& c = a.code;
    const std::int32_t place = t < 0           ? -1
                               : a.punctured   ? c.places[t * c.outputs + e]
                               : c.ranges == 1 ? t * c.outputs + e
                                               : e * c.steps + t;
    return place < 0 ? 0
                     : conv_short_llrs{a}.one(static_cast<std::size_t>(place),
                                              conv_short_lanes::at(lane_map.item, l), bad[l]);
  }
#endif
#if defined(__CUDACC__)
  /// LLRs of `group` steps from r on, of each lane: words of memory, where they lie there as bytes.
  template <int Outputs>
  WB_HD void fetch(int r, byte_words* to) const {
    const conv_trellis& c = a.code;
    const bool bytes = a.llr8.data != nullptr && a.llr8.element_stride == 1 && !a.punctured;
    WB_UNROLL for (int l = 0; l < conv_short_lanes::count; l++) {
      const int first = conv_short_lanes::at(lane_map.window, l) * a.length + r;
      const std::int8_t* p = a.llr8.data + conv_short_lanes::at(lane_map.item, l) * a.llr8.item_stride;
      if (bytes && c.ranges == 1 && first > 2 && first + group + 8 < c.steps) {
        to[l].template load<(group * Outputs + 3) / 4>(p + first * Outputs);
      } else if (bytes && c.ranges > 1 && first > 2 && first + group + 8 < c.steps) {
        byte_words one[Outputs];
        WB_UNROLL for (int e = 0; e < Outputs; e++) one[e].template load<1>(p + e * c.steps + first);
        to[l].clear();
        WB_UNROLL for (int e = 0; e < Outputs; e++) WB_UNROLL for (int i = 0; i < group; i++) to[l].put(
            i * Outputs + e, static_cast<int>(one[e].at(0) >> 8 * i));
      } else {
        to[l].clear();
        WB_UNROLL for (int i = 0; i < group; i++) WB_UNROLL for (int e = 0; e < Outputs; e++) to[l].put(
            i * Outputs + e, value(l, r + i, e));
      }
    }
  }
#endif
  /// What output e of step s of the run, r of the window, was received as.
  WB_HD i16x received(int r, int s, int e) const {
#if WB_WIDTH > 1
    return load_byte(staged + place_in_row(r - loaded + s, e) * L);
#else
    std::int16_t x[conv_short_lanes::count];
    WB_UNROLL for (int l = 0; l < conv_short_lanes::count; l++) x[l] =
        static_cast<std::int16_t>(value(l, r + s, e));
    return of_lanes(x);
#endif
  }

  /// The weights of `count` steps from r on: minus the LLRs of the coded bits that are 1, plus half of all.
  /// LLRs count as usable in lanes where `counts` is below 0.
  WB_HD_CALL void make(int r, int count, i16x counts) {
#if WB_WIDTH > 1
    if (r < loaded || r + count > loaded + row_run) {  // going back, or forth
      loaded = r < loaded ? r + count - row_run : r;
      load_rows();
    }
#endif
    if constexpr (Code::known) {
      weigh<Code::outputs>(r, count, counts);
    } else
      switch (a.code.outputs) {
        case 1:
          weigh<1>(r, count, counts);
          break;
        case 2:
          weigh<2>(r, count, counts);
          break;
        case 3:
          weigh<3>(r, count, counts);
          break;
        default:
          weigh<4>(r, count, counts);
      }
    g.sync();
  }

 private:
  template <int Outputs>
  WB_HD void weigh(int r, int count, i16x counts) {
#if defined(__CUDACC__)
    if constexpr (Code::known)
      weigh_words<Outputs>(r, count, counts);
    else
#endif
      for (int s = g.rank; s < count; s += g.size) {
        V x[Outputs];
        WB_UNROLL for (int e = 0; e < Outputs; e++) x[e] = received(r, s, e);
        weigh_step<Outputs>(s, x, counts);
      }
  }
#if defined(__CUDACC__)
  /// The same, from LLRs that are loaded as words, int8 ones a run ahead.
  template <int Outputs>
  WB_HD void weigh_words(int r, int count, i16x counts) {
    V x[Outputs];
    const int thread_first = g.rank * thread_steps;
    for (int first = thread_first; first < thread_first + thread_steps && first < count; first += group) {
      if (group < thread_steps || loaded != r) fetch<Outputs>(r + first, ahead);
      WB_UNROLL for (int i = 0; i < group; i++) if (first + i < count) {
        WB_UNROLL for (int e = 0; e < Outputs; e++) {
          const int b = i * Outputs + e;
          x[e] = max(signed_bytes(ahead[0].at(b / 4), ahead[conv_short_lanes::count - 1].at(b / 4), b % 4),
                     to_short(-127));
        }
        weigh_step<Outputs>(first + i, x, counts);
      }
    }
    if (group == thread_steps && a.llr8.data != nullptr) {
      loaded = r + count;
      fetch<Outputs>(loaded + thread_first, ahead);
    }
  }
#endif
  /// Weights of step s of the run, received as x.
  template <int Outputs>
  WB_HD void weigh_step(int s, V* x, i16x counts) {
    constexpr int patterns = 1 << Outputs;
    const i16x whole =
        to_short(-1 << scale);  // the shift of a negative lower half reaches into the upper one
    V sum = to_short(0), w[patterns];
    WB_UNROLL for (int e = 0; e < Outputs; e++) {
      sum = sum + x[e];
      usable = usable + (V(sign_bit(min(x[e], to_short(0) - x[e]))) & counts);
      x[e] = shift_left(x[e], scale) & whole;
    }
    w[0] = shift_left(scaled(sum, 4), scale) & whole;
    WB_UNROLL for (int code = 1; code < patterns; code++) {
      const int newest = code < 2 ? 0 : code < 4 ? 1 : code < 8 ? 2 : 3;
      w[code] = w[code ^ 1 << newest] - x[newest];
    }
    short_element* row = table + s * row_values(Outputs) * L;
    if constexpr (Code::known) {
      i16x four[4];
      WB_UNROLL for (int code = 0; code < patterns; code += 4) {
        WB_UNROLL for (int i = 0; i < 4; i++) four[i] = i16x(w[code + i]);
        store_four_shorts(row + code * L, four);
      }
    } else {
      WB_UNROLL for (int code = 0; code < patterns; code++) {
        store_short(row + 2 * code * L, w[code]);
        store_short(row + (2 * (code ^ a.code.older) + 1) * L, w[code]);
      }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
