#pragma once
// The LTE transport channel as ops. Each moves bits or LLRs of a code block between places that a table or
// the segmentation gives, so the threads of a block share a code block, and a CPU thread has one to itself.
#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/fec/lte/lte_args.hpp>
#include <warpband/fec/usable.hpp>

namespace wb {
inline namespace WB_ISA {

/// Code block number `index` of a batch.
struct lte_block {
  std::size_t transport, row;  // of the batch; of the blocks of its size
  int r, kind, ring, k, fillers, payload, first_bit;

  WB_HD lte_block(const lte_blocks& at, std::size_t index) {
    const std::size_t c = static_cast<std::size_t>(at.blocks), minus = static_cast<std::size_t>(at.minus);
    transport = index / c;
    r = static_cast<int>(index - transport * c);
    kind = r < at.minus ? 0 : 1;
    ring = r == 0 ? 0 : 1 + kind;
    k = at.k[kind];
    row = kind == 0 ? transport * minus + static_cast<std::size_t>(r)
                    : transport * (c - minus) + static_cast<std::size_t>(r - at.minus);
    fillers = r == 0 ? at.fillers : 0;
    payload = k - at.block_crc_bits - fillers;
    const int shorter = r < at.minus ? r : at.minus;
    first_bit = r == 0 ? 0
                       : shorter * (at.k[0] - at.block_crc_bits) +
                             (r - shorter) * (at.k[1] - at.block_crc_bits) - at.fillers;
  }
};
/// Bits that block r sends, and how many the blocks before it do.
WB_HD int lte_sent(const lte_sent_bits& s, int r) { return s.least + (r >= s.larger ? s.step : 0); }
WB_HD std::size_t lte_sent_before(const lte_sent_bits& s, int r) {
  return static_cast<std::size_t>(r) * static_cast<std::size_t>(s.least) +
         static_cast<std::size_t>(r > s.larger ? r - s.larger : 0) * static_cast<std::size_t>(s.step);
}

/// A row of a view.
template <class S>
struct lte_row {
  S* data;
  std::size_t stride;
  WB_HD lte_row(S* p, std::size_t s) : data(p), stride(s) {}
  WB_HD lte_row(const view<S>& v, std::size_t item)
      : data(v.data + item * v.item_stride), stride(v.element_stride) {}
  WB_HD S& operator[](std::size_t i) const { return data[i * stride]; }
  WB_HD S& operator[](int i) const { return data[static_cast<std::size_t>(i) * stride]; }
};

/// What all of these ops have in common. For each item so much: the mean over the blocks of a transport
/// block.
struct lte_block_op {
  static constexpr bool by_block = true;
  static constexpr int at_once = 1;
  static int threads_for(const lte_blocks& at) { return at.k[1] >= 1024 ? 256 : 64; }
  static double mean_k(const lte_blocks& at) {
    return (1.0 * at.minus * at.k[0] + 1.0 * (at.blocks - at.minus) * at.k[1]) / at.blocks;
  }
  static double mean_sent(const lte_blocks& at, const lte_sent_bits& s) {
    return s.least + 1.0 * s.step * (at.blocks - s.larger) / at.blocks;
  }
};

/// Calls f(T(), i) for the neighbours first..last - 1, on a CPU for as many at a time as T has lanes where
/// they lie `side_by_side`. f must be an inline lambda.
template <class G, class F>
WB_HD void lte_each(int first, int last, [[maybe_unused]] bool side_by_side, G g, F f) {
#if WB_WIDTH > 1
  if (side_by_side)
    for (; first + width_of<lane> <= last; first += width_of<lane>) f(lane(), first);
#endif
  for (int i = first + g.rank; i < last; i += g.size) f(float(), i);
}
/// Neighbours of a row, and of an array.
template <class T>
WB_HD T lte_load(const lte_row<const float>& row, std::size_t i) {
  if constexpr (width_of<T> == 1) return row[i];
  T x;
  __builtin_memcpy(&x, row.data + i, sizeof x);
  return x;
}
template <class T>
WB_HD T lte_gather(const float* values, const std::int32_t* numbers) {
  if constexpr (width_of<T> == 1) {
    return values[*numbers];
  } else {
    T x;
    for (int i = 0; i < width_of<T>; i++) x.x[i] = values[numbers[i]];
    return x;
  }
}
template <class T>
WB_HD void lte_store(float* p, T x) {
  if constexpr (width_of<T> == 1)
    *p = x;
  else
    __builtin_memcpy(p, &x, sizeof x);
}

/// The lowest bits of n bytes. Not in place.
template <class G>
WB_HD void lte_copy_bits(const std::uint8_t* in, std::size_t in_stride, std::uint8_t* out,
                         std::size_t out_stride, int n, G g) {
  int i = 0;
#if !defined(__CUDACC__)
  if (in_stride == 1 && out_stride == 1)
    for (; i + 8 <= n; i += 8) {
      std::uint64_t x;
      __builtin_memcpy(&x, in + i, 8);
      x &= 0x0101010101010101u;
      __builtin_memcpy(out + i, &x, 8);
    }
#endif
  for (i += g.rank; i < n; i += g.size)
    out[static_cast<std::size_t>(i) * out_stride] = in[static_cast<std::size_t>(i) * in_stride] & 1;
}
/// The exclusive-or of the weights of those of n bits that are set.
template <class G>
WB_HD std::int32_t lte_crc_sum(const std::uint8_t* in, std::size_t stride, const std::int32_t* weights, int n,
                               G g) {
  std::int32_t sum = 0;
  int i = 0;
#if WB_WIDTH > 1
  if (stride == 1) {
    using I = rebind<lane>::i32;
    I sums = I(0);
    for (; i + width_of<lane> <= n; i += width_of<lane>) {
      I weight;
      __builtin_memcpy(&weight, weights + i, sizeof weight);
      sums = sums ^ ((I(0) - (load_bytes(in + i) & I(1))) & weight);
    }
    for (int j = 0; j < width_of<lane>; j++) sum ^= sums.x[j];
  }
#endif
  for (i += g.rank; i < n; i += g.size)
    sum ^= -static_cast<std::int32_t>(in[static_cast<std::size_t>(i) * stride] & 1) & weights[i];
  return g.xor_all(sum);
}

/// The transmission of a code block as runs of its ring: run(p, at, n) of bits p..p + n - 1, which are the
/// ring's numbers at..at + n - 1. No run passes the start or the end of the ring.
template <class F>
WB_HD void lte_runs(const lte_ring& ring, int sent, F run) {
  for (int p = 0, at = ring.start; p < sent;) {
    const int end = at < ring.start ? ring.start : ring.length, n = end - at < sent - p ? end - at : sent - p;
    run(p, at, n);
    p += n;
    at = end == ring.length ? 0 : end;
  }
}

/// Bits of block b that are of the transport block, not of its CRC.
WB_HD int lte_own_bits(const lte_blocks& at, const lte_block& b) {
  const int left = at.transport_bits - b.first_bit;
  return left < b.payload ? left : b.payload;
}
/// Their part in the CRC-24A.
template <class G>
WB_HD std::int32_t lte_crc_part(const lte_blocks& at, const lte_block& b,
                                const view<const std::uint8_t>& bits, const std::int32_t* weights, G g) {
  const lte_row<const std::uint8_t> in(bits, b.transport);
  return lte_crc_sum(&in[b.first_bit], in.stride, weights + b.first_bit, lte_own_bits(at, b), g);
}

struct lte_crc_op : lte_block_op {
  lte_crc_args a;
  explicit lte_crc_op(const lte_crc_args& args) : a(args) {}
  int threads() const { return threads_for(a.at); }
  std::size_t scratch_bytes(int) const { return 0; }
  double flops() const { return 0; }
  double bytes() const { return mean_k(a.at) + 4; }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const lte_block b(a.at, first);
    const std::int32_t part = lte_crc_part(a.at, b, a.bits, a.transport_weights, g);
    if (g.rank == 0) lte_row<std::int32_t>(a.part, b.transport)[b.r] = part;
  }
};

struct lte_segment_op : lte_block_op {
  lte_segment_args a;
  explicit lte_segment_op(const lte_segment_args& args) : a(args) {}
  int threads() const { return threads_for(a.at); }
  std::size_t scratch_bytes(int) const { return 0; }
  double flops() const { return 0; }
  double bytes() const { return 2 * mean_k(a.at); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const lte_block b(a.at, first);
    const lte_row<const std::uint8_t> in(a.bits, b.transport);
    const lte_row<std::uint8_t> out(a.blocks[b.kind], b.row);
    const int own = lte_own_bits(a.at, b), end = b.fillers + b.payload;
    for (int i = g.rank; i < b.fillers; i += g.size) out[i] = 0;
    lte_copy_bits(&in[b.first_bit], in.stride, &out[b.fillers], out.stride, own, g);
    if (own < b.payload) {  // the last block: it ends with the parity of the transport block
      std::int32_t parity = 0;
      if (a.at.blocks == 1)
        parity = lte_crc_part(a.at, b, a.bits, a.transport_weights, g);
      else
        for (int r = 0; r < a.at.blocks; r++) parity ^= lte_row<const std::int32_t>(a.part, b.transport)[r];
      for (int i = g.rank; i < 24; i += g.size)
        out[b.fillers + own + i] = static_cast<std::uint8_t>(parity >> (23 - i) & 1);
    }
    if (a.at.block_crc_bits == 0) return;
    g.sync();
    const std::int32_t check = lte_crc_sum(out.data, out.stride, a.block_weights + (a.at.k[1] - b.k), end, g);
    for (int i = g.rank; i < a.at.block_crc_bits; i += g.size)
      out[end + i] = static_cast<std::uint8_t>(check >> (a.at.block_crc_bits - 1 - i) & 1);
  }
};

/// TS 36.212 §5.1.4.1.2: bit k of a transmission is bit start + k of the ring, as often as it comes round.
struct lte_match_op : lte_block_op {
  lte_match_args a;
  explicit lte_match_op(const lte_match_args& args) : a(args) {}
  int threads() const { return threads_for(a.at); }
  std::size_t scratch_bytes(int) const { return 0; }
  double flops() const { return 0; }
  double bytes() const { return 2 * mean_sent(a.at, a.sent); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const lte_block b(a.at, first);
    const lte_ring ring = a.ring[b.ring];
    const lte_row<const std::uint8_t> in(a.coded[b.kind], b.row);
    const lte_row<std::uint8_t> out(a.out, b.transport);
    const std::size_t before = lte_sent_before(a.sent, b.r);
    lte_runs(ring, lte_sent(a.sent, b.r), [&](int p, int at, int n) WB_INLINE_LAMBDA {
      const std::int32_t* places = ring.table + at;
      std::uint8_t* to = &out[before + static_cast<std::size_t>(p)];
      if (in.stride == 1 && out.stride == 1)
        for (int i = g.rank; i < n; i += g.size) to[i] = in.data[places[i]];
      else
        for (int i = g.rank; i < n; i += g.size) to[static_cast<std::size_t>(i) * out.stride] = in[places[i]];
    });
  }
};

/// The reverse: LLRs of a bit that was sent several times add up, first those of the transmission, then their
/// sum to what the soft buffer holds.
struct lte_combine_op : lte_block_op {
  lte_combine_args a;
  explicit lte_combine_op(const lte_combine_args& args) : a(args) {}
  int threads() const { return threads_for(a.at); }
  std::size_t scratch_bytes(int) const {
    int most = 0;
    for (const lte_ring& ring : a.ring) most = most < ring.length ? ring.length : most;
    return sizeof(float) * (static_cast<std::size_t>(most) + 2);
  }
  /// The mean of the blocks: sums of repetitions, at each place a sum, two limits and that of the store.
  double flops() const {
    double all = 0;
    for (int r = 0; r < a.at.blocks; r++) {
      const int kind = r < a.at.minus ? 0 : 1, length = a.ring[r == 0 ? 0 : 1 + kind].length;
      const int sent = a.sent.least + (r >= a.sent.larger ? a.sent.step : 0);
      all += (sent > length ? sent - length : 0) + (a.first ? 3.0 : 4.0) * 3 * (a.at.k[kind] + 4);
    }
    return all / a.at.blocks;
  }
  double bytes() const { return 4 * mean_sent(a.at, a.sent) + (a.first ? 4 : 8) * 3 * (mean_k(a.at) + 4); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void* scratch) const {
    const lte_block b(a.at, first);
    const lte_ring ring = a.ring[b.ring];
    const lte_row<const float> in(a.llr, b.transport);
    const lte_row<float> soft(a.soft[b.kind], b.row);
    const std::size_t before = lte_sent_before(a.sent, b.r);
    const int sent = lte_sent(a.sent, b.r);

    // The transmission's sums by their number in the ring, and behind them what the table's other entries
    // want.
    float* sums = static_cast<float*>(scratch);
    for (int i = g.rank; i < 2; i += g.size) sums[ring.length + i] = i == 1 && a.first ? lte_filler_llr : 0.f;
    if (sent < ring.length) {  // places that it did not reach
      const int end = ring.start + sent;
      const lte_ring rest{ring.table, ring.length, end < ring.length ? end : end - ring.length};
      lte_runs(rest, ring.length - sent, [&](int, int at, int n) WB_INLINE_LAMBDA {
        lte_each(0, n, true, g,
                 [&](auto type, int i) WB_INLINE_LAMBDA { lte_store(sums + at + i, decltype(type)(0.f)); });
      });
    }
    bool bad = false;
    lte_runs(ring, sent, [&](int p, int at, int n) WB_INLINE_LAMBDA {
      const bool again = p >= ring.length;
      if (again) g.sync();  // other threads' sums
      lte_each(0, n, in.stride == 1, g, [&](auto type, int i) WB_INLINE_LAMBDA {
        using T = decltype(type);
        T x = lte_load<T>(in, before + static_cast<std::size_t>(p + i));
        if (again) x = lte_load<T>({sums, 1}, static_cast<std::size_t>(at + i)) + x;
        bad = bad | any(!is_finite(x));  // as it is where any of its LLRs is not
        lte_store(sums + at + i, x);
      });
    });
    const bool erased = g.any(bad);
    g.sync();
    if (erased) {
      for (int i = g.rank; i < ring.length; i += g.size) sums[i] = 0.f;
      g.sync();
    }

    std::int32_t usable = 0;
    if (!erased || a.first) {
      lte_each(0, 3 * (b.k + 4), soft.stride == 1, g, [&](auto type, int i) WB_INLINE_LAMBDA {
        using T = decltype(type);
        using I = typename rebind<T>::i32;
        I number;
        __builtin_memcpy(&number, ring.table + i, sizeof number);
        T x = lte_gather<T>(sums, ring.table + i);
        if (!a.first) x = lte_load<T>({soft.data, soft.stride}, static_cast<std::size_t>(i)) + x;
        x = saturate(x, lte_most_llr) + T(0.f);
        usable += sum_of_lanes(select((abs(x) > T(a.least)) & (number < I(ring.length)), I(1), I(0)));
        lte_store(&soft[i], x);
      });
    }
    usable = g.sum_all(usable);
    if (g.rank == 0 && a.marks.data != nullptr) {
      std::uint8_t& mark = lte_row<std::uint8_t>(a.marks, b.transport)[b.r];
      mark = erased ? status_erased : a.first ? std::uint8_t{0} : mark;
    }
    if (a.history.data != nullptr) remember(b, in, before, sent, erased, usable, g);
  }

