#pragma once
// The polar encoder as an op: CRC, placing, parity checks, transform, rate matching.
#include <warpband/core/memory.hpp>
#include <warpband/fec/polar/polar_args.hpp>
#include <warpband/fec/polar/polar_body.hpp>

namespace wb {
inline namespace WB_ISA {

template <int Tile>
struct polar_encode_op {
  polar_encode_args a;
  static constexpr bool by_block = false;
  static constexpr int tile = Tile;

  int threads() const { return 1; }
  std::size_t scratch(int) const { return static_cast<std::size_t>(a.at.n / 32); }
  double flops() const { return 0; }
  double bytes() const { return a.at.payload + a.at.e; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    const polar_shape& s = a.at;
    const int words = s.n / 32;
    const I parity = crc_of<T>(item, g);
    for (int w = g.rank; w < words; w += g.size) {
      I word(0);
      for (int b = 0; b < 32; b++) {
        const int i = a.carries[32 * w + b];
        if (i >= 0) word = word | (bit_of<T>(item, i, parity) << b);
      }
      scratch[w] = as_float(word);
    }
    g.sync();
    if (g.rank == 0)  // each of them sums other bits than checks
      for (int p = 0; p < a.parity_check_count; p++) {
        const std::int32_t* row = a.parity_checks + p * (words + 1);
        I sum(0);
        for (int w = 0; w < words; w++) sum = sum ^ (as_int(scratch[w]) & I(row[w + 1]));
        const int at = row[0];
        scratch[at / 32] = as_float(as_int(scratch[at / 32]) | (polar_parity(sum) << (at % 32)));
      }
    g.sync();
    for (int w = g.rank; w < words; w += g.size) scratch[w] = as_float(polar_word(as_int(scratch[w])));
    g.sync();
    for (int step = 1; step < words; step *= 2) {
      for (int i = g.rank; i < words / 2; i += g.size) {
        const int w = i / step * 2 * step + i % step;
        scratch[w] = as_float(as_int(scratch[w]) ^ as_int(scratch[w + step]));
      }
      g.sync();
    }
    for (int f = g.rank; f < s.e; f += g.size) {
      const int d = a.sent[f];
      store_int<T>(a.coded, static_cast<std::size_t>(s.first_sent + f), item,
                   (as_int(scratch[d / 32]) >> (d % 32)) & I(1));
    }
    for (int f = a.zeros_from + g.rank; f < a.zeros_to; f += g.size)
      store_int<T>(a.coded, static_cast<std::size_t>(f), item, I(0));
  }

 private:
  /// Bit i of c, of the message or a filler.
  template <class T>
  WB_HD typename rebind<T>::i32 message_bit(item<T> item, int i) const {
    using I = typename rebind<T>::i32;
    const int at = i - a.at.fillers_before;
    if (at < 0 || at >= a.at.payload) return I(0);
    return load_int<T>(a.bits, static_cast<std::size_t>(a.at.first_bit + at), item) & I(1);
  }
  template <class T>
  WB_HD typename rebind<T>::i32 bit_of(item<T> item, int i, typename rebind<T>::i32 parity) const {
    using I = typename rebind<T>::i32;
    const int behind = a.at.k - 1 - i;
    return behind < a.at.crc_bits ? (parity >> behind) & I(1) : message_bit<T>(item, i);
  }
  template <class T, class G>
  WB_HD typename rebind<T>::i32 crc_of(item<T> item, G g) const {
    using I = typename rebind<T>::i32;
    I parity(0);
    for (int i = a.at.fillers_before + g.rank; i < a.at.fillers_before + a.at.payload; i += g.size)
      parity = parity ^ ((I(0) - message_bit<T>(item, i)) & I(a.at.crc_weights[i]));
    return g.xor_all(parity) ^ I(a.at.crc_target);
  }
};

}  // namespace WB_ISA
}  // namespace wb
