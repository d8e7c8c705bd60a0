#pragma once
// What stands around decoder and encoder of single code blocks, as ops: rate recovery, CRC and packed bits.
#include <type_traits>

#include <warpband/core/group.hpp>
#include <warpband/core/rounding.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/blocks/ldpc_blocks_args.hpp>
#include <warpband/fec/format/harq_values.hpp>

namespace wb {
inline namespace WB_ISA {

/// Eight bytes, on a multiple of eight.
WB_HD std::uint64_t load_eight(const std::uint8_t* p) {
#if defined(__CUDACC__)
  return *reinterpret_cast<const std::uint64_t*>(p);
#else
  std::uint64_t x;
  __builtin_memcpy(&x, p, sizeof x);
  return x;
#endif
}
WB_HD void store_eight(std::uint8_t* p, std::uint64_t x) {
#if defined(__CUDACC__)
  *reinterpret_cast<std::uint64_t*>(p) = x;
#else
  __builtin_memcpy(p, &x, sizeof x);
#endif
}

/// f(order) with an order of modulation that the compiler knows.
template <class F>
WB_HD void with_order(int order, F f) {
  switch (order) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 4:
      return f(std::integral_constant<int, 4>{});
    case 6:
      return f(std::integral_constant<int, 6>{});
    case 8:
      return f(std::integral_constant<int, 8>{});
    default:
      return f(std::integral_constant<int, 10>{});
  }
}
/// The first of the numbers from x on that belong to a thread: number lo + i belongs to thread i mod size.
template <class G>
WB_HD int first_of_thread(int x, int lo, G g) {
  if constexpr (std::is_same_v<G, solo>) {
    return x;
  } else {
    const int i = (x - lo) % g.size;
    return x + (g.rank >= i ? g.rank - i : g.rank - i + g.size);
  }
}
/// The bits that a transmission has of the ring's numbers lo to before hi, as runs: run(x, n, i, j). These
/// are n numbers from x on, in row i of the interleaver from column j on. A number that was sent again is in
/// several runs.
template <class F>
WB_HD void each_ring_run(const ldpc_block_ring& ring, int lo, int hi, F run) {
  const int columns = ring.sent / ring.order;
  for (int part = 0; part < 2; part++) {  // from the start of the transmission on, and before it
    const int first = part == 0 ? (lo > ring.start ? lo : ring.start) : lo,
              last = part == 0 ? hi : (hi < ring.start ? hi : ring.start);
    const int before = part == 0 ? ring.start : ring.start - ring.length;  // bit of number x: x - before
    if (first >= last) continue;
    for (int m = first - before; m < ring.sent; m += ring.length) {
      const int end = m + (last - first) < ring.sent ? m + (last - first) : ring.sent;
      for (int p = m, i = m / columns, j = m - i * columns; p < end; i++, j = 0) {
        const int n = columns - j < end - p ? columns - j : end - p;
        run(first + (p - m), n, i, j);
        p += n;
      }
    }
  }
}

/// Rate recovery, TS 38.212 §5.4.2 read backwards. LLRs in steps of the block: those of repetitions and of
/// earlier transmissions add up as integers, and their sum is limited to +-127. With HARQ memory in float16
/// only repetitions add up as integers.
struct ldpc_block_input_op {
  ldpc_block_input_args a;
  static constexpr bool by_block = true, always_in_shared = true;
  static constexpr int at_once = 1, limit = 127;

  int threads() const { return 128; }
  std::size_t scratch_bytes(int) const { return sizeof(std::int16_t) * static_cast<std::size_t>(a.piece); }
  double flops() const { return 0; }
  double bytes() const { return a.mean_bytes; }

  template <class G>
  WB_HD void operator()(std::size_t item, int, G g, void* scratch) const {
    const int number = static_cast<int>(item);
    const ldpc_block_received b = a.blocks[number / a.pieces];  // a copy: stores of bytes may alias the table
    const int begin = number % a.pieces * a.piece;
    const int end = begin + a.piece < b.n ? begin + a.piece : b.n;
    if (begin >= end) return;
    const ldpc_block_ring& r = b.ring;
    auto* const sums = static_cast<std::int16_t*>(scratch);
    const int systematic = r.information < r.length ? r.information : r.length;
    const int fillers = r.punctured + r.information;
    constant(b, begin, end, 0, r.punctured, 0.f, g);
    section(b, begin, end, 0, systematic, r.punctured, sums, g);
    constant(b, begin, end, r.punctured + systematic, fillers, 0.f, g);
    constant(b, begin, end, fillers, r.padded, known_llr, g);
    section(b, begin, end, systematic, r.length, r.padded, sums, g);
    constant(b, begin, end, r.padded + r.length - systematic, b.n, 0.f, g);
  }

