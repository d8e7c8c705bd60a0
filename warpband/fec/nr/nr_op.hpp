#pragma once
// What is 5G NR's own of the transport channel as ops (transport_op.hpp): bit selection and interleaving.
#include <warpband/fec/nr/nr_args.hpp>
#include <warpband/fec/transport/transport_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Code block number `index` of a batch, as lte_block.
struct nr_block {
  static constexpr int kind = 0, ring = 0, fillers = 0, shorter = 0;
  std::size_t transport, row;
  int r, k, padded, payload, first_bit;

  WB_HD nr_block(const nr_blocks& segments, std::size_t index)
      : row(index), k(segments.k), padded(segments.padded) {
    const std::size_t c = static_cast<std::size_t>(segments.blocks);
    transport = index / c;
    r = static_cast<int>(index - transport * c);
    payload = segments.k - segments.block_crc_bits;
    first_bit = r * payload;
  }
};
WB_HD nr_block block_of(const nr_blocks& segments, std::size_t index) { return {segments, index}; }
/// Where the codeword has the ring's number i.
WB_HD int place_of(const nr_blocks& segments, const nr_ring&, int i) {
  const int sent = segments.k - segments.punctured;
  return i < sent ? i + segments.punctured : i - sent + segments.padded;
}

template <class G>
WB_HD void put_fillers(const nr_block& b, const transport_row<float>& soft, G g) {
  for (int i = b.k + g.rank; i < b.padded; i += g.size) soft[i] = nr_filler_llr;
}

/// The transmission of a code block as runs of its ring: run(position, n, to, again) of n of the ring's
/// numbers from `position` on. The first of these is sent at place `to` and the others every `order` behind
/// it; `again`: the ring was passed before. TS 38.212 §5.4.2.1 and §5.4.2.2: bit p of the selected ones goes
/// to place i + j Q_m with i = p / (E / Q_m), j = p mod (E / Q_m).
template <class F>
WB_HD void nr_runs(const nr_ring& ring, int sent, int order, F run) {
  const int columns = sent / order;
  for (int p = 0, position = ring.start, i = 0, j = 0; p < sent;) {
    int n = ring.length - position;
    if (position < ring.start) n = ring.start - position;
    if (n > columns - j) n = columns - j;
    // A run passes neither the ring's start nor its end, nor a row of the interleaver.
    run(position, n, i + j * order, p >= ring.length);
    p += n;
    position = position + n == ring.length ? 0 : position + n;
    j += n;
    if (j == columns) j = 0, i++;
  }
}

/// TS 38.212 §5.4.2 and §5.5, TS 38.211 §6.3.1.1: selected, interleaved, concatenated, scrambled.
struct nr_match_op : transport_op<nr_match_args> {
  using transport_op<nr_match_args>::transport_op;
  double bytes() const { return (a.scrambling != nullptr ? 3 : 2) * mean_sent(); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const nr_block b = block_of(a.segments, first);
    const transport_row<const std::uint8_t> in(a.coded, b.row);
    const transport_row<std::uint8_t> out(a.out, b.transport);
    const std::size_t before = sent_before(a.sent, b.r);
    const int order = a.modulation_order;
    nr_runs(a.ring, sent_by(a.sent, b.r), order, [&](int position, int n, int to, bool) WB_INLINE_LAMBDA {
      for (int i = g.rank; i < n; i += g.size) {
        const std::size_t place = before + static_cast<std::size_t>(to + i * order);
        const std::uint8_t scrambled = a.scrambling != nullptr ? a.scrambling[place] : std::uint8_t{0};
        out[place] =
            static_cast<std::uint8_t>((in[place_of(a.segments, a.ring, position + i)] ^ scrambled) & 1);
      }
    });
  }
};

/// The reverse: LLRs of a bit that was sent several times add up, first those of the transmission, then their
/// sum to what the soft buffer holds.
struct nr_combine_op : transport_op<nr_combine_args> {
  using transport_op<nr_combine_args>::transport_op;
  std::size_t scratch_bytes(int) const { return sizeof(float) * static_cast<std::size_t>(a.ring.length); }
  /// The mean of the blocks: sums of repetitions, at each place a sum, two limits and that of the store.
  double flops() const {
    const double repeated = mean_sent() - a.ring.length;
    return (repeated > 0 ? repeated : 0) + (a.first ? 3.0 : 4.0) * a.ring.length;
  }
  double bytes() const {
    return (a.scrambling != nullptr ? 5 : 4) * mean_sent() +
           (a.first ? 4.0 * a.segments.codeword : 8.0 * a.ring.length);
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void* scratch) const {
    const nr_block b = block_of(a.segments, first);
    const transport_row<const float> in(a.llr, b.transport);
    const transport_row<float> soft(a.soft, b.row);
    const std::size_t before = sent_before(a.sent, b.r);
    const int sent = sent_by(a.sent, b.r);
    float* sums = static_cast<float*>(scratch);  // of the transmission, by number in the ring
    if (sent < a.ring.length) {                  // places that it did not reach
      for (int i = g.rank; i < a.ring.length; i += g.size) sums[i] = 0.f;
      g.sync();
    }
    bool bad = false;
    nr_runs(a.ring, sent, a.modulation_order, [&](int position, int n, int to, bool again) WB_INLINE_LAMBDA {
      if (again) g.sync();  // other threads' sums
      for (int i = g.rank; i < n; i += g.size) {
        float x = received(in, before + static_cast<std::size_t>(to + i * a.modulation_order));
        if (again) x = sums[position + i] + x;
        bad = bad | !is_finite(x);
        sums[position + i] = x;
      }
    });
    const bool erased = g.any(bad);
    g.sync();
    const std::int32_t usable = g.sum_all(add(soft, sums, erased, g));
    note_reception(
        a, b, sent, erased, usable,
        [&](int i) WB_INLINE_LAMBDA { return received(in, before + static_cast<std::size_t>(i)); }, g);
  }

