#pragma once
// The 5G NR transport channel as ops. The threads of a block share a code block, and a CPU thread has one to
// itself.
#include <warpband/fec/lte/lte_op.hpp>
#include <warpband/fec/nr/nr_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Code block number `index` of a batch.
struct nr_block {
  std::size_t transport, row;
  int r, payload, first_bit;

  WB_HD nr_block(const nr_blocks& at, std::size_t index) : row(index) {
    const std::size_t c = static_cast<std::size_t>(at.blocks);
    transport = index / c;
    r = static_cast<int>(index - transport * c);
    payload = at.k - at.block_crc_bits;
    first_bit = r * payload;
  }
};
/// Bits of block b that are of the transport block, not of its CRC.
WB_HD int nr_own_bits(const nr_blocks& at, const nr_block& b) {
  const int left = at.transport_bits - b.first_bit;
  return left < 0 ? 0 : left < b.payload ? left : b.payload;
}
template <class G>
WB_HD std::int32_t nr_crc_part(const nr_blocks& at, const nr_block& b, const view<const std::uint8_t>& bits,
                               const std::int32_t* weights, G g) {
  const lte_row<const std::uint8_t> in(bits, b.transport);
  const int own = nr_own_bits(at, b);
  return lte_crc_sum(in.data + static_cast<std::size_t>(b.first_bit) * in.stride, in.stride,
                     weights + b.first_bit, own, g);
}
/// Where the codeword has the ring's number i.
WB_HD int nr_place(const nr_blocks& at, int i) {
  const int sent = at.k - at.punctured;
  return i < sent ? i + at.punctured : i - sent + at.padded;
}

/// The transmission of a code block as runs of its ring: run(at, n, symbols) of the ring's numbers
/// at..at + n - 1, of which the first is sent at place `to` and the others every `order` behind it; `again`:
/// the ring was passed before. TS 38.212 §5.4.2.1 and §5.4.2.2: bit p of the selected ones goes to place
/// i + j Q_m with i = p / (E / Q_m), j = p mod (E / Q_m).
template <class F>
WB_HD void nr_runs(const nr_ring& ring, int sent, int order, F run) {
  const int columns = sent / order;
  for (int p = 0, at = ring.start, i = 0, j = 0; p < sent;) {
    int n = ring.length - at;
    if (at < ring.start) n = ring.start - at;
    if (n > columns - j) n = columns - j;
    // A run passes neither the ring's start nor its end, nor a row of the interleaver.
    run(at, n, i + j * order, p >= ring.length);
    p += n;
    at = at + n == ring.length ? 0 : at + n;
    j += n;
    if (j == columns) j = 0, i++;
  }
}

/// What all of these ops have in common.
struct nr_block_op {
  static constexpr bool by_block = true;
  static constexpr int at_once = 1;
  static int threads_for(const nr_blocks& at) { return at.k >= 1024 ? 256 : 64; }
  static double mean_sent(const nr_blocks& at, const lte_sent_bits& s) {
    return s.least + 1.0 * s.step * (at.blocks - s.larger) / at.blocks;
  }
};

struct nr_crc_op : nr_block_op {
  nr_crc_args a;
  explicit nr_crc_op(const nr_crc_args& args) : a(args) {}
  int threads() const { return threads_for(a.at); }
  std::size_t scratch_bytes(int) const { return 0; }
  double flops() const { return 0; }
  double bytes() const { return a.at.k + 4; }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const nr_block b(a.at, first);
    const std::int32_t part = nr_crc_part(a.at, b, a.bits, a.transport_weights, g);
    if (g.rank == 0) lte_row<std::int32_t>(a.part, b.transport)[b.r] = part;
  }
};

/// TS 38.212 §5.2.2.
struct nr_segment_op : nr_block_op {
  nr_segment_args a;
  explicit nr_segment_op(const nr_segment_args& args) : a(args) {}
  int threads() const { return threads_for(a.at); }
  std::size_t scratch_bytes(int) const { return 0; }
  double flops() const { return 0; }
  double bytes() const { return a.at.k + a.at.padded; }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const nr_block b(a.at, first);
    const lte_row<const std::uint8_t> in(a.bits, b.transport);
    const lte_row<std::uint8_t> out(a.blocks, b.row);
    const int own = nr_own_bits(a.at, b);
    lte_copy_bits(in.data + static_cast<std::size_t>(b.first_bit) * in.stride, in.stride, out.data,
                  out.stride, own, g);
    if (own < b.payload) {  // the last block, or a part of it: it ends with the parity of the transport block
      std::int32_t parity = 0;
      if (a.at.blocks == 1)
        parity = nr_crc_part(a.at, b, a.bits, a.transport_weights, g);
      else
        for (int r = 0; r < a.at.blocks; r++) parity ^= lte_row<const std::int32_t>(a.part, b.transport)[r];
      for (int i = own + g.rank; i < b.payload; i += g.size)
        out[i] = static_cast<std::uint8_t>(
            parity >> (a.at.transport_bits + a.at.crc_bits - 1 - b.first_bit - i) & 1);
    }
    for (int i = a.at.k + g.rank; i < a.at.padded; i += g.size) out[i] = 0;
    if (a.at.block_crc_bits == 0) return;
    g.sync();
    const std::int32_t check = lte_crc_sum(out.data, out.stride, a.block_weights, b.payload, g);
    for (int i = g.rank; i < a.at.block_crc_bits; i += g.size)
      out[b.payload + i] = static_cast<std::uint8_t>(check >> (a.at.block_crc_bits - 1 - i) & 1);
  }
};