 private:
  /// Places first to before last of the row, as far as the piece has them.
  template <class G>
  WB_HD static void constant(const ldpc_block_received& b, int begin, int end, int first, int last, float x,
                             G g) {
    if (first < begin) first = begin;
    if (last > end) last = end;
    for (int i = first + g.rank; i < last; i += g.size) b.row[i] = x;
  }
  /// The ring's numbers first to before last, which the row has from `place` on, as far as the piece has
  /// them. Number lo + i belongs to one thread throughout.
  template <class G>
  WB_HD static void section(const ldpc_block_received& b, int begin, int end, int first, int last, int place,
                            std::int16_t* sums, G g) {
    const int lo = begin > place ? first + (begin - place) : first,
              hi = end - place < last - first ? first + (end - place) : last;
    if (lo >= hi) return;
    for (int i = g.rank; i < hi - lo; i += g.size) sums[i] = 0;
    switch (b.format) {
      case llr_format::int8:
        add(b, static_cast<const std::int8_t*>(b.llr), lo, hi, sums, g);
        break;
      case llr_format::int16:
        add(b, static_cast<const std::int16_t*>(b.llr), lo, hi, sums, g);
        break;
      case llr_format::float32:
        add(b, static_cast<const float*>(b.llr), lo, hi, sums, g);
    }
    if (b.harq == harq_format::int8)
      store(b, lo, hi, b.row + place + (lo - first), sums, g);
    else
      store_halves(b, lo, hi, b.row + place + (lo - first), sums, g);
  }
  template <class V, class G>
  WB_HD static void add(const ldpc_block_received& b, const V* llr, int lo, int hi, std::int16_t* sums, G g) {
    with_order(b.ring.order, [&](auto order) WB_INLINE_LAMBDA {
      each_ring_run(b.ring, lo, hi, [&](int x, int n, int i, int j) WB_INLINE_LAMBDA {
        constexpr int step = decltype(order)::value;
        std::int16_t* __restrict const to = sums + (x - lo);
        const V* __restrict const from = llr + i + j * step;
        if constexpr (std::is_same_v<V, std::int8_t> && std::is_same_v<G, solo> && step % 2 == 0) {
          if (i % 2 == 0)
            add_of_pairs<step / 2, false>(from, n, to);
          else
            add_of_pairs<step / 2, true>(from - 1, n, to);
        } else {
          for (int t = first_of_thread(x, lo, g) - x; t < n; t += g.size)
            to[t] = static_cast<std::int16_t>(to[t] + steps_of(b, from[t * step]));
        }
      });
    });
  }
  /// The first or second bytes of every Step-th pair. Compilers make vectors of words with a step of 3, but
  /// not of bytes with a step of 6. For the 11520 LLRs of a block this takes 0.9 instead of 5.7 us (Xeon,
  /// AVX-512).
  template <int Step, bool Second>
  WB_HD static void add_of_pairs(const std::int8_t* __restrict from, int n, std::int16_t* __restrict to) {
    for (int t = 0; t < n; t++) {
      std::int16_t pair;
      __builtin_memcpy(&pair, from + 2 * Step * t, sizeof pair);
      to[t] = static_cast<std::int16_t>(to[t] + (Second ? pair >> 8 : static_cast<std::int8_t>(pair & 0xff)));
    }
  }
  /// An LLR in steps.
  WB_HD static int steps_of(const ldpc_block_received&, std::int8_t x) { return x; }
  WB_HD static int steps_of(const ldpc_block_received&, std::int16_t x) {
    return x > limit ? limit : x < -limit ? -limit : x;
  }
  WB_HD static int steps_of(const ldpc_block_received& b, float x) {
    constexpr float greatest = limit;
    const float y = x * b.steps;  // one that is no number is 0
    return y > greatest ? limit : y < -greatest ? -limit : y == y ? nearest_integer(y) : 0;
  }
  /// The sums with what was received before, to the HARQ buffer and the row.
  template <class G>
  WB_HD static void store(const ldpc_block_received& b, int lo, int hi, float* row, std::int16_t* sums, G g) {
    const int before = b.harq_in_length < lo   ? lo
                       : b.harq_in_length < hi ? b.harq_in_length
                                               : hi,
              kept = b.harq_out_length < lo   ? lo
                     : b.harq_out_length < hi ? b.harq_out_length
                                              : hi;
    const int sign = b.negative ? -1 : 1;
    const std::int8_t* const earlier = static_cast<const std::int8_t*>(b.harq_in) + lo;
    for (int i = g.rank; i < before - lo; i += g.size)
      sums[i] = static_cast<std::int16_t>(limit_of(sign * sums[i] + earlier[i]));
    for (int i = first_of_thread(before, lo, g) - lo; i < hi - lo; i += g.size)
      sums[i] = static_cast<std::int16_t>(limit_of(sign * sums[i]));
    std::int8_t* __restrict const later = static_cast<std::int8_t*>(b.harq_out) + lo;
    for (int i = g.rank; i < kept - lo; i += g.size) later[i] = static_cast<std::int8_t>(sums[i]);
    const float unit = b.llr_of_a_step;
    for (int i = g.rank; i < hi - lo; i += g.size) row[i] = static_cast<float>(sums[i]) * unit;
  }
  template <class G>
  WB_HD static void store_halves(const ldpc_block_received& b, int lo, int hi, float* row,
                                 const std::int16_t* sums, G g) {
    const std::uint16_t* const earlier = static_cast<const std::uint16_t*>(b.harq_in) + lo;
    std::uint16_t* const later = static_cast<std::uint16_t*>(b.harq_out) + lo;
    const float step = (b.negative ? -1.f : 1.f) / b.steps, unit = b.llr_of_a_step * b.steps;
    for (int i = g.rank; i < hi - lo; i += g.size) {
      float x = static_cast<float>(sums[i]) * step + 0.f;
      if (lo + i < b.harq_in_length) x += harq_float16::load(earlier[i]);
      const std::uint16_t half = harq_float16::rounded(x);
      if (lo + i < b.harq_out_length) later[i] = half;
      row[i] = harq_float16::load(half) * unit;
    }
  }
  WB_HD static int limit_of(int x) { return x > limit ? limit : x < -limit ? -limit : x; }
};

/// The CRC of what was decided, the bits packed, and what became of the block.
struct ldpc_block_output_op : parts_op<ldpc_block_output_args> {
  int threads() const { return 512; }
  double flops() const { return 0; }
  double bytes() const { return a.mean_bytes; }

