#pragma once
// What surrounds the turbo code of single blocks, as ops: from the circular buffer to the decoder's LLRs,
// from decisions to packed bits, and both for the encoder (3GPP TS 36.212 §5.1.4.1). The threads of a CUDA
// block share a code block; a CPU thread has one to itself.
#include <warpband/core/group.hpp>
#include <warpband/core/rounding.hpp>
#include <warpband/core/short_lane.hpp>
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

/// The sub-block interleaver of a stream as rows and columns: place y of the padded stream is in row y / 32.
/// It begins with `padding` NULLs, 4 or more, as k is a multiple of 8.
struct turbo_rows {
  int rows, places, padding;  // places: K_pi
  WB_HD explicit turbo_rows(int k)
      : rows((k + 4 + turbo_columns - 1) / turbo_columns),
        places(turbo_columns * rows),
        padding(places - k - 4) {}
};
#if WB_WIDTH > 1
/// Calls f(r, c) of the first corners of squares of 16 x 16 that cover rows 1 to rows - 2. They may overlap.
template <class F>
WB_HD void each_turbo_square(int rows, F f) {
  for (int r = 1; r < rows - 1; r += 16)
    for (int c = 0; c < turbo_columns; c += 16) f(r + 16 < rows - 1 ? r : rows - 17, c);
}
WB_HD byte_row load_row(const void* p) {
  byte_row x;
  __builtin_memcpy(&x, p, sizeof x);
  return x;
}
WB_HD void store_row(void* p, byte_row x) { __builtin_memcpy(p, &x, sizeof x); }
#endif
/// Whether squares cover the rows between the first and the last.
WB_HD constexpr bool has_squares(int rows) { return WB_WIDTH > 1 && rows >= 18; }

/// put(i, value) for the k + 4 places of a stream; with `ends` for those in the first and the last row. The
/// stream's interleaved values lie `stride` apart. shift: 1 for d2, else 0.
template <class G, class F>
WB_HD void each_deinterleaved(const std::int8_t* w, int stride, turbo_rows t, int shift, bool ends, G g,
                              F put) {
  const int across = g.size < turbo_columns ? g.size : turbo_columns, down = g.size / across;
  for (int c = g.rank % across; c < turbo_columns; c += across) {
    const std::int8_t* column = w + reversed_column(c) * t.rows * stride;
    for (int r = g.rank / across; r < t.rows; r += ends && r == 0 ? t.rows - 1 : down) {
      const int y = turbo_columns * r + c + shift;  // the last of d2 is that of NULL 0
      if (y >= t.padding && y < t.places) put(y - t.padding, column[r * stride]);
    }
  }
}

/// LLRs as they came to d0, d1, d2 of k + 4 each, with the caller's sign. -128 counts as -127.
struct turbo_block_input_op : parts_op<turbo_block_input_args> {
  int threads() const { return a.k >= 1024 ? 256 : 64; }
  double flops() const { return 0; }
  double bytes() const { return (a.llr.data != nullptr ? 5 : 2) * 3.0 * (a.k + 4); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const turbo_decode_item block = a.items[first];
    const int sign = block.negative ? -1 : 1;
    const auto step_of = [=](std::int8_t x) WB_INLINE_LAMBDA { return sign * (x < -127 ? -127 : x); };
    if (a.steps.data != nullptr) {
      std::int8_t* to = a.steps.data + first * a.steps.item_stride;
      bool ends = false;
#if WB_WIDTH > 1
      if (!block.streams && has_squares(turbo_rows(a.k).rows)) {
        deinterleave_squares(block, to);
        ends = true;
      }
#endif
      each(block, ends, g,
           [&](int i, std::int8_t x) WB_INLINE_LAMBDA { to[i] = static_cast<std::int8_t>(step_of(x)); });
    } else {
      float* to = a.llr.data + first * a.llr.item_stride;
      const float unit = 1.f / block.step;
      each(block, false, g,
           [&](int i, std::int8_t x) WB_INLINE_LAMBDA { to[i] = static_cast<float>(step_of(x)) * unit; });
    }
  }

