#pragma once
// Received LLRs become 8-bit values and these the branch weights of a run of steps.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/rounding.hpp>
#include <warpband/core/short_lane.hpp>
#include <warpband/fec/conv/conv_short_args.hpp>

namespace wb {
inline namespace WB_ISA {

#if WB_WIDTH > 1
WB_HD byte_row limited(byte_row x) {
  return x < static_cast<signed char>(-127) ? static_cast<signed char>(-127) - byte_row{} : x;
}
#endif

/// LLRs of codewords as numbers of steps, -127..127.
struct conv_short_llrs {
  const conv_short_args& a;

  /// `bad` is set where the LLR is not finite; it is 0 then.
  WB_HD int one(std::size_t element, std::size_t item, bool& bad) const {
    if (a.llr8.data != nullptr) {
      const int x = a.llr8.data[element * a.llr8.element_stride + item * a.llr8.item_stride];
      return x < -127 ? -127 : x;
    }
    const float x = a.llr.data[element * a.llr.element_stride + item * a.llr.item_stride];
    const bool finite = is_finite(x);
    bad = bad || !finite;
    return nearest_integer(max(min((finite ? x : 0.f) * a.steps, 127.f), -127.f));
  }
#if WB_WIDTH > 1
  /// `count` neighbouring ones.
  WB_HD void row(std::size_t element, int count, std::size_t item, signed char* to, bool& bad) const {
    int i = 0;
    if (a.llr.data != nullptr && a.llr.element_stride == 1) {
      const float* p = a.llr.data + element + item * a.llr.item_stride;
      auto finite = mask_from<m32x>(true);
      for (; i + 16 <= count; i += 16) {
        i32x x[16 / WB_WIDTH];
        WB_UNROLL for (int v = 0; v < 16 / WB_WIDTH; v++) {
          lane y;
          __builtin_memcpy(&y, p + i + v * WB_WIDTH, sizeof y);
          const auto ok = is_finite(y);
          finite = finite & ok;
          x[v] =
              nearest_integer(max(min(select(ok, y, lane(0.f)) * lane(a.steps), lane(127.f)), lane(-127.f)));
        }
        const byte_row bytes = narrow_to_bytes(x);
        __builtin_memcpy(to + i, &bytes, sizeof bytes);
      }
      bad = bad || !all(finite);
    }
    if (a.llr8.data != nullptr && a.llr8.element_stride == 1) {
      const std::int8_t* p = a.llr8.data + element + item * a.llr8.item_stride;
      for (; i + 16 <= count; i += 16) {
        byte_row x;
        __builtin_memcpy(&x, p + i, sizeof x);
        x = limited(x);
        __builtin_memcpy(to + i, &x, sizeof x);
      }
    }
    for (; i < count; i++)
      to[i] = static_cast<signed char>(one(element + static_cast<std::size_t>(i), item, bad));
  }
#endif
};

/// The windows that the lanes of a value decode.
struct conv_short_lanes {
  static constexpr int count = i16x::lanes * i16x::items;
  std::size_t item[count];  // the codeword in the batch
  int codeword[count];      // in this call
  int window[count];
  bool stores[count];

  /// x[l]. A thread of a GPU keeps its few numbers in registers, where nothing finds them by number.
  template <class X>
  WB_HD static X at(const X (&x)[count], int l) {
    if constexpr (count <= 2)
      return l == 0 ? x[0] : x[count - 1];
    else
      return x[l];
  }
};

/// Makes weights, for a thread of the group that shares the lanes. V: what it computes with.
template <class V, class G>
struct conv_short_branches {
  static constexpr int L = i16x::lanes;
  /// Steps whose LLRs are loaded at once, and bytes of a row: those of one lane.
  static constexpr int row_run = 4 * conv_run, row_bytes = 4 * row_run;

  const conv_short_args& a;
  const conv_short_lanes& lanes;
  G g;
  short_element* table;   // [step][coded bits]: a weight and that of the other state's branch
  signed char* rows;      // lanes alone: of each one's LLRs
  byte_element* staged;   // the same, neighbouring lanes side by side
  bool* bad;              // [lane]
  int scale;              // weights are multiples of 2^scale
  V usable;               // LLRs that are not 0, where they count
  int loaded = -1 << 30;  // the first of the steps in `staged`

  /// The step of the code of which step r of lane l's window is; -1: none.
  WB_HD int step_of(int l, int r) const {
    const int v = conv_short_lanes::at(lanes.window, l) * a.length + r, steps = a.code.steps;
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
        const int v = lanes.window[l] * a.length + r + s;
        if (v < 0 && n > -v) n = -v;
        for (int i = 0; i < n; i++)
          for (int e = 0; e < c.outputs; e++) row[place_in_row(s + i, e)] = 0;
      } else {
        if (n > c.steps - t) n = c.steps - t;
        signed char sent[row_bytes];
        for (int range = 0; range < c.ranges; range++) {
          const std::int32_t* begin = c.firsts + range * (c.steps + 1) + t;
          signed char* to = a.punctured ? sent + range * row_run : row + place_in_row(s, range);
          llrs.row(static_cast<std::size_t>(begin[0]), begin[n] - begin[0], lanes.item[l], to, bad[l]);
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
      const int first = lanes.window[l] * a.length + loaded;
      if (first < 0 || first + row_run > c.steps) return false;
      row[l] = reinterpret_cast<const signed char*>(a.llr8.data) + lanes.item[l] * a.llr8.item_stride +
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
  /// What output e of step s of the run, r of the window, was received as.
  WB_HD i16x received(int r, int s, int e) const {
#if WB_WIDTH > 1
    return load_byte(staged + place_in_row(r - loaded + s, e) * L);
#else
    std::int16_t x[conv_short_lanes::count];
    WB_UNROLL for (int l = 0; l < conv_short_lanes::count; l++) {
      const int t = step_of(l, r + s);
      const std::int32_t place = t < 0 ? -1 : a.code.places[t * a.code.outputs + e];
      x[l] = static_cast<std::int16_t>(
          place < 0 ? 0 : conv_short_llrs{a}.one(static_cast<std::size_t>(place), lanes.item[l], bad[l]));
    }
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
    constexpr int all = 1 << Outputs;
    const i16x whole =
        to_short(-1 << scale);  // the shift of a negative lower half reaches into the upper one
    for (int s = g.rank; s < count; s += g.size) {
      V x[Outputs], sum = to_short(0), w[all];
      WB_UNROLL for (int e = 0; e < Outputs; e++) {
        x[e] = received(r, s, e);
        sum = sum + x[e];
        usable = usable +
                 select_less(counts, to_short(0), sign_bit(min(x[e], to_short(0) - x[e])), V(to_short(0)));
        x[e] = shift_left(x[e], scale) & whole;
      }
      w[0] = shift_left(scaled(sum, 4), scale) & whole;
      WB_UNROLL for (int code = 1; code < all; code++) {
        const int newest = code < 2 ? 0 : code < 4 ? 1 : code < 8 ? 2 : 3;
        w[code] = w[code ^ 1 << newest] - x[newest];
      }
      short_element* row = table + s * (2 * all) * L;
      WB_UNROLL for (int code = 0; code < all; code++) {
        store_short(row + 2 * code * L, w[code]);
        store_short(row + (2 * (code ^ a.code.older) + 1) * L, w[code]);
      }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
