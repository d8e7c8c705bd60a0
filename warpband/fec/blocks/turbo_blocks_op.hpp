#pragma once
// What surrounds the turbo code of single blocks, as ops: from the circular buffer to the decoder's LLRs,
// from decisions to packed bits, and both for the encoder (3GPP TS 36.212 §5.1.4.1). The threads of a CUDA
// block share a code block; a CPU thread has one to itself.
#include <warpband/core/group.hpp>
#include <warpband/core/rounding.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/blocks/turbo_blocks_args.hpp>
#include <warpband/fec/transport/transport_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// The sub-block interleaver has 32 columns. Column c of its output is column reversed(c) of its input.
inline constexpr int turbo_columns = 32;
WB_HD int reversed_column(int c) {
  return (c & 1) << 4 | (c & 2) << 2 | (c & 4) | (c & 8) >> 2 | (c & 16) >> 4;
}
/// Eight bytes of 0 or 1 as bits, the first in the most significant place. (Little-endian.)
WB_HD std::uint8_t packed_byte(const std::uint8_t* bits) {
  std::uint64_t x;
  __builtin_memcpy(&x, bits, 8);
  return static_cast<std::uint8_t>(x * 0x8040201008040201u >> 56);
}

/// f(i, value) for the k + 4 places of a stream, whose interleaved values lie `stride` apart. `shift`: 1 for
/// d2, else 0.
template <class G, class F>
WB_HD void each_deinterleaved(const std::int8_t* w, int stride, int k, int shift, G g, F f) {
  const int rows = (k + 4 + turbo_columns - 1) / turbo_columns, places = turbo_columns * rows,
            padding = places - k - 4;
  const int across = g.size < turbo_columns ? g.size : turbo_columns, down = g.size / across;
  for (int c = g.rank % across; c < turbo_columns; c += across) {
    const std::int8_t* column = w + reversed_column(c) * rows * stride;
    for (int r = g.rank / across; r < rows; r += down) {
      const int y = turbo_columns * r + c + shift, i = (y == places ? 0 : y) - padding;
      if (i >= 0) f(i, column[r * stride]);
    }
  }
}

struct turbo_block_input_op : parts_op<turbo_block_input_args> {
  int threads() const { return a.k >= 1024 ? 256 : 64; }
  double flops() const { return 0; }
  double bytes() const { return (a.llr.data != nullptr ? 5 : 2) * 3.0 * (a.k + 4); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const turbo_decode_item block = a.items[first];
    const int k = a.k, places = (k + 4 + turbo_columns - 1) / turbo_columns * turbo_columns;
    const auto each = [&](int stream, auto put) WB_INLINE_LAMBDA {
      if (block.streams) {
        const std::int8_t* w = block.llr + stream * places;
        for (int i = g.rank; i < k + 4; i += g.size) put(stream * (k + 4) + i, w[i]);
      } else {
        each_deinterleaved(stream == 0 ? block.llr : block.llr + places + stream - 1, stream == 0 ? 1 : 2, k,
                           stream == 2 ? 1 : 0, g,
                           [&](int i, std::int8_t x) WB_INLINE_LAMBDA { put(stream * (k + 4) + i, x); });
      }
    };
    // -128 counts as -127.
    const int sign = block.negative ? -1 : 1;
    const auto step_of = [=](std::int8_t x) WB_INLINE_LAMBDA { return sign * (x < -127 ? -127 : x); };
    if (a.steps.data != nullptr) {
      std::int8_t* to = a.steps.data + first * a.steps.item_stride;
      for (int stream = 0; stream < 3; stream++)
        each(stream,
             [&](int i, std::int8_t x) WB_INLINE_LAMBDA { to[i] = static_cast<std::int8_t>(step_of(x)); });
    } else {
      float* to = a.llr.data + first * a.llr.item_stride;
      const float unit = 1.f / block.step;
      for (int stream = 0; stream < 3; stream++)
        each(stream,
             [&](int i, std::int8_t x) WB_INLINE_LAMBDA { to[i] = static_cast<float>(step_of(x)) * unit; });
    }
  }
};