 private:
  template <class G>
  WB_HD void remember(const lte_block& b, const lte_row<const float>& in, std::size_t before, int sent,
                      bool erased, std::int32_t usable, G g) const {
    const lte_row<std::int32_t> all(a.history, b.transport);
    const auto of = [&](int what) -> std::int32_t& { return all[lte_history_size * b.r + what]; };
    const int order = a.modulation_order, symbols = sent / order;
    const int step = (symbols + lte_counted_symbols - 1) / lte_counted_symbols;
    std::int32_t signs = 0, positive = 0;
    if (order > 2 && !erased)
      for (int s = g.rank * step; s < symbols; s += g.size * step) {
        const std::size_t at = before + static_cast<std::size_t>(s * order);
        const float least = abs(in[at + 2]) * zeros_least;  // by an amplitude of the same symbol
        signs += 2;
        positive += (in[at] > least ? 1 : 0) + (in[at + 1] > least ? 1 : 0);
      }
    signs = g.sum_all(signs);
    positive = g.sum_all(positive);
    if (g.rank != 0) return;
    if (a.first) of(lte_signs) = of(lte_positive) = of(lte_versions) = 0;
    if (a.first || !erased) of(lte_usable) = usable;
    of(lte_signs) += signs;
    of(lte_positive) += positive;
    if (!erased) of(lte_versions) |= 1 << a.rv;
  }
};

/// Decisions of code blocks to transport blocks, and what the CRCs say of them.
struct lte_assemble_op : lte_block_op {
  lte_assemble_args a;
  explicit lte_assemble_op(const lte_assemble_args& args) : a(args) {}
  int threads() const { return threads_for(a.at); }
  std::size_t scratch_bytes(int) const { return 0; }
  double flops() const { return 0; }
  double bytes() const { return (a.bits.data != nullptr ? 2 : 1) * mean_k(a.at); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const lte_block b(a.at, first);
    const lte_row<const std::uint8_t> in(a.decided[b.kind], b.row);
    if (a.bits.data != nullptr) {
      const lte_row<std::uint8_t> out(a.bits, b.transport);
      lte_copy_bits(&in[b.fillers], in.stride, &out[b.first_bit], out.stride, lte_own_bits(a.at, b), g);
    }
    const std::int32_t part =
        lte_crc_sum(&in[b.fillers], in.stride, a.transport_weights + b.first_bit, b.payload, g);
    std::int32_t check = part;
    if (a.at.block_crc_bits != 0)
      check = lte_crc_sum(in.data, in.stride, a.block_weights + (a.at.k[1] - b.k), b.k, g);
    const std::uint8_t mark = lte_row<const std::uint8_t>(a.marks, b.transport)[b.r];
    const lte_row<const std::int32_t> history(a.history, b.transport);
    bool received = history[lte_history_size * b.r + lte_usable] >= b.k - b.fillers;
    if (received && check == 0) {  // which zeros satisfy, whatever was received
      bool ones = false;
      for (int i = g.rank; i < b.k; i += g.size) ones = ones || in[i] != 0;
      if (!g.any(ones)) received = received_zeros(b, g);
    }
    if (g.rank == 0) {
      const bool ok = check == 0 && received;
      if (a.block_ok.data != nullptr) lte_row<std::uint8_t>(a.block_ok, b.transport)[b.r] = ok ? 1 : 0;
      if (a.iterations_used.data != nullptr)
        lte_row<std::int32_t>(a.iterations_used, b.transport)[b.r] =
            lte_row<const std::int32_t>(a.iterations[b.kind], b.row)[0];
      lte_row<std::int32_t>(a.part, b.transport)[b.r] = part | (ok ? 0 : lte_block_failed) |
                                                        (mark != 0 ? lte_block_erased : 0) |
                                                        (received ? 0 : lte_block_insufficient);
    }
  }