  template <class G>
  WB_HD void operator()(std::size_t item, int, G g, void*) const {
    const ldpc_block_decided b = a.blocks[item];
    const std::uint8_t* const bits = b.bits;
    std::int32_t rest = 0;
    if (b.crc_weights != nullptr) {
      const std::int32_t* const weights = b.crc_weights;
      if constexpr (std::is_same_v<G, solo>) {
        for (int i = 0; i < b.k; i++) rest ^= -std::int32_t{bits[i]} & weights[i];
      } else {
        for (int i = 8 * g.rank; i < b.k; i += 8 * g.size) {  // eight loads in flight
          const std::uint64_t eight = load_eight(bits + i);
          WB_UNROLL for (int j = 0; j < 8; j++) {
            if (i + j < b.k) rest ^= -static_cast<std::int32_t>(eight >> 8 * j & 1) & weights[i + j];
          }
        }
      }
      rest = g.xor_all(rest);
    }
    const int kept = b.kept;
    std::uint8_t* __restrict const out = b.out;
    for (int i = g.rank; 8 * i < kept; i += g.size) {
      // The factor brings bit j of the byte from byte 7 - j; no two terms of the product share a bit. Bytes
      // behind the k bits hold anything.
      const std::uint64_t eight = load_eight(bits + 8 * i) & 0x0101010101010101u;
      out[i] = static_cast<std::uint8_t>(eight * 0x8040201008040201u >> 56);
    }
    if (const int last = (kept - 1) / 8; kept % 8 != 0 && last % g.size == g.rank)
      out[last] = static_cast<std::uint8_t>(out[last] & 0xff00 >> kept % 8);
    if (g.rank == 0) {
      const bool stopped = (*b.status & status_stopped) != 0, failed = rest != 0;
      ldpc_block_outcome o;
      o.iterations = *b.iterations;
      o.status = static_cast<std::uint8_t>((stopped ? 0 : block_syndrome) | (failed ? block_crc : 0));
      o.crc_passed = b.crc_weights != nullptr && !failed;
      *b.outcome = o;
    }
  }
};

/// Packed bits to packed bits: CRC, parity bits by the tables of ldpc_encoder, bit selection and
/// interleaving.
///
/// A bit is a byte. Scratch has the codeword, then the blocks that sums read, twice each
/// (ldpc_block_stride), then symbols, and on a device the tables. A symbol is a column of the interleaver,
/// and a half of it with order 10, so that it fits a byte.
struct ldpc_block_encode_op {
  ldpc_block_encode_args a;
  static constexpr bool by_block = true;
  static constexpr int at_once = 1, columns_at_once = 1024;

