#pragma once
// The LTE transport channel as ops. Each moves bits or LLRs of a code block between places that a table or
// the segmentation gives, so the threads of a block share a code block, and a CPU thread has one to itself.
#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/fec/lte/lte_args.hpp>

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

/// The part of block b's bits of the transport block in its CRC-24A.
template <class G>
WB_HD std::int32_t lte_crc_part(const lte_blocks& at, const lte_block& b,
                                const view<const std::uint8_t>& bits, const std::int32_t* weights, G g) {
  const lte_row<const std::uint8_t> in(bits, b.transport);
  const int end = b.first_bit + b.payload < at.transport_bits ? b.first_bit + b.payload : at.transport_bits;
  std::int32_t part = 0;
  for (int i = b.first_bit + g.rank; i < end; i += g.size)
    part ^= -static_cast<std::int32_t>(in[i] & 1) & weights[i];
  return g.xor_all(part);
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
    std::int32_t parity = 0;  // only the last block has bits of it
    if (a.at.blocks == 1)
      parity = lte_crc_part(a.at, b, a.bits, a.transport_weights, g);
    else if (b.r == a.at.blocks - 1)
      for (int r = 0; r < a.at.blocks; r++) parity ^= lte_row<const std::int32_t>(a.part, b.transport)[r];
    const std::int32_t* weights = a.block_weights + (a.at.k[1] - b.k);
    const int end = b.fillers + b.payload, shift = b.first_bit - b.fillers;
    std::int32_t check = 0;
    for (int i = g.rank; i < end; i += g.size) {
      const int s = i + shift;
      std::int32_t bit = 0;
      if (i >= b.fillers)
        bit = s < a.at.transport_bits ? in[s] & 1 : parity >> (23 - (s - a.at.transport_bits)) & 1;
      out[i] = static_cast<std::uint8_t>(bit);
      if (a.at.block_crc_bits != 0) check ^= -bit & weights[i];
    }
    if (a.at.block_crc_bits == 0) return;
    check = g.xor_all(check);
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
    const int sent = lte_sent(a.sent, b.r), different = sent < ring.length ? sent : ring.length;
    for (int i = g.rank; i < different; i += g.size) {
      const int at = ring.start + i < ring.length ? ring.start + i : ring.start + i - ring.length;
      const std::uint8_t bit = in[ring.table[at]];
      for (int k = i; k < sent; k += ring.length) out[before + static_cast<std::size_t>(k)] = bit;
    }
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
    const int sent = a.sent.least + a.sent.step;
    return sizeof(float) * static_cast<std::size_t>(sent < most ? sent : most);
  }
  /// Sums and limits.
  double flops() const { return mean_sent(a.at, a.sent) + 3 * 3 * (mean_k(a.at) + 4); }
  double bytes() const { return 4 * mean_sent(a.at, a.sent) + (a.first ? 4 : 8) * 3 * (mean_k(a.at) + 4); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void* scratch) const {
    const lte_block b(a.at, first);
    const lte_ring ring = a.ring[b.ring];
    const lte_row<const float> in(a.llr, b.transport);
    const lte_row<float> soft(a.soft[b.kind], b.row);
    const std::size_t before = lte_sent_before(a.sent, b.r);
    const int sent = lte_sent(a.sent, b.r), different = sent < ring.length ? sent : ring.length;
    float* sums = static_cast<float*>(scratch);
    bool bad = false, some = false;
    for (int i = g.rank; i < different; i += g.size) {
      float sum = in[before + static_cast<std::size_t>(i)];
      for (int k = i + ring.length; k < sent; k += ring.length)
        sum = sum + in[before + static_cast<std::size_t>(k)];
      bad = bad | !is_finite(sum);  // as it is where any of its LLRs is not
      some = some | (sum < 0.f) | (sum > 0.f);
      sums[i] = sum;
    }
    const bool erased = g.any(bad), received = g.any(some) & !erased;
    g.sync();
    const int places = 3 * (b.k + 4);
    if (a.first | !erased) {
      for (int i = g.rank; i < places; i += g.size) {
        const std::int32_t number = ring.table[i];
        const int k = number >= ring.start ? number - ring.start : number - ring.start + ring.length;
        const bool got = (number >= 0) & (k < sent) & !erased;
        const float sum = got ? sums[k] : 0.f;
        if (a.first)
          soft[i] = number == lte_filler ? lte_filler_llr : saturate(sum, lte_most_llr) + 0.f;
        else if (got)
          soft[i] = saturate(soft[i] + sum, lte_most_llr) + 0.f;
      }
    }
    if (g.rank == 0 && a.marks.data != nullptr) {
      std::uint8_t& mark = lte_row<std::uint8_t>(a.marks, b.transport)[b.r];
      mark = static_cast<std::uint8_t>((a.first ? 0 : mark) | (erased ? status_erased : 0) |
                                       (received ? lte_received : 0));
    }
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
    const bool wanted = a.bits.data != nullptr, own_crc = a.at.block_crc_bits != 0;
    const lte_row<std::uint8_t> out(a.bits, wanted ? b.transport : 0);
    const std::int32_t* weights = a.block_weights + (a.at.k[1] - b.k);
    const int end = b.fillers + b.payload, shift = b.first_bit - b.fillers;
    std::int32_t check = 0, part = 0;
    for (int i = g.rank; i < b.k; i += g.size) {
      const std::uint8_t bit = in[i];
      const std::int32_t all = -static_cast<std::int32_t>(bit);
      if (own_crc) check ^= all & weights[i];
      if ((i >= b.fillers) & (i < end)) {
        const int s = i + shift;
        part ^= all & a.transport_weights[s];
        if (wanted & (s < a.at.transport_bits)) out[s] = bit;
      }
    }
    part = g.xor_all(part);
    check = own_crc ? g.xor_all(check) : part;
    if (g.rank == 0) {
      const std::uint8_t mark = lte_row<const std::uint8_t>(a.marks, b.transport)[b.r];
      // Zeros satisfy any CRC, but a block of which nothing is known is not decoded.
      const bool ok = check == 0 && (mark & lte_received) != 0;
      if (a.block_ok.data != nullptr) lte_row<std::uint8_t>(a.block_ok, b.transport)[b.r] = ok ? 1 : 0;
      if (a.iterations_used.data != nullptr)
        lte_row<std::int32_t>(a.iterations_used, b.transport)[b.r] =
            lte_row<const std::int32_t>(a.iterations[b.kind], b.row)[0];
      lte_row<std::int32_t>(a.part, b.transport)[b.r] =
          part | (ok ? 0 : lte_block_failed) | ((mark & status_erased) != 0 ? lte_block_erased : 0);
    }
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
      store_int<T>(a.status, 0, item, select((flags & I(lte_block_erased)) != I(0), I(status_erased), I(0)));
  }
};

}  // namespace WB_ISA
}  // namespace wb