 private:
  /// Whether what was received supports an all-zero block: zeros_share of the LLRs (usable.hpp), and the
  /// signs of symbols by four standard deviations of signs at random. Noise alone tells zeros of a 16-QAM
  /// symbol's amplitudes, but not of its signs.
  template <class G>
  WB_HD bool received_zeros(const lte_block& b, G g) const {
    const lte_row<const std::int32_t> all(a.history, b.transport);
    const auto of = [&](int what) { return all[lte_history_size * b.r + what]; };
    const std::int64_t signs = of(lte_signs), more = 2 * of(lte_positive) - signs;
    if (signs > 0 && (more <= 0 || more * more < 16 * signs)) return false;
    const lte_row<const float> soft(a.soft[b.kind], b.row);
    const lte_ring& ring = a.ring[b.ring];
    const int n = 3 * (b.k + 4), sent = lte_sent(a.sent, b.r);
    float most = 0.f;
    for (int i = g.rank; i < n; i += g.size)
      if (ring.table[i] < ring.length) most = max(most, abs(soft[i]));
    const float least = max(g.max_all(most) * zeros_least, a.least);
    std::int32_t reached = 0, usable = 0;
    for (int i = g.rank; i < n; i += g.size) {
      if (ring.table[i] >= ring.length) continue;
      bool sent_once = false;
      for (int rv = 0; rv < 4; rv++) {
        const int at = ring.table[i] - a.start[b.ring][rv];
        sent_once =
            sent_once || ((of(lte_versions) >> rv & 1) != 0 && (at < 0 ? at + ring.length : at) < sent);
      }
      reached += sent_once ? 1 : 0;
      usable += abs(soft[i]) > least ? 1 : 0;
    }
    return zeros_share * g.sum_all(reached) <= zeros_whole * g.sum_all(usable);
  }
};

struct lte_finish_op {
  lte_finish_args a;
  static constexpr bool by_block = false;
  int threads() const { return 1; }
  std::size_t scratch(int) const { return 0; }
  double flops() const { return 0; }
  double bytes() const { return 4.0 * a.blocks + 2; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using I = typename rebind<T>::i32;
    I parts = I(0), flags = I(0);
    for (int r = 0; r < a.blocks; r++) {
      const I part = load_int<T>(a.part, static_cast<std::size_t>(r), item);
      parts = parts ^ (part & I(lte_block_failed - 1));
      flags = flags | part;
    }
    const auto ok = (parts == I(0)) & ((flags & I(lte_block_failed)) == I(0));
    if (a.ok.data != nullptr) store_int<T>(a.ok, 0, item, select(ok, I(1), I(0)));
    if (a.status.data != nullptr)
      store_int<T>(a.status, 0, item,
                   select((flags & I(lte_block_insufficient)) != I(0), I(status_erased | status_insufficient),
                          select((flags & I(lte_block_erased)) != I(0), I(status_erased), I(0))));
  }
};

}  // namespace WB_ISA
}  // namespace wb