  int threads() const { return 256; }
  std::size_t scratch_bytes(int) const {
    return static_cast<std::size_t>(a.word_bytes + a.sum_bytes + 2 * columns_at_once + a.table_bytes);
  }
  double flops() const { return 0; }
  double bytes() const { return a.mean_bytes; }

  template <class G>
  WB_HD void operator()(std::size_t item, int, G g, void* scratch) const {
    const ldpc_block_sent b = a.blocks[item];
    auto* const word = static_cast<std::uint8_t*>(scratch);
    std::uint8_t* const blocks = word + a.word_bytes;
    std::uint8_t* const symbols = blocks + a.sum_bytes;
    const ldpc_encode_tables tables = near_tables(b.tables, symbols + 2 * columns_at_once, g);
    unpack(b, word, g);
    encode(b, tables, word, blocks, g);
    with_order(b.ring.order,
               [&](auto order) WB_INLINE_LAMBDA { send<decltype(order)::value>(b, word, symbols, g); });
  }

 private:
#if defined(__CUDACC__)
  using part = std::uint8_t;  // bits of a sum at once
#else
  using part = typename rebind<lane>::i32;
#endif

  /// The tables, in shared memory on a device, where each sum would wait for the terms that it reads.
  template <class G>
  WB_HD static ldpc_encode_tables near_tables(const ldpc_encode_tables& tables, std::uint8_t* memory, G g) {
    if constexpr (std::is_same_v<G, solo>) {
      return tables;
    } else {
      auto* const sums = reinterpret_cast<ldpc_sum*>(memory);
      auto* const terms = reinterpret_cast<ldpc_term*>(sums + tables.sums);
      for (int i = g.rank; i < tables.sums; i += g.size) sums[i] = tables.sum_table[i];
      for (int i = g.rank; i < tables.terms; i += g.size) terms[i] = tables.term_table[i];
      return {tables.sums, tables.terms, tables.blocks, sums, terms};  // unpack() synchronises
    }
  }
  /// The block's bits, its CRC and the fillers.
  template <class G>
  WB_HD static void unpack(const ldpc_block_sent& b, std::uint8_t* word, G g) {
    const std::uint8_t* __restrict const bits = b.bits;
    // The factor puts a copy of the byte at every ninth bit: the top bits of eight bytes are its bits.
    for (int i = g.rank, n = (b.payload + 7) / 8; i < n; i += g.size)
      store_eight(word + 8 * i, (std::uint64_t{bits[i]} * 0x8040201008040201u >> 7) & 0x0101010101010101u);
    g.sync();
    if (b.crc_degree != 0) {
      const std::int32_t* const weights = b.crc_weights;
      std::int32_t parity = 0;
      for (int i = g.rank; i < b.payload; i += g.size) parity ^= -std::int32_t{word[i]} & weights[i];
      parity = g.xor_all(parity);
      for (int i = g.rank; i < b.crc_degree; i += g.size)
        word[b.payload + i] = static_cast<std::uint8_t>(parity >> (b.crc_degree - 1 - i) & 1);
    }
    for (int i = b.payload + b.crc_degree + g.rank; i < b.ring.padded; i += g.size) word[i] = 0;
    g.sync();
  }
  template <class G>
  WB_HD static void encode(const ldpc_block_sent& b, const ldpc_encode_tables& tables, std::uint8_t* word,
                           std::uint8_t* blocks, G g) {
    const int z = b.z, stride = b.stride, columns = b.n / z;
    for (int c = 0; c * z < b.ring.padded; c++) {
      copy(word + c * z, z, blocks + c * stride, g);
      copy(word + c * z, z, blocks + c * stride + z, g);
    }
    g.sync();
    constexpr int width = sizeof(part);
    const int last = (z - 1) / width;
    for (int s = 0; s < tables.sums; s++) {
      const ldpc_sum sum = tables.sum_table[s];
      std::uint8_t* const to = blocks + sum.target * stride;
      // From the last part down: what it writes behind the z bits is overwritten by the first one.
      for (int p = last - (last - g.rank) % g.size; p >= 0 && g.rank <= last; p -= g.size) {
        part bits = part(0);
        for (int t = sum.first; t < sum.first + sum.terms; t++) {
          const ldpc_term term = tables.term_table[t];
          part x;
          __builtin_memcpy(&x, blocks + term.block * stride + term.shift + p * width, sizeof x);
          bits = static_cast<part>(bits ^ x);
        }
        __builtin_memcpy(to + p * width, &bits, sizeof bits);
        __builtin_memcpy(to + z + p * width, &bits, sizeof bits);
      }
      if (sum.target < columns) copy(to, z, word + sum.target * z, g);
      if (sum.last_of_phase) g.sync();
    }
  }
  template <class G>
  WB_HD static void copy(const std::uint8_t* from, int n, std::uint8_t* to, G g) {
    if constexpr (std::is_same_v<G, solo>)
      __builtin_memcpy(to, from, static_cast<std::size_t>(n));
    else
      for (int i = g.rank; i < n; i += g.size) to[i] = from[i];
  }
  /// Symbols as bytes, then packed. Column j of the interleaver belongs to one thread.
  template <int Order, class G>
  WB_HD static void send(const ldpc_block_sent& b, const std::uint8_t* word, std::uint8_t* symbols, G g) {
    constexpr int halves = Order > 8 ? 2 : 1, width = Order / halves;
    const ldpc_block_ring& r = b.ring;
    const int columns = r.sent / Order;
    const int systematic = r.information < r.length ? r.information : r.length;
    for (int first = 0; first < columns; first += columns_at_once) {
      const int n = columns - first < columns_at_once ? columns - first : columns_at_once,
                groups = (halves * n + 7) / 8;
      for (int i = g.rank; i < 8 * groups / halves; i += g.size)
        for (int h = 0; h < halves; h++) symbols[halves * i + h] = 0;
      for (int i = 0; i < Order; i++) {
        std::uint8_t* const half = symbols + i / width;
        // Runs of the codeword: within the systematic or the parity bits of the ring.
        for (int j = 0; j < n;) {
          const int x = (r.start + (i * columns + first + j) % r.length) % r.length,
                    edge = x < systematic ? systematic : r.length,
                    place = x < systematic ? r.punctured + x : r.padded + (x - systematic),
                    count = edge - x < n - j ? edge - x : n - j;
          const std::uint8_t* __restrict const from = word + place;
          std::uint8_t* __restrict const to = half + halves * j;
          for (int t = first_of_thread(j, 0, g) - j; t < count; t += g.size)
            to[halves * t] = static_cast<std::uint8_t>(to[halves * t] << 1 | from[t]);
          j += count;
        }
      }
      g.sync();
      for (int i = g.rank; i < groups; i += g.size) {  // the first symbol to the highest bits
        constexpr std::uint64_t even8 = 0x00ff00ff00ff00ffu, even16 = 0x0000ffff0000ffffu;
        std::uint64_t x = load_eight(symbols + 8 * i);
        x = (x & even8) << width | (x >> 8 & even8);
        x = (x & even16) << 2 * width | (x >> 16 & even16);
        x = (x & 0xffffffffu) << 4 * width | x >> 32;
        store_eight(symbols + 8 * i, x << (64 - 8 * width));
      }
      std::uint8_t* const out = b.out + first * Order / 8;
      for (int i = g.rank; i < groups; i += g.size) {
        const std::uint64_t x = load_eight(symbols + 8 * i);
#if defined(__CUDACC__)
        for (int s = 0; s < width; s++) out[width * i + s] = static_cast<std::uint8_t>(x >> (56 - 8 * s));
#else
        const std::uint64_t turned = __builtin_bswap64(x);  // what is behind its bytes comes next
        __builtin_memcpy(out + width * i, &turned, sizeof turned);
#endif
      }
      g.sync();
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