 private:
  /// ends: of the interleaver's rows the first and the last alone.
  template <class G, class F>
  WB_HD void each(const turbo_decode_item& block, bool ends, G g, F put) const {
    const turbo_rows t(a.k);
    for (int stream = 0; stream < 3; stream++) {
      const auto in_stream = [&](int i, std::int8_t x) WB_INLINE_LAMBDA { put(stream * (a.k + 4) + i, x); };
      if (block.streams) {
        const std::int8_t* w = block.llr + stream * t.places;
        for (int i = g.rank; i < a.k + 4; i += g.size) in_stream(i, w[i]);
      } else {
        each_deinterleaved(stream == 0 ? block.llr : block.llr + t.places + stream - 1, stream == 0 ? 1 : 2,
                           t, stream == 2 ? 1 : 0, ends, g, in_stream);
      }
    }
  }
#if WB_WIDTH > 1
  /// The rows between the first and the last: columns of the buffer become rows of the streams.
  WB_HD void deinterleave_squares(const turbo_decode_item& block, std::int8_t* to) const {
    const turbo_rows t(a.k);
    const signed char flipped = block.negative ? -1 : 0;
    const byte_row sign = flipped - byte_row{};
    constexpr byte_row even{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
    const auto put = [&](byte_row(&x)[16], std::int8_t* corner) WB_INLINE_LAMBDA {
      transpose_bytes(x);
      WB_UNROLL for (int i = 0; i < 16; i++) {
        const byte_row y =
            x[i] < static_cast<signed char>(-127) ? static_cast<signed char>(-127) - byte_row{} : x[i];
        store_row(corner + turbo_columns * i, (y ^ sign) - sign);
      }
    };
    std::int8_t *const d0 = to - t.padding, *const d1 = d0 + a.k + 4, *const d2 = d1 + a.k + 4 + 1;
    each_turbo_square(t.rows, [&](int r, int c) WB_INLINE_LAMBDA {
      byte_row x[16], y[16];
      WB_UNROLL for (int i = 0; i < 16; i++) x[i] = load_row(block.llr + reversed_column(c + i) * t.rows + r);
      put(x, d0 + turbo_columns * r + c);
      WB_UNROLL for (int i = 0; i < 16; i++) {
        const std::int8_t* pairs = block.llr + t.places + 2 * (reversed_column(c + i) * t.rows + r);
        const byte_row low = load_row(pairs), high = load_row(pairs + 16);
        x[i] = WB_SHUFFLE(low, high, even);
        y[i] = WB_SHUFFLE(low, high, even + 1);
      }
      put(x, d1 + turbo_columns * r + c);
      put(y, d2 + turbo_columns * r + c);
    });
  }
#endif
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

/// The bits of a byte as bytes of 0 or 1, that of the most significant place first. (Little-endian.)
WB_HD std::uint64_t unpacked_byte(unsigned byte) {
  // Byte j keeps bit 7 - j, which an addition carries to the byte's highest place.
  const std::uint64_t x = byte * std::uint64_t{0x0101010101010101} & 0x0102040810204080u;
  return (x + 0x7f7e7c7870604000u) >> 7 & 0x0101010101010101u;
}

/// Packed bits to the circular buffer's, packed (§5.1.1, §5.1.3.2, §5.1.4.1). A constituent encoder takes a
/// byte at a time from a table. The threads of a CUDA block encode windows. The register is linear: a
/// window's end state is that of the zero start state plus the free motion of the true one. The free motion
/// repeats every 7 steps, and so every 7 bytes.
struct turbo_block_encode_op : parts_op<turbo_block_encode_args> {
  int threads() const { return a.k >= 1024 ? 128 : 32; }
  std::size_t scratch_bytes(int group) const {
    const auto k = static_cast<std::size_t>(a.k);
    return 8 * static_cast<std::size_t>(group) + 6 * (k + 4) + 2 * k / 8 + 64;
  }
  double flops() const { return 0; }
  double bytes() const { return 0.5 * a.k; }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void* scratch) const {
    const turbo_encode_item block = a.items[first];
    const int k = a.k, n = k - a.crc_degree, windows = k / 8;
    std::int32_t* ends = static_cast<std::int32_t*>(scratch);
    std::uint8_t* const coded = reinterpret_cast<std::uint8_t*>(ends + 2 * g.size);
    std::uint8_t *const ring = coded + 3 * (k + 4), *const input = ring + 3 * (k + 4);

    for (int i = g.rank; 8 * i < n; i += g.size) {
      const std::uint64_t x = unpacked_byte(block.bits[i]);
      const int rest = n - 8 * i;
      if (rest >= 8)
        __builtin_memcpy(coded + 8 * i, &x, 8);
      else
        for (int j = 0; j < rest; j++) coded[8 * i + j] = static_cast<std::uint8_t>(x >> 8 * j & 1);
    }
    g.sync();
    if (a.crc_degree != 0) {
      const std::int32_t parity = transport_crc_sum(coded, 1, a.weights, n, g);
      for (int i = g.rank; i < a.crc_degree; i += g.size)
        coded[n + i] = static_cast<std::uint8_t>(parity >> (a.crc_degree - 1 - i) & 1);
      g.sync();
    }
    for (int i = g.rank; i < windows; i += g.size) {
      input[i] = packed_byte(coded + 8 * i);
      unsigned interleaved = 0;
      WB_UNROLL for (int j = 0; j < 8; j++) interleaved = 2 * interleaved + coded[a.permutation[8 * i + j]];
      input[windows + i] = static_cast<std::uint8_t>(interleaved);
    }
    g.sync();
    encode(input, coded, ends, g);
    g.sync();
    if (block.rate_matched) {
      fill_ring(coded, ring, g);
      g.sync();
    }
    const std::uint8_t* from = block.rate_matched ? ring : coded;
    const int length = block.length, step = 8 * g.size % length;
    for (int i = g.rank, number = (block.first + 8 * g.rank) % length; 8 * i < block.sent; i += g.size) {
      const int rest = block.sent - 8 * i, count = rest < 8 ? rest : 8;
      if (number + 8 <= length && count == 8) {
        block.out[i] = packed_byte(from + number);
      } else {
        unsigned byte = 0;
        for (int j = 0, place = number; j < count; j++) {
          byte |= static_cast<unsigned>(from[place]) << (7 - j);
          place = place + 1 == length ? 0 : place + 1;
        }
        block.out[i] = static_cast<std::uint8_t>(byte);
      }
      number += step;
      if (number >= length) number -= length;
    }
  }

 private:
  /// Parity of both encoders and the tails, behind the k systematic bits.
  template <class G>
  WB_HD void encode(const std::uint8_t* input, std::uint8_t* coded, std::int32_t* ends, G g) const {
    const int k = a.k, whole = k / 8, W = (whole + g.size - 1) / g.size;
    const int first = g.rank * W < whole ? g.rank * W : whole, last = first + W < whole ? first + W : whole;
    const auto entry = [&](unsigned state, int d, int i) WB_INLINE_LAMBDA -> unsigned {
      return a.table[state << 8 | input[d * whole + i]];
    };
    unsigned state[2] = {0, 0};
    if (g.size > 1) {
      for (int d = 0; d < 2; d++) {
        for (int i = first; i < last; i++) state[d] = entry(state[d], d, i) >> 8;
        ends[d * g.size + g.rank] = static_cast<std::int32_t>(state[d]);
      }
      g.sync();
      if (g.rank < 2) {
        unsigned start = 0;
        for (int w = 0; w < g.size; w++) {
          std::int32_t& slot = ends[g.rank * g.size + w];
          const unsigned end = static_cast<unsigned>(slot);
          slot = static_cast<std::int32_t>(start);  // now: the true start of window w
          const int begin = w * W < whole ? w * W : whole,
                    bytes = (begin + W < whole ? begin + W : whole) - begin;
          for (int i = 0; i < bytes % 7; i++) start = a.table[start << 8] >> 8;
          start ^= end;
        }
      }
      g.sync();
      for (int d = 0; d < 2; d++) state[d] = static_cast<unsigned>(ends[d * g.size + g.rank]);
    }
    for (int i = first; i < last; i++) WB_UNROLL for (int d = 0; d < 2; d++) {
        const unsigned e = entry(state[d], d, i);
        state[d] = e >> 8;
        const std::uint64_t x = unpacked_byte(e & 0xff);
        __builtin_memcpy(coded + (d + 1) * (k + 4) + 8 * i, &x, 8);
      }
    if (last == whole && first < whole)  // the thread that has the end of the block terminates it
      for (int d = 0; d < 2; d++)
        for (int j = 0; j < 3; j++) {
          const unsigned s = state[d];
          const int m = 6 * d + 2 * j;
          coded[m % 3 * (k + 4) + k + m / 3] = static_cast<std::uint8_t>((s >> 1 ^ s >> 2) & 1);
          coded[(m + 1) % 3 * (k + 4) + k + (m + 1) / 3] = static_cast<std::uint8_t>((s ^ s >> 2) & 1);
          state[d] = s << 1 & 7;
        }
  }

  /// The circular buffer without NULLs: d0 by columns, then d1 and d2 in turns.
  template <class G>
  WB_HD void fill_ring(const std::uint8_t* coded, std::uint8_t* ring, G g) const {
    const turbo_rows t(a.k);
    const std::uint8_t *const d0 = coded - t.padding, *const d1 = d0 + a.k + 4, *const d2 = d1 + a.k + 4 + 1;
    const bool squares = has_squares(t.rows);
    // Where row 0 of a column would be, had it no NULL; less those of the columns before.
    [[maybe_unused]] std::uint8_t *to[turbo_columns], *pairs[turbo_columns];
    int nulls = 0, nulls2 = 0;
    for (int position = 0; position < turbo_columns; position++) {
      const int c = reversed_column(position);
      const bool null = c < t.padding, null2 = c + 1 < t.padding;
      std::uint8_t* const column = ring + position * t.rows - nulls - (null ? 1 : 0);
      std::uint8_t* const turns =
          ring + a.k + 4 + 2 * position * t.rows - nulls - nulls2 - (null ? 1 : 0) - (null2 ? 1 : 0);
      to[c] = column;
      pairs[c] = turns;
      nulls += null ? 1 : 0;
      nulls2 += null2 ? 1 : 0;
      for (int r = g.rank; r < t.rows; r += squares && r == 0 ? t.rows - 1 : g.size) {
        const int y = turbo_columns * r + c;
        if (r > 0 || !null) {
          column[r] = d0[y];
          turns[2 * r] = d1[y];
        }
        if ((r > 0 || !null2) && y + 1 < t.places) turns[2 * r + 1] = d2[y];
      }
    }
#if WB_WIDTH > 1
    if (!squares) return;
    constexpr byte_row low{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    each_turbo_square(t.rows, [&](int r, int c) WB_INLINE_LAMBDA {
      const auto columns = [&](const std::uint8_t* d, byte_row(&x)[16]) WB_INLINE_LAMBDA {
        WB_UNROLL for (int i = 0; i < 16; i++) x[i] = load_row(d + turbo_columns * (r + i) + c);
        transpose_bytes(x);
      };
      byte_row x[16], y[16];
      columns(d0, x);
      for (int i = 0; i < 16; i++) store_row(to[c + i] + r, x[i]);
      columns(d1, x);
      columns(d2, y);
      for (int i = 0; i < 16; i++) {
        store_row(pairs[c + i] + 2 * r, WB_SHUFFLE(x[i], y[i], low));
        store_row(pairs[c + i] + 2 * r + 16, WB_SHUFFLE(x[i], y[i], low + 8));
      }
    });
#endif
  }
};

}  // namespace WB_ISA
}  // namespace wb