 private:
  /// LLR number `place` of the transport block without its scrambling.
  WB_HD float received(const transport_row<const float>& in, std::size_t place) const {
    const float x = in[place];
    return a.scrambling != nullptr && a.scrambling[place] != 0 ? -x : x;
  }
  /// The sums into the soft buffer. Returns how many LLRs there are usable, of those that this thread has.
  template <class G>
  WB_HD std::int32_t add(const transport_row<float>& soft, const float* sums, bool erased, G g) const {
    if (a.first) {
      for (int i = g.rank; i < a.segments.punctured; i += g.size) soft[i] = 0.f;
      for (int i = a.segments.k + g.rank; i < a.segments.padded; i += g.size) soft[i] = nr_filler_llr;
      for (int i = place_of(a.segments, a.ring, a.ring.length - 1) + 1 + g.rank; i < a.segments.codeword;
           i += g.size)
        if (i < a.segments.k || i >= a.segments.padded) soft[i] = 0.f;
    }
    std::int32_t usable = 0;
    if (erased && !a.first) return usable;
    const int systematic = a.segments.k - a.segments.punctured < a.ring.length
                               ? a.segments.k - a.segments.punctured
                               : a.ring.length;
    for (int part = 0; part < 2; part++) {  // what stands before the fillers, and what behind them
      const int begin = part == 0 ? 0 : systematic, n = (part == 0 ? systematic : a.ring.length) - begin;
      const transport_row<float> to(&soft[place_of(a.segments, a.ring, begin)], soft.stride);
      transport_each(0, n, soft.stride == 1, g, [&](auto type, int i) WB_INLINE_LAMBDA {
        using T = decltype(type);
        using I = typename rebind<T>::i32;
        T x = erased ? T(0.f) : transport_load<T>({sums + begin, 1}, static_cast<std::size_t>(i));
        if (!a.first) x = transport_load<T>({to.data, to.stride}, static_cast<std::size_t>(i)) + x;
        x = saturate(x, transport_most_llr) + T(0.f);
        usable += sum_of_lanes(select(abs(x) > T(a.least), I(1), I(0)));
        transport_store(&to[i], x);
      });
    }
    return usable;
  }
};

/// From codewords back to the transmission, as nr_match_op has it: extrinsic + (soft - llr), scrambled.
struct nr_feedback_op : transport_op<nr_feedback_args> {
  using transport_op<nr_feedback_args>::transport_op;
  double flops() const { return 2 * mean_sent(); }
  double bytes() const { return (a.scrambling != nullptr ? 17 : 16) * mean_sent(); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const nr_block b = block_of(a.segments, first);
    const transport_row<const float> extrinsic(a.extrinsic, b.row), soft(a.soft, b.row),
        llr(a.llr, b.transport);
    const transport_row<float> prior(a.prior, b.transport);
    const std::size_t before = sent_before(a.sent, b.r);
    const int order = a.modulation_order;
    const bool erased = a.status.data != nullptr &&
                        (transport_row<const std::uint8_t>(a.status, b.row)[0] & status_erased) != 0;
    const bool unread = a.marks.data != nullptr && transport_row<const std::uint8_t>(a.marks, b.row)[0] != 0;
    nr_runs(a.ring, sent_by(a.sent, b.r), order, [&](int position, int n, int to, bool) WB_INLINE_LAMBDA {
      for (int i = g.rank; i < n; i += g.size) {
        const std::size_t place = before + static_cast<std::size_t>(to + i * order);
        const int number = place_of(a.segments, a.ring, position + i);
        const bool turned = a.scrambling != nullptr && a.scrambling[place] != 0;
        const float channel = unread ? 0.f : turned ? -llr[place] : llr[place];
        const float known = extrinsic[number] + (soft[number] - channel);
        prior[place] = erased ? 0.f : (turned ? -known : known) + 0.f;
      }
    });
  }
};

struct nr_front_op : transport_op<nr_front_args> {
  using transport_op<nr_front_args>::transport_op;
  int threads() const { return 64; }
  double bytes() const { return a.out_bits.data != nullptr ? 2.0 * a.n : 8.0 * a.n; }

  template <class G>
  WB_HD void operator()(std::size_t row, int, G g, void*) const {
    if (a.out_bits.data != nullptr) copy(a.bits, a.out_bits, row, g);
    if (a.out_soft.data != nullptr) copy(a.soft, a.out_soft, row, g);
  }

 private:
  template <class V, class G>
  WB_HD void copy(const view<const V>& from, const view<V>& to, std::size_t row, G g) const {
    const transport_row<const V> in(from, row);
    const transport_row<V> out(to, row);
    for (int i = g.rank; i < a.n; i += g.size) out[i] = in[i];
    for (int i = a.n + g.rank; i < static_cast<int>(to.elements); i += g.size) out[i] = V(0);
  }
};

using nr_crc_op = transport_crc_op<nr_blocks>;
using nr_segment_op = transport_segment_op<nr_blocks>;
using nr_assemble_op = transport_assemble_op<nr_blocks>;
using nr_harq_op = transport_harq_op<nr_blocks>;

}  // namespace WB_ISA
}  // namespace wb
