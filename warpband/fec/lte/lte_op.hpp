#pragma once
// What is LTE's own of the transport channel as ops (transport_op.hpp): its code blocks, and circular buffers
// by tables.
#include <warpband/fec/lte/lte_args.hpp>
#include <warpband/fec/transport/transport_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Code block number `index` of a batch.
struct lte_block {
  std::size_t transport, row;  // of the batch; of the blocks of its size
  int r, kind, ring;
  int k, padded, fillers, payload,
      first_bit;  // padded: with what stands behind the k bits; fillers: in front
  int shorter;    // than the longest block

  WB_HD lte_block(const lte_blocks& segments, std::size_t index) {
    const std::size_t c = static_cast<std::size_t>(segments.blocks),
                      minus = static_cast<std::size_t>(segments.minus);
    transport = index / c;
    r = static_cast<int>(index - transport * c);
    kind = r < segments.minus ? 0 : 1;
    ring = r == 0 ? 0 : 1 + kind;
    k = padded = segments.k[kind];
    shorter = segments.k[1] - k;
    row = kind == 0 ? transport * minus + static_cast<std::size_t>(r)
                    : transport * (c - minus) + static_cast<std::size_t>(r - segments.minus);
    fillers = r == 0 ? segments.fillers : 0;
    payload = k - segments.block_crc_bits - fillers;
    const int before = r < segments.minus ? r : segments.minus;
    first_bit = r == 0 ? 0
                       : before * (segments.k[0] - segments.block_crc_bits) +
                             (r - before) * (segments.k[1] - segments.block_crc_bits) - segments.fillers;
  }
};
WB_HD lte_block block_of(const lte_blocks& segments, std::size_t index) { return {segments, index}; }
WB_HD int place_of(const lte_blocks&, const lte_ring& ring, int i) { return ring.table[i]; }

template <class G>
WB_HD void put_fillers(const lte_block& b, const transport_row<float>& soft, G g) {
  for (int i = g.rank; i < b.fillers; i += g.size) soft[i] = soft[b.k + 4 + i] = lte_filler_llr;
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

/// The transmission of a code block as runs of its ring: run(p, position, n) of bits p..p + n - 1, which are
/// the ring's numbers from `position` on. No run passes the start or the end of the ring.
template <class F>
WB_HD void lte_runs(const lte_ring& ring, int sent, F run) {
  for (int p = 0, position = ring.start; p < sent;) {
    const int end = position < ring.start ? ring.start : ring.length,
              n = end - position < sent - p ? end - position : sent - p;
    run(p, position, n);
    p += n;
    position = end == ring.length ? 0 : end;
  }
}

/// TS 36.212 §5.1.4.1.2: bit k of a transmission is bit start + k of the ring, as often as it comes round.
struct lte_match_op : transport_op<lte_match_args> {
  using transport_op<lte_match_args>::transport_op;
  double bytes() const { return 2 * mean_sent(); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const lte_block b = block_of(a.segments, first);
    const lte_ring ring = a.ring[b.ring];
    const transport_row<const std::uint8_t> in(a.coded[b.kind], b.row);
    const transport_row<std::uint8_t> out(a.out, b.transport);
    const std::size_t before = sent_before(a.sent, b.r);
    lte_runs(ring, sent_by(a.sent, b.r), [&](int p, int position, int n) WB_INLINE_LAMBDA {
      const std::int32_t* places = ring.table + position;
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
struct lte_combine_op : transport_op<lte_combine_args> {
  using transport_op<lte_combine_args>::transport_op;
  std::size_t scratch_bytes(int) const {
    int longest = 0;
    for (const lte_ring& ring : a.ring) longest = longest < ring.length ? ring.length : longest;
    return sizeof(float) * (static_cast<std::size_t>(longest) + 2);
  }
  /// The mean of the blocks: sums of repetitions, at each place a sum, two limits and that of the store.
  double flops() const {
    double total = 0;
    for (int r = 0; r < a.segments.blocks; r++) {
      const int kind = r < a.segments.minus ? 0 : 1, length = a.ring[r == 0 ? 0 : 1 + kind].length;
      const int sent = a.sent.least + (r >= a.sent.larger ? a.sent.step : 0);
      total += (sent > length ? sent - length : 0) + (a.first ? 3.0 : 4.0) * 3 * (a.segments.k[kind] + 4);
    }
    return total / a.segments.blocks;
  }
  double bytes() const { return 4 * mean_sent() + (a.first ? 4 : 8) * 3 * (a.segments.mean_k() + 4); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void* scratch) const {
    const lte_block b = block_of(a.segments, first);
    const lte_ring ring = a.ring[b.ring];
    const transport_row<const float> in(a.llr, b.transport);
    const transport_row<float> soft(a.soft[b.kind], b.row);
    const std::size_t before = sent_before(a.sent, b.r);
    const int sent = sent_by(a.sent, b.r);

    // The transmission's sums by their number in the ring, and behind them what the table's other entries
    // want.
    float* sums = static_cast<float*>(scratch);
    for (int i = g.rank; i < 2; i += g.size) sums[ring.length + i] = i == 1 && a.first ? lte_filler_llr : 0.f;
    if (sent < ring.length) {  // places that it did not reach
      const int end = ring.start + sent;
      const lte_ring rest{ring.table, ring.length, end < ring.length ? end : end - ring.length};
      lte_runs(rest, ring.length - sent, [&](int, int position, int n) WB_INLINE_LAMBDA {
        transport_each(0, n, true, g, [&](auto type, int i) WB_INLINE_LAMBDA {
          transport_store(sums + position + i, decltype(type)(0.f));
        });
      });
    }
    bool bad = false;
    lte_runs(ring, sent, [&](int p, int position, int n) WB_INLINE_LAMBDA {
      const bool again = p >= ring.length;
      if (again) g.sync();  // other threads' sums
      transport_each(0, n, in.stride == 1, g, [&](auto type, int i) WB_INLINE_LAMBDA {
        using T = decltype(type);
        T x = transport_load<T>(in, before + static_cast<std::size_t>(p + i));
        if (again) x = transport_load<T>({sums, 1}, static_cast<std::size_t>(position + i)) + x;
        bad = bad | any(!is_finite(x));  // as it is where any of its LLRs is not
        transport_store(sums + position + i, x);
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
      transport_each(0, 3 * (b.k + 4), soft.stride == 1, g, [&](auto type, int i) WB_INLINE_LAMBDA {
        using T = decltype(type);
        using I = typename rebind<T>::i32;
        I number;
        __builtin_memcpy(&number, ring.table + i, sizeof number);
        T x = lte_gather<T>(sums, ring.table + i);
        if (!a.first) x = transport_load<T>({soft.data, soft.stride}, static_cast<std::size_t>(i)) + x;
        x = saturate(x, transport_most_llr) + T(0.f);
        usable += sum_of_lanes(select((abs(x) > T(a.least)) & (number < I(ring.length)), I(1), I(0)));
        transport_store(&soft[i], x);
      });
    }
    usable = g.sum_all(usable);
    note_reception(
        a, b, sent, erased, usable,
        [&](int i) WB_INLINE_LAMBDA { return in[before + static_cast<std::size_t>(i)]; }, g);
  }
};

using lte_crc_op = transport_crc_op<lte_blocks>;
using lte_segment_op = transport_segment_op<lte_blocks>;
using lte_assemble_op = transport_assemble_op<lte_blocks>;
using lte_harq_op = transport_harq_op<lte_blocks>;

}  // namespace WB_ISA
}  // namespace wb