/// TS 38.212 §5.4.2 and §5.5, TS 38.211 §6.3.1.1: selected, interleaved, concatenated, scrambled.
struct nr_match_op : nr_block_op {
  nr_match_args a;
  explicit nr_match_op(const nr_match_args& args) : a(args) {}
  int threads() const { return threads_for(a.at); }
  std::size_t scratch_bytes(int) const { return 0; }
  double flops() const { return 0; }
  double bytes() const { return (a.scrambling != nullptr ? 3 : 2) * mean_sent(a.at, a.sent); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const nr_block b(a.at, first);
    const lte_row<const std::uint8_t> in(a.coded, b.row);
    const lte_row<std::uint8_t> out(a.out, b.transport);
    const std::size_t before = lte_sent_before(a.sent, b.r);
    const int order = a.modulation_order;
    nr_runs(a.ring, lte_sent(a.sent, b.r), order, [&](int at, int n, int to, bool) WB_INLINE_LAMBDA {
      for (int i = g.rank; i < n; i += g.size) {
        const std::size_t place = before + static_cast<std::size_t>(to + i * order);
        const std::uint8_t scrambled = a.scrambling != nullptr ? a.scrambling[place] : std::uint8_t{0};
        out[place] = static_cast<std::uint8_t>((in[nr_place(a.at, at + i)] ^ scrambled) & 1);
      }
    });
  }
};

/// The reverse: LLRs of a bit that was sent several times add up, first those of the transmission, then their
/// sum to what the soft buffer holds.
struct nr_combine_op : nr_block_op {
  nr_combine_args a;
  explicit nr_combine_op(const nr_combine_args& args) : a(args) {}
  int threads() const { return threads_for(a.at); }
  std::size_t scratch_bytes(int) const { return sizeof(float) * static_cast<std::size_t>(a.ring.length); }
  /// The mean of the blocks: sums of repetitions, at each place a sum, two limits and that of the store.
  double flops() const {
    const double repeated = mean_sent(a.at, a.sent) - a.ring.length;
    return (repeated > 0 ? repeated : 0) + (a.first ? 3.0 : 4.0) * a.ring.length;
  }
  double bytes() const {
    return (a.scrambling != nullptr ? 5 : 4) * mean_sent(a.at, a.sent) +
           (a.first ? 4.0 * a.at.codeword : 8.0 * a.ring.length);
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void* scratch) const {
    const nr_block b(a.at, first);
    const lte_row<const float> in(a.llr, b.transport);
    const lte_row<float> soft(a.soft, b.row);
    const std::size_t before = lte_sent_before(a.sent, b.r);
    const int sent = lte_sent(a.sent, b.r);
    float* sums = static_cast<float*>(scratch);  // of the transmission, by number in the ring
    if (sent < a.ring.length) {                  // places that it did not reach
      for (int i = g.rank; i < a.ring.length; i += g.size) sums[i] = 0.f;
      g.sync();
    }
    bool bad = false;
    nr_runs(a.ring, sent, a.modulation_order, [&](int at, int n, int to, bool again) WB_INLINE_LAMBDA {
      if (again) g.sync();  // other threads' sums
      for (int i = g.rank; i < n; i += g.size) {
        float x = received(in, before + static_cast<std::size_t>(to + i * a.modulation_order));
        if (again) x = sums[at + i] + x;
        bad = bad | !is_finite(x);
        sums[at + i] = x;
      }
    });
    const bool erased = g.any(bad);
    g.sync();
    const std::int32_t usable = g.sum_all(add(soft, sums, erased, g));
    if (g.rank == 0 && a.marks.data != nullptr) {
      std::uint8_t& mark = lte_row<std::uint8_t>(a.marks, b.transport)[b.r];
      mark = erased ? status_erased : a.first ? std::uint8_t{0} : mark;
    }
    if (a.history.data != nullptr) remember(b, in, before, sent, erased, usable, g);
  }

