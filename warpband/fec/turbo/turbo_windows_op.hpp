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
    return rounded(a.llr.data[element * a.llr.element_stride + item * a.llr.item_stride], finite);
  }
  /// The nearest integer, ties to even.
  WB_HD signed char rounded(float llr, bool& finite) const {
    const bool ok = is_finite(llr);
    if (!ok) finite = false;
    const float y = max(min((ok ? llr : 0.f) * a.steps, 127.f), -127.f);
    return static_cast<signed char>(0x4B400000 - as_int(y + 12582912.f));
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
      if (!finite) set_flag(erased + q);
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
    for (int i = g.rank; i < a.groups * 4 * S * at.stride; i += g.size) w.border(0, 0, 0)[i] = 0;
    for (int i = g.rank; i < a.groups * w.array(); i += g.size) w.extrinsic(0)[i] = 0;
    for (int stream = 0; stream < 3; stream++) load_stream(w, stream, first, items, erased, g);
  }

#if defined(__CUDACC__)
  WB_HD static void put_tail(short_element* to, int half, int x) {
    reinterpret_cast<std::int16_t*>(to)[half] = static_cast<std::int16_t>(x);
  }
  /// Whether four neighbouring values of a column lie in a word, wherever it begins.
  template <class V>
  WB_HD bool in_words(const view<V>& v) const {
    return plan.steps % 4 == 0 && v.element_stride == 1 && v.item_stride % 4 == 0 &&
           reinterpret_cast<std::uintptr_t>(v.data) % (4 * sizeof(V)) == 0;
  }
  /// Four weights, as bytes.
  WB_HD std::uint32_t four_weights(std::size_t element, std::size_t item, bool& finite) const {
    if (a.llr8.data != nullptr)
      return negated_bytes(
          *reinterpret_cast<const std::uint32_t*>(a.llr8.data + element + item * a.llr8.item_stride));
    const float4 v = *reinterpret_cast<const float4*>(a.llr.data + element + item * a.llr.item_stride);
    const float x[4] = {v.x, v.y, v.z, v.w};
    std::uint32_t r = 0;
    WB_UNROLL for (int i = 0; i < 4; i++) r |=
        static_cast<std::uint32_t>(static_cast<unsigned char>(rounded(x[i], finite))) << 8 * i;
    return r;
  }
  /// A thread loads its own columns: what neighbours read lies far apart, but is read once, and they write
  /// to neighbouring places.
  template <class G>
  WB_HD void load_stream(const values& w, int stream, std::size_t first, int items, std::int32_t* erased,
                         G g) const {
    const bool words = a.llr8.data != nullptr ? in_words(a.llr8) : in_words(a.llr);
    for (int u = g.rank; u < plan.columns; u += g.size) {
      const int group = u / w.at.vectors, v = u % w.at.vectors, q = 2 * group;
      byte_element* to = (stream == 0 ? w.systematic(group) : w.parity(group, stream - 1)) + v;
      const std::size_t one = first + static_cast<std::size_t>(q < items ? q : 0),
                        two = first + static_cast<std::size_t>(q + 1 < items ? q + 1 : 0);
      const std::size_t begin = static_cast<std::size_t>(stream * (a.k + 4) + v * plan.steps);
      bool finite1 = true, finite2 = true;
      if (words) {
        _Pragma("unroll 4") for (int j = 0; j < plan.steps; j += 4) {
          const std::size_t e = begin + static_cast<std::size_t>(j);
          const std::uint32_t x = four_weights(e, one, finite1), y = four_weights(e, two, finite2);
          WB_UNROLL for (int i = 0; i < 4; i++) to[(j + i) * w.at.stride] = byte_pair(x, y, i);
        }
      } else {
        for (int j = 0; j < plan.steps; j++) {
          const std::size_t e = begin + static_cast<std::size_t>(j);
          to[j * w.at.stride] =
              static_cast<byte_element>(static_cast<unsigned char>(weight(e, one, finite1)) |
                                        static_cast<unsigned char>(weight(e, two, finite2)) << 8);
        }
      }
      if (!finite1) set_flag(erased + q);
      if (!finite2) set_flag(erased + q + 1);
    }
  }
  template <class G>
  WB_HD void store_bits(const values& w, std::size_t first, int items, const std::int32_t* erased,
                        const std::int32_t* leaving, G g) const {
    const bool words = in_words(a.bits);
    for (int u = g.rank; u < plan.columns; u += g.size) {
      const int group = u / w.at.vectors, v = u % w.at.vectors;
      const short_element* from = w.extrinsic(group) + v;
      for (int half = 0; half < 2; half++) {
        const int q = 2 * group + half;
        if (q >= items || leaving[q] == 0) continue;
        const std::uint32_t kept = erased[q] != 0 ? 0u : 1u << 16 * half;
        std::uint8_t* to = a.bits.data + (first + static_cast<std::size_t>(q)) * a.bits.item_stride +
                           static_cast<std::size_t>(v * plan.steps) * a.bits.element_stride;
        if (words) {
          _Pragma("unroll 4") for (int j = 0; j < plan.steps; j += 4) {
            std::uint32_t word = 0;
            WB_UNROLL for (int i = 0; i < 4; i++) word |= ((from[(j + i) * w.at.stride] & kept) >> 16 * half)
                                                          << 8 * i;
            *reinterpret_cast<std::uint32_t*>(to + j) = word;
          }
        } else {
          for (int j = 0; j < plan.steps; j++)
            to[static_cast<std::size_t>(j) * a.bits.element_stride] =
                static_cast<std::uint8_t>((from[j * w.at.stride] & kept) >> 16 * half);
        }
      }
    }
  }
