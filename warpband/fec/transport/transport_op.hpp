#pragma once
// What the transport channels of LTE and 5G NR have alike, as ops: CRCs, segmentation, what is known of a
// code block's reception, and the decision whether it is right. Each moves bits or LLRs of a code block
// between places that a table or the segmentation gives. So the threads of a block share a code block, and a
// CPU thread has one to itself.
//
// A channel has, beside its Blocks (transport_args.hpp), block_of(segments, index) with the members of
// lte_block, and place_of(segments, ring, i): where the codeword has the ring's number i. put_fillers(block,
// soft, g) writes the LLRs of its filler bits.
#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/format/harq_values.hpp>
#include <warpband/fec/transport/transport_args.hpp>
#include <warpband/fec/usable.hpp>

namespace wb {
inline namespace WB_ISA {

/// Bits that block r sends, and how many the blocks before it do.
WB_HD int sent_by(const transport_sent_bits& s, int r) { return s.least + (r >= s.larger ? s.step : 0); }
WB_HD std::size_t sent_before(const transport_sent_bits& s, int r) {
  return static_cast<std::size_t>(r) * static_cast<std::size_t>(s.least) +
         static_cast<std::size_t>(r > s.larger ? r - s.larger : 0) * static_cast<std::size_t>(s.step);
}

/// A row of a view.
template <class S>
struct transport_row {
  S* data;
  std::size_t stride;
  WB_HD transport_row(S* p, std::size_t s) : data(p), stride(s) {}
  WB_HD transport_row(const view<S>& v, std::size_t item)
      : data(v.data + item * v.item_stride), stride(v.element_stride) {}
  WB_HD S& operator[](std::size_t i) const { return data[i * stride]; }
  WB_HD S& operator[](int i) const { return data[static_cast<std::size_t>(i) * stride]; }
};

/// What all of these ops have in common. For each item so much: the mean over the blocks of a transport
/// block.
template <class Args>
struct transport_op {
  Args a;
  static constexpr bool by_block = true;
  static constexpr int at_once = 1;
  explicit transport_op(const Args& args) : a(args) {}
  int threads() const { return a.segments.longest() >= 1024 ? 256 : 64; }
  std::size_t scratch_bytes(int) const { return 0; }
  double flops() const { return 0; }
  double mean_sent() const {
    return a.sent.least + 1.0 * a.sent.step * (a.segments.blocks - a.sent.larger) / a.segments.blocks;
  }
};

/// Calls f(T(), i) for the neighbours first..last - 1, on a CPU for as many at a time as T has lanes where
/// they lie `side_by_side`. f must be an inline lambda.
template <class G, class F>
WB_HD void transport_each(int first, int last, [[maybe_unused]] bool side_by_side, G g, F f) {
#if WB_WIDTH > 1
  if (side_by_side)
    for (; first + width_of<lane> <= last; first += width_of<lane>) f(lane(), first);
#endif
  for (int i = first + g.rank; i < last; i += g.size) f(float(), i);
}
/// Neighbours of a row, and of an array.
template <class T>
WB_HD T transport_load(const transport_row<const float>& row, std::size_t i) {
  if constexpr (width_of<T> == 1) return row[i];
  T x;
  __builtin_memcpy(&x, row.data + i, sizeof x);
  return x;
}
template <class T>
WB_HD void transport_store(float* p, T x) {
  if constexpr (width_of<T> == 1)
    *p = x;
  else
    __builtin_memcpy(p, &x, sizeof x);
}

/// The lowest bits of n bytes. Not in place.
template <class G>
WB_HD void copy_low_bits(const std::uint8_t* in, std::size_t in_stride, std::uint8_t* out,
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
WB_HD std::int32_t transport_crc_sum(const std::uint8_t* in, std::size_t stride, const std::int32_t* weights,
                                     int n, G g) {
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

/// Bits of block b that are of the transport block, not of its CRC.
template <class Blocks, class Block>
WB_HD int own_bits(const Blocks& segments, const Block& b) {
  const int left = segments.transport_bits - b.first_bit;
  return left < 0 ? 0 : left < b.payload ? left : b.payload;
}
/// Their part in the CRC of the transport block.
template <class Blocks, class Block, class G>
WB_HD std::int32_t transport_crc_part(const Blocks& segments, const Block& b,
                                      const view<const std::uint8_t>& bits, const std::int32_t* weights,
                                      G g) {
  const transport_row<const std::uint8_t> in(bits, b.transport);
  return transport_crc_sum(in.data + static_cast<std::size_t>(b.first_bit) * in.stride, in.stride,
                           weights + b.first_bit, own_bits(segments, b), g);
}

template <class Blocks>
struct transport_crc_op : transport_op<transport_crc_args<Blocks>> {
  using transport_op<transport_crc_args<Blocks>>::transport_op;
  double bytes() const { return this->a.segments.mean_k() + 4; }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const auto& a = this->a;
    const auto b = block_of(a.segments, first);
    const std::int32_t part = transport_crc_part(a.segments, b, a.bits, a.transport_weights, g);
    if (g.rank == 0) transport_row<std::int32_t>(a.part, b.transport)[b.r] = part;
  }
};

/// TS 36.212 §5.1.2 and TS 38.212 §5.2.2: fillers in front, bits, CRCs, fillers behind.
template <class Blocks>
struct transport_segment_op : transport_op<transport_segment_args<Blocks>> {
  using transport_op<transport_segment_args<Blocks>>::transport_op;
  double bytes() const { return this->a.segments.mean_k() + this->a.segments.mean_padded(); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const auto& a = this->a;
    const auto b = block_of(a.segments, first);
    const transport_row<const std::uint8_t> in(a.bits, b.transport);
    const transport_row<std::uint8_t> out(a.blocks[b.kind], b.row);
    const int data_bits = own_bits(a.segments, b), end = b.fillers + b.payload;
    for (int i = g.rank; i < b.fillers; i += g.size) out[i] = 0;
    for (int i = b.k + g.rank; i < b.padded; i += g.size) out[i] = 0;
    copy_low_bits(in.data + static_cast<std::size_t>(b.first_bit) * in.stride, in.stride, &out[b.fillers],
                  out.stride, data_bits, g);
    // The last block, or a part of it: it ends with the parity of the transport block.
    if (data_bits < b.payload) {
      std::int32_t parity = 0;
      if (a.segments.blocks == 1)
        parity = transport_crc_part(a.segments, b, a.bits, a.transport_weights, g);
      else
        for (int r = 0; r < a.segments.blocks; r++)
          parity ^= transport_row<const std::int32_t>(a.part, b.transport)[r];
      const int last = a.segments.transport_bits + a.segments.crc_bits - 1 - b.first_bit;
      for (int i = data_bits + g.rank; i < b.payload; i += g.size)
        out[b.fillers + i] = static_cast<std::uint8_t>(parity >> (last - i) & 1);
    }
    if (a.segments.block_crc_bits == 0) return;
    g.sync();
    const std::int32_t check = transport_crc_sum(out.data, out.stride, a.block_weights + b.shorter, end, g);
    for (int i = g.rank; i < a.segments.block_crc_bits; i += g.size)
      out[end + i] = static_cast<std::uint8_t>(check >> (a.segments.block_crc_bits - 1 - i) & 1);
  }
};

/// Notes what was received of a block by a transmission of `sent` bits: marks and history of Args. `llr`:
/// number i of these bits.
template <class Args, class Block, class Llr, class G>
WB_HD void note_reception(const Args& a, const Block& b, int sent, bool erased, std::int32_t usable, Llr llr,
                          G g) {
  if (g.rank == 0 && a.marks.data != nullptr) {
    std::uint8_t& mark = transport_row<std::uint8_t>(a.marks, b.transport)[b.r];
    mark = erased ? status_erased : a.first ? std::uint8_t{0} : mark;
  }
  if (a.history.data == nullptr) return;
  const transport_row<std::int32_t> entries(a.history, b.transport);
  const auto entry = [&](int field) -> std::int32_t& {
    return entries[transport_history_size * b.r + field];
  };
  const int order = a.modulation_order, symbols = sent / order;
  const int step = (symbols + transport_counted_symbols - 1) / transport_counted_symbols;
  std::int32_t signs = 0, positive = 0;
  if (order > 2 && !erased)
    for (int s = g.rank * step; s < symbols; s += g.size * step) {
      const float least = abs(llr(s * order + 2)) * zeros_least;  // by an amplitude of the same symbol
      signs += 2;
      positive += (llr(s * order) > least ? 1 : 0) + (llr(s * order + 1) > least ? 1 : 0);
    }
  signs = g.sum_all(signs);
  positive = g.sum_all(positive);
  if (g.rank != 0) return;
  if (a.first) entry(transport_signs) = entry(transport_positive) = entry(transport_versions) = 0;
  if (a.first || !erased) entry(transport_usable) = usable;
  entry(transport_signs) += signs;
  entry(transport_positive) += positive;
  if (!erased) entry(transport_versions) |= 1 << a.rv;
}

/// Decisions of code blocks to transport blocks, and what the CRCs say of them.
template <class Blocks>
struct transport_assemble_op : transport_op<transport_assemble_args<Blocks>> {
  using transport_op<transport_assemble_args<Blocks>>::transport_op;
  double bytes() const { return (this->a.bits.data != nullptr ? 2 : 1) * this->a.segments.mean_k(); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const auto& a = this->a;
    const auto b = block_of(a.segments, first);
    const transport_row<const std::uint8_t> in(a.decided[b.kind], b.row);
    if (a.bits.data != nullptr) {
      const transport_row<std::uint8_t> out(a.bits, b.transport);
      copy_low_bits(&in[b.fillers], in.stride, out.data + static_cast<std::size_t>(b.first_bit) * out.stride,
                    out.stride, own_bits(a.segments, b), g);
    }
    const std::int32_t part =
        transport_crc_sum(&in[b.fillers], in.stride, a.transport_weights + b.first_bit, b.payload, g);
    std::int32_t check = part;
    if (a.segments.block_crc_bits != 0)
      check = transport_crc_sum(in.data, in.stride, a.block_weights + b.shorter, b.k, g);
    const std::uint8_t mark = transport_row<const std::uint8_t>(a.marks, b.transport)[b.r];
    bool enough = history(b, transport_usable) >= b.k - b.fillers && !erased(b);
    if (enough && check == 0) {  // which zeros satisfy, whatever was received
      bool ones = false;
      for (int i = g.rank; i < b.k; i += g.size) ones = ones || in[i] != 0;
      if (!g.any(ones)) enough = received_zeros(b, g);
    }
    if (g.rank != 0) return;
    const bool ok = check == 0 && enough;
    if (a.block_ok.data != nullptr) transport_row<std::uint8_t>(a.block_ok, b.transport)[b.r] = ok ? 1 : 0;
    if (a.iterations_used.data != nullptr)
      transport_row<std::int32_t>(a.iterations_used, b.transport)[b.r] =
          transport_row<const std::int32_t>(a.iterations[b.kind], b.row)[0];
    transport_row<std::int32_t>(a.part, b.transport)[b.r] = part | (ok ? 0 : transport_block_failed) |
                                                            (mark != 0 ? transport_block_erased : 0) |
                                                            (enough ? 0 : transport_block_insufficient);
  }

 private:
  template <class Block>
  WB_HD std::int32_t history(const Block& b, int field) const {
    return transport_row<const std::int32_t>(this->a.history,
                                             b.transport)[transport_history_size * b.r + field];
  }
  template <class Block>
  WB_HD bool erased(const Block& b) const {
    const view<const std::uint8_t>& status = this->a.decided_status[b.kind];
    return status.data != nullptr &&
           (transport_row<const std::uint8_t>(status, b.row)[0] & status_erased) != 0;
  }
  /// Whether what was received supports an all-zero block: zeros_share of the LLRs (usable.hpp), and more
  /// zeros than ones among the signs, by four standard deviations of signs at random. These are the signs of
  /// symbols, where they are counted: noise alone tells zeros of a 16-QAM symbol's amplitudes. Else they are
  /// those of the soft buffer. It decides where a decoder had no start: without systematic LLRs the LDPC
  /// decoder of NR gives zeros.
  template <class Block, class G>
  WB_HD bool received_zeros(const Block& b, G g) const {
    const auto& a = this->a;
    const std::int32_t signs = history(b, transport_signs);
    if (signs > 0 && !beyond_chance(history(b, transport_positive), signs)) return false;
    const auto& ring = a.ring[b.ring];
    const transport_row<const float> soft(a.soft[b.kind], b.row);
    const int sent = sent_by(a.sent, b.r), versions = history(b, transport_versions);
    float largest = 0.f;
    for (int i = g.rank; i < ring.length; i += g.size)
      largest = max(largest, abs(soft[place_of(a.segments, ring, i)]));
    const float least = max(g.max_all(largest) * zeros_least, a.least);
    std::int32_t reached = 0, usable = 0, positive = 0;
    for (int i = g.rank; i < ring.length; i += g.size) {
      bool sent_once = false;
      for (int rv = 0; rv < 4; rv++) {
        const int offset = i - a.start[b.ring][rv];
        sent_once =
            sent_once || ((versions >> rv & 1) != 0 && (offset < 0 ? offset + ring.length : offset) < sent);
      }
      reached += sent_once ? 1 : 0;
      const float llr = soft[place_of(a.segments, ring, i)];
      usable += abs(llr) > least ? 1 : 0;
      positive += llr > least ? 1 : 0;
    }
    reached = g.sum_all(reached), usable = g.sum_all(usable), positive = g.sum_all(positive);
    return zeros_share * reached <= zeros_whole * usable && (signs > 0 || beyond_chance(positive, usable));
  }
  /// Whether so many of `signs` signs are positive that chance does not explain it.
  static WB_HD bool beyond_chance(std::int64_t positive, std::int64_t signs) {
    const std::int64_t more = 2 * positive - signs;
    return more > 0 && more * more >= 16 * signs;
  }
};

/// Soft buffers from or to memory of the caller.
template <class Blocks>
struct transport_harq_op : transport_op<transport_harq_args<Blocks>> {
  using transport_op<transport_harq_args<Blocks>>::transport_op;
  double flops() const { return 2.0 * this->a.length; }
  double bytes() const {
    return (4.0 + static_cast<double>(harq_value_bytes(this->a.format))) * this->a.length;
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const auto& a = this->a;
    const auto b = block_of(a.segments, first);
    const transport_row<float> soft(a.soft[b.kind], b.row);
    if (a.reads) {
      const int places = static_cast<int>(a.soft[b.kind].elements);
      for (int i = g.rank; i < places; i += g.size) soft[i] = 0.f;
      g.sync();
      put_fillers(b, soft, g);
    }
    std::uint8_t* const memory = a.memory + b.transport * a.stride;
    std::uint8_t* states = nullptr;  // behind the values
    const auto& ring = a.ring[b.ring];
    std::int32_t usable = 0;
    with_harq_format(a.format, [&](auto format) WB_INLINE_LAMBDA {
      using value = typename decltype(format)::type;
      states = memory + sizeof(value) * static_cast<std::size_t>(a.segments.blocks) *
                            static_cast<std::size_t>(a.length);
      value* const values = reinterpret_cast<value*>(memory) + b.r * a.length;
      for (int i = g.rank; i < ring.length; i += g.size) {
        float& x = soft[place_of(a.segments, ring, i)];
        if (!a.reads) values[i] = format.rounded(x / a.scale);
        x = format.load(values[i]) * a.scale + 0.f;
        usable += abs(x) > a.least ? 1 : 0;
      }
      if (!a.reads)
        for (int i = ring.length + g.rank; i < a.length; i += g.size) values[i] = 0;
    });
    usable = g.sum_all(usable);
    if (g.rank == 0) pass_state(b, usable, states);
  }

 private:
  template <class Block>
  WB_HD void pass_state(const Block& b, std::int32_t usable, std::uint8_t* states) const {
    const auto& a = this->a;
    std::uint8_t* const state = states + transport_state_bytes * b.r;
    const transport_row<std::int32_t> history(a.history, b.transport);
    std::uint8_t& mark = transport_row<std::uint8_t>(a.marks, b.transport)[b.r];
    for (int f = 0; f < transport_history_size; f++) {
      std::int32_t& entry = history[transport_history_size * b.r + f];
      if (a.reads) entry = 0;
      if (f == transport_usable) entry = usable;  // of the rounded LLRs
      for (int i = 0; i < 4; i++)
        if (a.reads && f != transport_usable)
          entry |= static_cast<std::int32_t>((state[4 * f + i] & (i < 3 ? 0xffu : 0x1fu)) << 8 * i);
        else if (!a.reads)
          state[4 * f + i] = static_cast<std::uint8_t>(entry >> 8 * i);
    }
    std::uint8_t* const behind = state + 4 * transport_history_size;
    if (a.reads) {
      mark = static_cast<std::uint8_t>(behind[0] & status_erased);
    } else {
      behind[0] = mark;
      behind[1] = 0;
    }
  }
};

struct transport_finish_op : thread_op<transport_finish_args> {
  double flops() const { return 0; }
  double bytes() const { return 4.0 * a.blocks + 2; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using I = typename rebind<T>::i32;
    I parts = I(0), flags = I(0);
    for (int r = 0; r < a.blocks; r++) {
      const I part = load_int<T>(a.part, static_cast<std::size_t>(r), item);
      parts = parts ^ (part & I(transport_block_failed - 1));
      flags = flags | part;
    }
    const auto ok = (parts == I(0)) & ((flags & I(transport_block_failed)) == I(0));
    if (a.ok.data != nullptr) store_int<T>(a.ok, 0, item, select(ok, I(1), I(0)));
    if (a.status.data != nullptr)
      store_int<T>(
          a.status, 0, item,
          select((flags & I(transport_block_insufficient)) != I(0), I(status_erased | status_insufficient),
                 select((flags & I(transport_block_erased)) != I(0), I(status_erased), I(0))));
  }
};

}  // namespace WB_ISA
}  // namespace wb
