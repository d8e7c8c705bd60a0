#pragma once
// The values of a codeword that a CUDA block decodes: a row for each of its threads.
#include <warpband/fec/ldpc/ldpc_messages.hpp>

namespace wb {
inline namespace WB_ISA {

/// A-posteriori LLRs in bit order, in shared memory where they fit. A row reads its place of each column,
/// (row + shift) mod z, and writes back to it: one barrier for each block row. Ahead: loads in flight when
/// results are written.
template <class T, int Ahead = 8>
struct block_values {
  using element = typename message_memory<T>::element;
  using conversion = message_of<T>;
  static constexpr int codewords = message_memory<T>::codewords;
  static constexpr bool keeps_messages = true;  // ldpc_kept.hpp
  static constexpr bool knows_crc = true;
  const ldpc_decode_args& a;
  element *app, *messages;

  WB_HD block_values(const ldpc_decode_args& args, void* scratch)
      : a(args), app(static_cast<element*>(scratch)), messages(app + (a.flooding ? 4 : 1) * a.n) {}
  static std::size_t bytes(const ldpc_decode_args& a) {
    return sizeof(element) * static_cast<std::size_t>((a.flooding ? 4 : 1) * a.n + a.blocks * a.z);
  }

  WB_HD ldpc_row row(int m) const { return {a.firsts[m], a.firsts[m + 1] - a.firsts[m]}; }
  /// Where row r of a block row finds its bit of an edge's column.
  WB_HD int place(int edge, int r) const {
    const ldpc_place p = a.places[edge];
    const unsigned row = static_cast<unsigned>(r + p.shift);
    return p.first + static_cast<int>(::min(row, row - static_cast<unsigned>(a.z)));
  }

  WB_HD void read(int e, std::size_t item, int items, float (&x)[codewords]) const {
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      const std::size_t i = item + static_cast<std::size_t>(w < items ? w : 0);
      x[w] = a.llr.data[static_cast<std::size_t>(e) * a.llr.element_stride + i * a.llr.item_stride];
    }
  }
  using quantisers = llr_quantiser[codewords];
  WB_HD void scale(std::size_t item, int items, quantisers& by) const {
    WB_UNROLL for (int w = 0; w < codewords; w++) by[w] =
        llr_quantiser(a.quanta, item + static_cast<std::size_t>(w < items ? w : 0));
  }
  WB_HD T channel(float (&x)[codewords], const quantisers& by, unsigned& bad) const {
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      if (!is_finite(x[w])) bad |= 1u << w;
      x[w] = is_finite(x[w]) ? x[w] : 0.f;
    }
    return conversion::from(by, x);
  }
  WB_HD T channel(int e, std::size_t item, int items, unsigned& bad) const {
    float x[codewords];
    quantisers by;
    read(e, item, items, x);
    scale(item, items, by);
    return channel(x, by, bad);
  }
  /// f(e, channel) for this thread's share of the bits e < count of one codeword, which both halves get.
  template <class G, class F>
  WB_HD void each_channel(int count, std::size_t item, G g, F f) const {
    quantisers by;
    scale(item, 1, by);
    for (int e = g.rank; e < count; e += Ahead * g.size) {
      float x[Ahead][codewords];
      WB_UNROLL for (int i = 0; i < Ahead; i++) if (e + i * g.size < count)
          read(e + i * g.size, item, 1, x[i]);
      WB_UNROLL for (int i = 0; i < Ahead; i++) if (e + i * g.size < count) {
        unsigned ignored = 0;
        f(e + i * g.size, channel(x[i], by, ignored));
      }
    }
  }
  /// A codeword's part of a value replaced by 0.
  WB_HD T cleared(T x, unsigned erased) const {
    if constexpr (codewords == 2)
      return {x.x & ~((erased & 1 ? 0xffffu : 0u) | (erased & 2 ? 0xffff0000u : 0u))};
    else
      return erased ? T{} : x;
  }
  template <class G>
  WB_HD unsigned any_of(unsigned flags, G g) const {
    unsigned r = 0;
    WB_UNROLL for (int w = 0; w < codewords; w++) r |= g.any((flags >> w & 1u) != 0) ? 1u << w : 0u;
    return r;
  }
  /// Returns a byte for each codeword: 0, or the status of an erased one.
  template <class G>
  WB_HD unsigned load_channel(std::size_t item, int items, G g) const {
    unsigned bad = 0;
    int usable[codewords] = {};
    quantisers by;
    scale(item, items, by);
    constexpr int ahead = 8;  // loads in flight
    for (int e = g.rank; e < a.n; e += ahead * g.size) {
      float x[ahead][codewords];
      WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < a.n)
          read(e + i * g.size, item, items, x[i]);
      WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < a.n) {
        const T value = channel(x[i], by, bad);
        WB_UNROLL for (int w = 0; w < codewords; w++) usable[w] += conversion::get(value, w) == 0.f ? 0 : 1;
        put_bit(e + i * g.size, value);
      }
    }
    bad = any_of(bad, g);
    unsigned status = 0;
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      status |= ldpc_erasure(a, (bad >> w & 1u) == 0, g.sum_all(usable[w])) << 8 * w;
      bad |= (status >> 8 * w & 1u) << w;
    }
    if (bad != 0) {
      for (int e = g.rank; e < a.n; e += g.size) {
        unsigned ignored = 0;
        put_bit(e, cleared(channel(e, item, items, ignored), bad));
      }
    }
    g.sync();
    return status;
  }
  template <class G>
  WB_HD void clear_messages(G g) const {
    for (int i = g.rank; i < a.blocks * a.z; i += g.size) store_message<T>(messages + i, T{});
  }
  /// What kept messages made of the codewords in `bad` becomes 0.
  template <class G>
  WB_HD void clear(unsigned bad, G g) const {
    for (int e = g.rank; e < a.n; e += g.size) put_bit(e, cleared(load_message<T>(app + e), bad));
    for (int e = g.rank; e < a.blocks * a.z; e += g.size)
      store_message<T>(messages + e, cleared(load_message<T>(messages + e), bad));
  }
  /// count_large of the channel's LLRs. Before the first iteration.
  template <class G>
  WB_HD std::int32_t large(float limit, float overflow, G g) const {
    std::int32_t count = 0;
    for (int e = g.rank; e < a.n; e += g.size) count_large(count, app[e], limit, overflow);
    return g.sum_all(count);
  }
  WB_HD void put_bit(int e, T x) const {
    store_message<T>(app + e, x);
    if (a.flooding) store_message<T>(app + a.n + e, x);
  }

  template <class Rule, class Degree, class G>
  WB_HD void layer(const Rule& rule, Degree degree, ldpc_row row, int, unsigned, G g) const {
    for (int r = g.rank; r < a.z; r += g.size) {
      element* message = messages + row.first * a.z + r;
      int positions[Degree::capacity];
      T q[Degree::capacity], back[Degree::capacity];
      const auto last_app = [&](int d) {
        positions[d] = place(row.first + d, r);
        return load_message<T>(app + positions[d]);
      };
      const auto last = [&](int d) { return load_message<T>(message + d * a.z); };
      const auto keep = [&](int d, T value) { store_message<T>(message + d * a.z, value); };
      const auto store_app = [&](int d, T value) { store_message<T>(app + positions[d], value); };
      variable_to_check(degree, q, last_app, last);
      check_to_variable(rule, degree, q, back);
      posteriors(degree, q, back, keep, store_app);
    }
  }

  // Flooding: A of the last iteration, the channel's LLRs, and the sums of new messages, apart for rows
  // before and after the end of the column; each in bit order.
  WB_HD element* sums() const { return app + 2 * a.n; }
  template <class G>
  WB_HD void begin_flooding(unsigned, G g) const {
    for (int i = g.rank; i < 2 * a.n; i += g.size) store_message<T>(sums() + i, T{});
    g.sync();
  }
  template <class Rule, class Degree, class G>
  WB_HD void flooding_layer(const Rule& rule, Degree degree, ldpc_row row, unsigned, G g) const {
    for (int r = g.rank; r < a.z; r += g.size) {
      element* message = messages + row.first * a.z + r;
      T q[Degree::capacity], back[Degree::capacity];
      const auto last_app = [&](int d) { return load_message<T>(app + place(row.first + d, r)); };
      const auto last = [&](int d) { return load_message<T>(message + d * a.z); };
      variable_to_check(degree, q, last_app, last);
      check_to_variable(rule, degree, q, back);
      each_edge(degree, [&](int d) {
        store_message<T>(message + d * a.z, back[d]);
        element* to = sums() + (r + a.places[row.first + d].shift < a.z ? 0 : a.n) + place(row.first + d, r);
        store_message<T>(to, sum(load_message<T>(to), back[d]));
      });
    }
  }
  template <class G>
  WB_HD void end_flooding(unsigned, G g) const {
    for (int e = g.rank; e < a.n; e += g.size)
      store_message<T>(app + e, sum(sum(load_message<T>(app + a.n + e), load_message<T>(sums() + e)),
                                    load_message<T>(sums() + a.n + e)));
  }

  /// A bit for each codeword with an unsatisfied check.
  template <class G>
  WB_HD unsigned violated(int, unsigned, G g) const {
    unsigned bad = 0;
    for (int m = 0; m < a.rows; m++) {
      const ldpc_row row = this->row(m);
      for (int r = g.rank; r < a.z; r += g.size) {
        T odd = T{};
        for (int d = row.first; d < row.first + row.degree; d++)
          odd = sign_product(odd, load_message<T>(app + place(d, r)));
        bad |= conversion::sign_bits(odd);
      }
    }
    return any_of(bad, g);
  }

  /// A bit for each codeword whose CRC holds, of bits that are not all zeros or of any word.
  template <class G>
  WB_HD unsigned crc_holds(int, unsigned asked, G g) const {
    std::int32_t sums[codewords] = {};
    unsigned ones = 0;
    constexpr int ahead = 4;  // loads in flight
    WB_ROLL for (int e = g.rank; e < a.crc_bits; e += ahead * g.size) {
      std::int32_t weight[ahead];
      WB_UNROLL for (int i = 0; i < ahead; i++) weight[i] =
          e + i * g.size < a.crc_bits ? a.crc_weights[e + i * g.size] : 0;
      WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < a.crc_bits) {
        const unsigned negative = conversion::sign_bits(load_message<T>(app + e + i * g.size));
        WB_UNROLL for (int w = 0; w < codewords; w++) sums[w] ^= (negative >> w & 1u) != 0 ? weight[i] : 0;
        ones |= negative;
      }
    }
    unsigned holds = (a.takes_any_word ? ~0u : any_of(ones, g)) & asked;
    WB_UNROLL for (int w = 0; w < codewords; w++) if (g.xor_all(sums[w]) != 0) holds &= ~(1u << w);
    return holds;
  }

  template <class G>
  WB_HD void store(std::size_t item, unsigned leaving, unsigned erased, unsigned stopped, int iterations, int,
                   G g) const {
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      if ((leaving >> w & 1u) == 0) continue;
      const std::size_t i = item + static_cast<std::size_t>(w);
      const unsigned gone = erased >> 8 * w & 0xffu;
      store_decisions(i, w, g);
      if (a.extrinsic.data)
        each_channel(static_cast<int>(a.extrinsic.elements), i, g,
                     [&](int e, T c) { store_extrinsic(e, i, w, gone != 0, c); });
      if (g.rank == 0) store_counts(i, gone, (stopped >> w & 1u) != 0, iterations);
    }
  }
  /// Bits and a-posteriori LLRs of the half w.
  template <class G>
  WB_HD void store_decisions(std::size_t i, int w, G g) const {
    auto value = [&](std::size_t e) { return conversion::get(load_message<T>(app + e), w); };
    const std::size_t first = static_cast<std::size_t>(g.rank), step = static_cast<std::size_t>(g.size);
    if (a.bits.data)
      for (std::size_t e = first; e < a.bits.elements; e += step)
        a.bits.data[e * a.bits.element_stride + i * a.bits.item_stride] = value(e) < 0.f;
    if (a.soft.data)
      for (std::size_t e = first; e < a.soft.elements; e += step)
        a.soft.data[e * a.soft.element_stride + i * a.soft.item_stride] =
            conversion::llr(llr_quantiser(a.quanta, i), value(e));
  }
  WB_HD void store_extrinsic(int e, std::size_t i, int w, bool gone, T channel) const {
    a.extrinsic.data[static_cast<std::size_t>(e) * a.extrinsic.element_stride + i * a.extrinsic.item_stride] =
        gone ? 0.f
             : conversion::llr(llr_quantiser(a.quanta, i),
                               conversion::extrinsic(load_message<T>(app + e), channel, w));
  }
  /// `gone`: 0, or the status of an erased codeword.
  WB_HD void store_counts(std::size_t i, unsigned gone, bool stopped, int iterations) const {
    if (a.iterations_used.data)
      a.iterations_used.data[i * a.iterations_used.item_stride] = gone != 0 ? 0 : iterations;
    if (a.status.data)
      a.status.data[i * a.status.item_stride] = static_cast<std::uint8_t>(gone != 0 ? gone
                                                                          : stopped ? status_stopped
                                                                                    : 0);
  }
};

}  // namespace WB_ISA
}  // namespace wb
