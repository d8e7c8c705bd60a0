#pragma once
// The 16-bit turbo decoder as an op: load, iterations, store.
#include <warpband/core/memory.hpp>
#include <warpband/fec/turbo/turbo_windows_body.hpp>

namespace wb {
inline namespace WB_ISA {

template <class C>
struct turbo_windows_op {
  using values = turbo_windows<C>;
  static constexpr bool by_block = true;
  static constexpr int most_threads = 128, resident = 2;
  static constexpr int S = C::states, L = i16x::lanes;
  turbo_windows_args a;
  int at_once;
  turbo_windows_plan plan;

  /// On the host.
  explicit turbo_windows_op(const turbo_windows_args& args) : a(args), plan{} {
    const turbo_lanes& at = a.lanes[lanes_index];
    at_once = a.groups * at.codewords * i16x::items;
    plan.steps = a.k / a.windows;
    plan.columns = a.groups * at.vectors;
    plan.codewords = at_once;
    std::size_t used = 64;  // a vector's neighbour is read one value before and behind its array
    auto take = [&](std::size_t values, std::size_t size) {
      const std::size_t place = used;
      used = (used + values * size + 127) / 64 * 64;
      return place;
    };
    const auto groups = static_cast<std::size_t>(a.groups), steps = static_cast<std::size_t>(plan.steps),
               columns = static_cast<std::size_t>(plan.columns), stride = static_cast<std::size_t>(at.stride),
               lanes = static_cast<std::size_t>(L);
    constexpr std::size_t Seg = values::Seg;
    constexpr std::size_t e = sizeof(short_element), c = sizeof(byte_element);
    plan.extrinsic = take(groups * steps * stride, e);
    plan.borders = take(groups * 4 * S * stride, e);
    plan.warm = take(2 * S * columns * lanes, e);
    plan.tails = take(groups * 2 * S * lanes, e);
    plan.checkpoints = take((steps + Seg - 1) / Seg * S * (i16x::items == 2 ? columns : 1) * lanes, e);
    plan.systematic = take(groups * steps * stride, c);
    plan.parity = take(2 * groups * steps * stride, c);
    plan.flags = take(3 * static_cast<std::size_t>(plan.codewords), sizeof(std::int32_t));
    plan.bytes = used;
  }

  int threads() const { return a.windows * a.groups; }
  std::size_t scratch_bytes(int) const { return plan.bytes; }
  /// Of a codeword that does all its iterations; of one with stop by CRC that leaves after the first. A step
  /// of a half-iteration: alpha twice, beta, and the output; packed numbers count once together.
  double flops() const {
    constexpr double packed = static_cast<double>(i16x::lanes * i16x::items) / WB_WIDTH;
    const double warm_up = a.windows > 1 ? 2.0 * a.overlap * a.windows * 20 : 0;
    return 2.0 * (a.stop_by_crc ? 1 : a.iterations) * (a.k * (20 + 20 + 20 + 33.0) + warm_up) / packed;
  }
  double bytes() const {
    return (a.llr8.data ? 1.0 : 4.0) * 3 * (a.k + 4) + (a.bits.data ? 1.0 : 0.0) * a.k +
           (a.iterations_used.data ? 4 : 0) + (a.status.data ? 1 : 0);
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, void* scratch) const {
    const values w{a, a.lanes[lanes_index], plan, static_cast<char*>(scratch)};
    std::int32_t* const erased = reinterpret_cast<std::int32_t*>(w.scratch + plan.flags);
    std::int32_t *const done = erased + plan.codewords, *const leaving = done + plan.codewords;
    for (int q = g.rank; q < plan.codewords; q += g.size) {
      erased[q] = 0;
      done[q] = q < items ? 0 : 1;
    }
    g.sync();
    load(w, first, items, erased, g);
    g.sync();
    for (int it = 0;; it++) {
      const bool last = it + 1 == a.iterations;
      const int eighths = last ? 8 : a.eighths;
      w.template begin<0>(g);
      g.sync();
      w.template half_iteration<0>(g, eighths);
      g.sync();
      w.template begin<1>(g);
      g.sync();
      w.template half_iteration<1>(g, eighths);
      g.sync();
      if (a.stop_by_crc) {
        remainders(w, g);
        g.sync();
      }
      bool rest = false;
      for (int q = g.rank; q < plan.codewords; q += g.size) {
        const bool stopped = a.stop_by_crc && remainder(w, q) == 0;
        leaving[q] = done[q] != 0 ? 0 : stopped ? 2 : last ? 1 : 0;
        if (leaving[q] != 0) done[q] = 1;
        rest = rest || done[q] == 0;
      }
      const bool more = g.any(rest);
      if (last || a.stop_by_crc) store(w, first, items, erased, leaving, it + 1, g);
      if (!more) break;
      g.sync();
    }
  }

 private:
  // ------------------------------------------------------------------------------------------- channel LLRs

  /// A weight in steps, -127..127, and whether the LLR is finite.
  WB_HD signed char weight(std::size_t element, std::size_t item, bool& finite) const {
    if (a.llr8.data != nullptr) {
      const int x = a.llr8.data[element * a.llr8.element_stride + item * a.llr8.item_stride];
      return static_cast<signed char>(x == -128 ? 127 : -x);
    }
    const float x = a.llr.data[element * a.llr.element_stride + item * a.llr.item_stride];
    if (!is_finite(x)) finite = false;
    const float y = max(min(x * a.steps, 127.f), -127.f);
    // The nearest integer, ties to even.
    return static_cast<signed char>(0x4B400000 - as_int((is_finite(x) ? y : 0.f) + 12582912.f));
  }

  template <class G>
  WB_HD void load(const values& w, std::size_t first, int items, std::int32_t* erased, G g) const {
    const turbo_lanes& at = w.at;
    const int K = a.k;
    // The two tails of a codeword: its bit j of stream n % 3 comes at place K + n / 3 (TS 36.212 §5.1.3.2.2).
    for (int i = g.rank; i < 2 * plan.codewords; i += g.size) {
      const int q = i / 2, d = i % 2;
      const std::size_t item = first + static_cast<std::size_t>(q < items ? q : 0);
      int t[6];
      bool finite = true;
      for (int j = 0; j < 6; j++) {
        const int n = 6 * d + j;
        t[j] = weight(static_cast<std::size_t>(n % 3 * (K + 4) + K + n / 3), item, finite);
      }
      if (!finite) set(erased + q);
      int b[S];
      for (int s = 0; s < S; s++) b[s] = s ? max_log_short::impossible : 0;
      for (int j = 2; j >= 0; j--) {
        int n[S];
        for (int s = 0; s < S; s++) {
          const int u = C::terminating_bit(s);
          n[s] = b[C::next(s, u)] + (u ? t[2 * j] : 0) + (C::parity(s, u) ? t[2 * j + 1] : 0);
        }
        for (int s = 0; s < S; s++) b[s] = n[s];
      }
      // All states reach state 0 in three steps, so none is impossible.
      const int group = q / (at.codewords * i16x::items), within = q % (at.codewords * i16x::items);
      for (int s = 0; s < S; s++) put_tail(w.tail(group, d) + s * L, within, b[s] - b[0]);
    }
    for (int group = 0; group < a.groups; group++) {
      for (int i = g.rank; i < 4 * S * at.stride; i += g.size) w.border(group, 0, 0)[i] = 0;
      for (int i = g.rank; i < w.array(); i += g.size) w.extrinsic(group)[i] = 0;
      for (int stream = 0; stream < 3; stream++) load_stream(w, group, stream, first, items, erased, g);
    }
  }

#if defined(__CUDACC__)
  WB_HD static void set(std::int32_t* flag) { atomicExch(flag, 1); }
  WB_HD static void put_tail(short_element* to, int half, int x) {
    reinterpret_cast<std::int16_t*>(to)[half] = static_cast<std::int16_t>(x);
  }
  template <class G>
  WB_HD void load_stream(const values& w, int group, int stream, std::size_t first, int items,
                         std::int32_t* erased, G g) const {
    byte_element* to = stream == 0 ? w.systematic(group) : w.parity(group, stream - 1);
    const int q = 2 * group;
    const std::size_t one = first + static_cast<std::size_t>(q < items ? q : 0),
                      two = first + static_cast<std::size_t>(q + 1 < items ? q + 1 : 0);
    bool finite1 = true, finite2 = true;
    const std::size_t begin = static_cast<std::size_t>(stream * (a.k + 4));
    _Pragma("unroll 8") for (int i = g.rank; i < a.k; i += g.size) {
      const std::size_t e = begin + static_cast<std::size_t>(i);
      const signed char x = weight(e, one, finite1), y = weight(e, two, finite2);
      to[i % plan.steps * w.at.stride + i / plan.steps] =
          static_cast<byte_element>(static_cast<unsigned char>(x) | static_cast<unsigned char>(y) << 8);
    }
    if (!finite1) set(erased + q);
    if (!finite2) set(erased + q + 1);
  }
  /// The decision of bit i of codeword q.
  WB_HD int decision(const values& w, int q, int i) const {
    const short_element x = w.extrinsic(q / 2)[i % plan.steps * w.at.stride + i / plan.steps];
    return static_cast<int>(x >> 16 * (q % 2) & 1u);
  }
#else
  WB_HD static void set(std::int32_t* flag) { *flag = 1; }
  WB_HD void put_tail(short_element* to, int codeword, int x) const {
    const int share = L / a.lanes[lanes_index].codewords;
    to[codeword * share + share - 1] = static_cast<std::int16_t>(x);
  }
  template <class G>
  WB_HD void load_stream(const values& w, int, int stream, std::size_t first, int items, std::int32_t* erased,
                         G) const {
    byte_element* to = stream == 0 ? w.systematic(0) : w.parity(0, stream - 1);
    const int V = w.at.vectors, W = plan.steps, share = L / w.at.codewords;
    for (int q = 0; q < plan.codewords; q++) {
      const std::size_t item = first + static_cast<std::size_t>(q < items ? q : 0);
      bool finite = true;
      for (int n = 0; n < a.windows; n++)
        for (int j = 0; j < W; j++)
          to[j * w.at.stride + n % V * L + q * share + n / V] =
              weight(static_cast<std::size_t>(stream * (a.k + 4) + n * W + j), item, finite);
      if (!finite) erased[q] = 1;
    }
  }
  WB_HD int decision(const values& w, int q, int i) const {
    const int V = w.at.vectors, share = L / w.at.codewords, n = i / plan.steps;
    return w.extrinsic(0)[i % plan.steps * w.at.stride + n % V * L + q * share + n / V] & 1;
  }
#endif

  // --------------------------------------------------------------------------------------------------- CRC

  /// The remainder of each column's decisions, where its metrics of the last half-iteration lay.
  template <class G>
  WB_HD void remainders(const values& w, G g) const {
    for (int u = g.rank; u < plan.columns; u += g.size) {
      const int group = u / w.at.vectors, v = u % w.at.vectors;
      const short_element* x = w.extrinsic(group) + v * L;
      i16x low = to_short(0), high = to_short(0);
      for (int j = 0; j < plan.steps; j++) {
        const i16x one = spread_low_bit(load_short(x + j * w.at.stride));
        low = low ^ (one & load_same(w.at.crc_low + j * w.at.stride + v * L));
        high = high ^ (one & load_same(w.at.crc_high + j * w.at.stride + v * L));
      }
      store_short(w.shorts(plan.warm) + u * L, low);
      store_short(w.shorts(plan.warm) + (plan.columns + u) * L, high);
    }
  }
  WB_HD std::int32_t remainder(const values& w, int q) const {
    const turbo_lanes& at = w.at;
    const int group = q / (at.codewords * i16x::items), within = q % (at.codewords * i16x::items);
    std::uint32_t r = 0;
    for (int v = 0; v < at.vectors; v++) {
      const short_element* low = w.shorts(plan.warm) + (group * at.vectors + v) * L;
      const short_element* high = low + plan.columns * L;
#if defined(__CUDACC__)
      r ^= (*low >> 16 * within & 0xffffu) | (*high >> 16 * within & 0xffffu) << 16;
#else
      const int share = L / at.codewords;
      for (int l = within * share; l < (within + 1) * share; l++)
        r ^= static_cast<std::uint16_t>(low[l]) |
             static_cast<std::uint32_t>(static_cast<std::uint16_t>(high[l])) << 16;
#endif
    }
    return as_int(r);
  }

  // ----------------------------------------------------------------------------------------------- results

  template <class G>
  WB_HD void store(const values& w, std::size_t first, int items, const std::int32_t* erased,
                   const std::int32_t* leaving, int iterations, G g) const {
    for (int q = 0; q < items; q++) {
      if (leaving[q] == 0) continue;
      const std::size_t item = first + static_cast<std::size_t>(q);
      const bool gone = erased[q] != 0;
      if (a.bits.data != nullptr)
        for (int i = g.rank; i < a.k; i += g.size)
          a.bits.data[static_cast<std::size_t>(i) * a.bits.element_stride + item * a.bits.item_stride] =
              static_cast<std::uint8_t>(gone ? 0 : decision(w, q, i));
      if (g.rank == 0) {
        if (a.iterations_used.data != nullptr)
          a.iterations_used.data[item * a.iterations_used.item_stride] = gone ? 0 : iterations;
        if (a.status.data != nullptr)
          a.status.data[item * a.status.item_stride] = gone              ? status_erased
                                                       : leaving[q] == 2 ? status_stopped
                                                                         : 0;
      }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