struct turbo_block_output_op : parts_op<turbo_block_output_args> {
  int threads() const { return a.k >= 1024 ? 128 : 32; }
  double flops() const { return 0; }
  double bytes() const { return 1.125 * a.k + (a.llr.data != nullptr ? 10 * 3.0 * (a.k + 4) : 0); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const turbo_decode_item block = a.items[first];
    const std::uint8_t* bits = a.bits.data + first * a.bits.item_stride;
    for (int i = g.rank; 8 * i < block.kept; i += g.size) {
      const int rest = block.kept - 8 * i;  // k is a multiple of 8
      block.bits[i] =
          static_cast<std::uint8_t>(packed_byte(bits + 8 * i) & (rest < 8 ? 0xff00 >> rest : 0xff));
    }
    const std::uint8_t status = a.status.data[first * a.status.item_stride];
    if (g.rank == 0) a.records[first] = {a.iterations.data[first * a.iterations.item_stride], status};
    if (block.soft == nullptr) return;
    const float* llr = a.llr.data + first * a.llr.item_stride;
    const float* extrinsic = a.extrinsic.data + first * a.extrinsic.item_stride;
    const std::uint8_t* coded = a.coded.data + first * a.coded.item_stride;
    const bool erased = (status & status_erased) != 0;
    for (int stream = 0; stream < 3; stream++)
      for (int i = g.rank; i < a.k + 4; i += g.size) {
        const int e = stream * (a.k + 4) + i;
        const float x = (llr[e] + extrinsic[e]) * block.step;
        int y = erased ? 0 : nearest_integer(x < -127.f ? -127.f : x > 127.f ? 127.f : x);
        // Few disagree with the decided codeword, or round to 0.
        if (!erased) y = coded[e] != 0 ? (y < -1 ? y : -1) : y > 1 ? y : 1;
        block.soft[3 * i + stream] = static_cast<std::int8_t>(block.negative_soft ? -y : y);
      }
  }
};

/// Packed bits to bytes, and their CRC behind them.
struct turbo_block_unpack_op : parts_op<turbo_block_unpack_args> {
  int threads() const { return a.k >= 1024 ? 128 : 32; }
  double flops() const { return 0; }
  double bytes() const { return 1.125 * a.k; }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const turbo_encode_item block = a.items[first];
    std::uint8_t* bits = a.bits.data + first * a.bits.item_stride;
    const int n = a.k - a.crc_degree;
    for (int i = g.rank; 8 * i < n; i += g.size) {
      // Copies of the byte, in each the one bit, which the addition carries to the byte's highest place.
      const std::uint64_t x = block.bits[i] * std::uint64_t{0x0101010101010101} & 0x0102040810204080u;
      const std::uint64_t y = (x + 0x7f7e7c7870604000u) >> 7 & 0x0101010101010101u;
      const int rest = n - 8 * i;
      if (rest >= 8)
        __builtin_memcpy(bits + 8 * i, &y, 8);
      else
        for (int j = 0; j < rest; j++) bits[8 * i + j] = static_cast<std::uint8_t>(y >> 8 * j & 1);
    }
    if (a.crc_degree == 0) return;
    g.sync();
    const std::int32_t parity = transport_crc_sum(bits, 1, a.weights, n, g);
    for (int i = g.rank; i < a.crc_degree; i += g.size)
      bits[n + i] = static_cast<std::uint8_t>(parity >> (a.crc_degree - 1 - i) & 1);
  }
};

/// Bits of the codeword in the order of the ring, packed.
struct turbo_block_pack_op : parts_op<turbo_block_pack_args> {
  int threads() const { return a.k >= 1024 ? 256 : 64; }
  double flops() const { return 0; }
  double bytes() const { return 3.375 * (a.k + 4); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const turbo_encode_item block = a.items[first];
    const std::uint8_t* coded = a.coded.data + first * a.coded.item_stride;
    for (int i = g.rank; 8 * i < block.sent; i += g.size) {
      int number = (block.first + 8 * i) % block.length;
      const int rest = block.sent - 8 * i, n = rest < 8 ? rest : 8;
      unsigned byte = 0;
      for (int j = 0; j < n; j++) {
        byte |= static_cast<unsigned>(coded[block.ring != nullptr ? block.ring[number] : number] & 1)
                << (7 - j);
        number = number + 1 == block.length ? 0 : number + 1;
      }
      block.out[i] = static_cast<std::uint8_t>(byte);
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