#else
  WB_HD void put_tail(short_element* to, int codeword, int x) const {
    const int share = L / a.lanes[lanes_index].codewords;
    to[codeword * share + share - 1] = static_cast<std::int16_t>(x);
  }
#if WB_WIDTH > 1
  typedef signed char square_row __attribute__((vector_size(16)));
  /// Byte i of x[j] becomes byte j of x[i].
  WB_HD static void transpose_bytes(square_row (&x)[16]) {
    constexpr square_row low{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    constexpr square_row high{8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    for (int stage = 0; stage < 4; stage++) {
      square_row y[16];
      WB_UNROLL for (int i = 0; i < 8; i++) {
        y[2 * i] = __builtin_shuffle(x[i], x[i + 8], low);
        y[2 * i + 1] = __builtin_shuffle(x[i], x[i + 8], high);
      }
      WB_UNROLL for (int i = 0; i < 16; i++) x[i] = y[i];
    }
  }
  /// Sixteen neighbouring weights.
  WB_HD square_row sixteen_weights(std::size_t element, std::size_t item, bool& finite) const {
    square_row r;
    if (a.llr8.data != nullptr) {
      __builtin_memcpy(&r, a.llr8.data + element + item * a.llr8.item_stride, sizeof r);
      return -(r < static_cast<signed char>(-127) ? static_cast<signed char>(-127) - square_row{} : r);
    }
    const float* p = a.llr.data + element + item * a.llr.item_stride;
    for (int i = 0; i < 16; i += WB_WIDTH) {
      lane x;
      __builtin_memcpy(&x, p + i, sizeof x);
      const auto ok = is_finite(x);
      finite = finite && all(ok);
      const lane y = max(min(select(ok, x, lane(0.f)) * lane(a.steps), lane(127.f)), lane(-127.f));
      using I = typename rebind<lane>::i32;
      const I n = I(0x4B400000) - as_int(y + lane(12582912.f));
      typedef signed char bytes __attribute__((vector_size(WB_WIDTH)));
      const bytes b = __builtin_convertvector(n.x, bytes);
      __builtin_memcpy(reinterpret_cast<char*>(&r) + i, &b, sizeof b);
    }
    return r;
  }
#endif
  template <class G>
  WB_HD void load_stream(const values& w, int stream, std::size_t first, int items, std::int32_t* erased,
                         G) const {
    byte_element* to = stream == 0 ? w.systematic(0) : w.parity(0, stream - 1);
    const int V = w.at.vectors, W = plan.steps, share = L / w.at.codewords, stride = w.at.stride;
    for (int q = 0; q < plan.codewords; q++) {
      const std::size_t item = first + static_cast<std::size_t>(q < items ? q : 0);
      bool finite = true;
#if WB_WIDTH > 1
      const std::size_t step = a.llr8.data != nullptr ? a.llr8.element_stride : a.llr.element_stride;
      if (share >= 16 && W >= 16 && step == 1) {
        for (int v = 0; v < V; v++)
          for (int l = 0; l < share; l += 16)
            for (int j = 0; j < W; j += 16) {
              const int from = j + 16 <= W ? j : W - 16;
              square_row x[16];
              for (int i = 0; i < 16; i++)
                x[i] = sixteen_weights(
                    static_cast<std::size_t>(stream * (a.k + 4) + (v + V * (l + i)) * W + from), item,
                    finite);
              transpose_bytes(x);
              for (int i = 0; i < 16; i++)
                __builtin_memcpy(to + (from + i) * stride + v * L + q * share + l, &x[i], 16);
            }
        if (!finite) erased[q] = 1;
        continue;
      }
#endif
      for (int n = 0; n < a.windows; n++)
        for (int j = 0; j < W; j++)
          to[j * stride + n % V * L + q * share + n / V] =
              weight(static_cast<std::size_t>(stream * (a.k + 4) + n * W + j), item, finite);
      if (!finite) erased[q] = 1;
    }
  }
  template <class G>
  WB_HD void store_bits(const values& w, std::size_t first, int items, const std::int32_t* erased,
                        const std::int32_t* leaving, G) const {
    const int V = w.at.vectors, W = plan.steps, share = L / w.at.codewords, stride = w.at.stride;
    for (int q = 0; q < items; q++) {
      if (leaving[q] == 0) continue;
      const short_element* from = w.extrinsic(0) + q * share;
      std::uint8_t* to = a.bits.data + (first + static_cast<std::size_t>(q)) * a.bits.item_stride;
      const int kept = erased[q] != 0 ? 0 : 1;
#if WB_WIDTH > 1
      if (share >= 16 && W >= 16 && a.bits.element_stride == 1) {
        for (int v = 0; v < V; v++)
          for (int l = 0; l < share; l += 16)
            for (int j = 0; j < W; j += 16) {
              const int row = j + 16 <= W ? j : W - 16;
              square_row x[16];
              for (int i = 0; i < 16; i++) {
                typedef std::int16_t shorts __attribute__((vector_size(32)));
                shorts y;
                __builtin_memcpy(&y, from + (row + i) * stride + v * L + l, sizeof y);
                x[i] = __builtin_convertvector(y & static_cast<std::int16_t>(kept), square_row);
              }
              transpose_bytes(x);
              for (int i = 0; i < 16; i++) __builtin_memcpy(to + (v + V * (l + i)) * W + row, &x[i], 16);
            }
        continue;
      }
#endif
      for (int n = 0; n < a.windows; n++)
        for (int j = 0; j < W; j++)
          to[static_cast<std::size_t>(n * W + j) * a.bits.element_stride] =
              static_cast<std::uint8_t>(from[j * stride + n % V * L + n / V] & kept);
    }
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
    if (a.bits.data != nullptr) store_bits(w, first, items, erased, leaving, g);
    for (int q = g.rank; q < items; q += g.size) {
      if (leaving[q] == 0) continue;
      const std::size_t item = first + static_cast<std::size_t>(q);
      const bool gone = erased[q] != 0;
      if (a.iterations_used.data != nullptr)
        a.iterations_used.data[item * a.iterations_used.item_stride] = gone ? 0 : iterations;
      if (a.status.data != nullptr)
        a.status.data[item * a.status.item_stride] = gone              ? status_erased
                                                     : leaving[q] == 2 ? status_stopped
                                                                       : 0;
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