 private:
  /// LLR number `place` of the transport block without its scrambling.
  WB_HD float received(const lte_row<const float>& in, std::size_t place) const {
    const float x = in[place];
    return a.scrambling != nullptr && a.scrambling[place] != 0 ? -x : x;
  }
  /// The sums into the soft buffer. Returns how many LLRs there are usable, of those that this thread has.
  template <class G>
  WB_HD std::int32_t add(const lte_row<float>& soft, const float* sums, bool erased, G g) const {
    if (a.first) {
      for (int i = g.rank; i < a.at.punctured; i += g.size) soft[i] = 0.f;
      for (int i = a.at.k + g.rank; i < a.at.padded; i += g.size) soft[i] = nr_filler_llr;
      for (int i = nr_place(a.at, a.ring.length - 1) + 1 + g.rank; i < a.at.codeword; i += g.size)
        if (i < a.at.k || i >= a.at.padded) soft[i] = 0.f;
    }
    std::int32_t usable = 0;
    if (erased && !a.first) return usable;
    const int systematic = a.at.k - a.at.punctured < a.ring.length ? a.at.k - a.at.punctured : a.ring.length;
    for (int part = 0; part < 2; part++) {  // what stands before the fillers, and what behind them
      const int begin = part == 0 ? 0 : systematic, n = (part == 0 ? systematic : a.ring.length) - begin;
      const lte_row<float> to(&soft[nr_place(a.at, begin)], soft.stride);
      lte_each(0, n, soft.stride == 1, g, [&](auto type, int i) WB_INLINE_LAMBDA {
        using T = decltype(type);
        using I = typename rebind<T>::i32;
        T x = erased ? T(0.f) : lte_load<T>({sums + begin, 1}, static_cast<std::size_t>(i));
        if (!a.first) x = lte_load<T>({to.data, to.stride}, static_cast<std::size_t>(i)) + x;
        x = saturate(x, lte_most_llr) + T(0.f);
        usable += sum_of_lanes(select(abs(x) > T(a.least), I(1), I(0)));
        lte_store(&to[i], x);
      });
    }
    return usable;
  }
  template <class G>
  WB_HD void remember(const nr_block& b, const lte_row<const float>& in, std::size_t before, int sent,
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
        positive += (received(in, at) > least ? 1 : 0) + (received(in, at + 1) > least ? 1 : 0);
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

/// From codewords back to the transmission, as nr_match_op has it: extrinsic + (soft - llr), scrambled.
struct nr_feedback_op : nr_block_op {
  nr_feedback_args a;
  explicit nr_feedback_op(const nr_feedback_args& args) : a(args) {}
  int threads() const { return threads_for(a.at); }
  std::size_t scratch_bytes(int) const { return 0; }
  double flops() const { return 2 * mean_sent(a.at, a.sent); }
  double bytes() const { return (a.scrambling != nullptr ? 17 : 16) * mean_sent(a.at, a.sent); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const nr_block b(a.at, first);
    const lte_row<const float> extrinsic(a.extrinsic, b.row), soft(a.soft, b.row), llr(a.llr, b.transport);
    const lte_row<float> prior(a.prior, b.transport);
    const std::size_t before = lte_sent_before(a.sent, b.r);
    const int order = a.modulation_order;
    nr_runs(a.ring, lte_sent(a.sent, b.r), order, [&](int at, int n, int to, bool) WB_INLINE_LAMBDA {
      for (int i = g.rank; i < n; i += g.size) {
        const std::size_t place = before + static_cast<std::size_t>(to + i * order);
        const int number = nr_place(a.at, at + i);
        const bool turned = a.scrambling != nullptr && a.scrambling[place] != 0;
        const float own = turned ? -llr[place] : llr[place];
        const float known = extrinsic[number] + (soft[number] - own);
        prior[place] = (turned ? -known : known) + 0.f;
      }
    });
  }
};

/// Decisions of code blocks to transport blocks, and what the CRCs say of them. lte_finish_op sums them up.
struct nr_assemble_op : nr_block_op {
  nr_assemble_args a;
  explicit nr_assemble_op(const nr_assemble_args& args) : a(args) {}
  int threads() const { return threads_for(a.at); }
  std::size_t scratch_bytes(int) const { return 0; }
  double flops() const { return 0; }
  double bytes() const { return (a.bits.data != nullptr ? 2.0 : 1.0) * a.at.k; }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const nr_block b(a.at, first);
    const lte_row<const std::uint8_t> in(a.decided, b.row);
    if (a.bits.data != nullptr) {
      const lte_row<std::uint8_t> out(a.bits, b.transport);
      lte_copy_bits(in.data, in.stride, out.data + static_cast<std::size_t>(b.first_bit) * out.stride,
                    out.stride, nr_own_bits(a.at, b), g);
    }
    const std::int32_t part =
        lte_crc_sum(in.data, in.stride, a.transport_weights + b.first_bit, b.payload, g);
    std::int32_t check = part;
    if (a.at.block_crc_bits != 0) check = lte_crc_sum(in.data, in.stride, a.block_weights, a.at.k, g);
    const std::uint8_t mark = lte_row<const std::uint8_t>(a.marks, b.transport)[b.r];
    const lte_row<const std::int32_t> history(a.history, b.transport);
    bool enough = history[lte_history_size * b.r + lte_usable] >= a.at.k &&
                  (lte_row<const std::uint8_t>(a.decided_status, b.row)[0] & status_erased) == 0;
    if (enough && check == 0) {  // which zeros satisfy, whatever was received
      bool ones = false;
      for (int i = g.rank; i < a.at.k; i += g.size) ones = ones || in[i] != 0;
      if (!g.any(ones)) enough = received_zeros(b, g);
    }
    if (g.rank == 0) {
      const bool ok = check == 0 && enough;
      if (a.block_ok.data != nullptr) lte_row<std::uint8_t>(a.block_ok, b.transport)[b.r] = ok ? 1 : 0;
      if (a.iterations_used.data != nullptr)
        lte_row<std::int32_t>(a.iterations_used, b.transport)[b.r] =
            lte_row<const std::int32_t>(a.iterations, b.row)[0];
      lte_row<std::int32_t>(a.part, b.transport)[b.r] = part | (ok ? 0 : lte_block_failed) |
                                                        (mark != 0 ? lte_block_erased : 0) |
                                                        (enough ? 0 : lte_block_insufficient);
    }
  }

 private:
  /// Whether what was received supports an all-zero block, as lte_assemble_op has it.
  template <class G>
  WB_HD bool received_zeros(const nr_block& b, G g) const {
    const lte_row<const std::int32_t> all(a.history, b.transport);
    const auto of = [&](int what) { return all[lte_history_size * b.r + what]; };
    const std::int64_t signs = of(lte_signs), more = 2 * static_cast<std::int64_t>(of(lte_positive)) - signs;
    if (signs > 0 && (more <= 0 || more * more < 16 * signs)) return false;
    const lte_row<const float> soft(a.soft, b.row);
    const int sent = lte_sent(a.sent, b.r);
    float most = 0.f;
    for (int i = g.rank; i < a.ring.length; i += g.size) most = max(most, abs(soft[nr_place(a.at, i)]));
    const float least = max(g.max_all(most) * zeros_least, a.least);
    std::int32_t reached = 0, usable = 0;
    for (int i = g.rank; i < a.ring.length; i += g.size) {
      bool sent_once = false;
      for (int rv = 0; rv < 4; rv++) {
        const int at = i - a.start[rv];
        sent_once =
            sent_once || ((of(lte_versions) >> rv & 1) != 0 && (at < 0 ? at + a.ring.length : at) < sent);
      }
      reached += sent_once ? 1 : 0;
      usable += abs(soft[nr_place(a.at, i)]) > least ? 1 : 0;
    }
    return zeros_share * g.sum_all(reached) <= zeros_whole * g.sum_all(usable);
  }
};

struct nr_front_op : nr_block_op {
  nr_front_args a;
  explicit nr_front_op(const nr_front_args& args) : a(args) {}
  int threads() const { return 64; }
  std::size_t scratch_bytes(int) const { return 0; }
  double flops() const { return 0; }
  double bytes() const { return a.out_bits.data != nullptr ? 2.0 * a.n : 8.0 * a.n; }

  template <class G>
  WB_HD void operator()(std::size_t row, int, G g, void*) const {
    if (a.out_bits.data != nullptr) copy(a.bits, a.out_bits, row, g);
    if (a.out_soft.data != nullptr) copy(a.soft, a.out_soft, row, g);
  }

 private:
  template <class V, class G>
  WB_HD void copy(const view<const V>& from, const view<V>& to, std::size_t row, G g) const {
    const lte_row<const V> in(from, row);
    const lte_row<V> out(to, row);
    for (int i = g.rank; i < a.n; i += g.size) out[i] = in[i];
    for (int i = a.n + g.rank; i < static_cast<int>(to.elements); i += g.size) out[i] = V(0);
  }
};

}  // namespace WB_ISA
}  // namespace wb
