#pragma once
// The polar encoder of a code block: CRC, information set, parity checks, transform, rate matching.
//
// operator() is a collective of all threads of the group. `scratch` has N / 32 values in shared or device
// memory. The caller needs g.sync() before it reuses `scratch`. Cost: (N / 32) log2(N) / 2 word operations
// and E stores.
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
  std::size_t scratch(int) const { return static_cast<std::size_t>(a.block.n / 32); }
  double flops() const { return 0; }
  double bytes() const { return a.block.payload + a.block.e; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    const int words = a.block.n / 32;
    set_information_bits<T>(item, g, scratch, words);
    if (g.rank == 0) set_parity_checks<T>(scratch, words);
    g.sync();
    transform<T>(g, scratch, words);
    store_coded_bits<T>(item, g, scratch);
  }

 private:
  /// u without parity checks.
  template <class T, class G>
  WB_HD void set_information_bits(item<T> item, G g, T* u, int words) const {
    using I = typename rebind<T>::i32;
    const I crc = crc_of<T>(item, g);
    for (int w = g.rank; w < words; w += g.size) {
      I word(0);
      for (int b = 0; b < 32; b++) {
        const int i = a.c_index[32 * w + b];
        if (i >= 0) word = word | (bit_of_c<T>(item, i, crc) << b);
      }
      u[w] = as_float(word);
    }
    g.sync();
  }
  /// One thread. No parity check is in the sum of another.
  template <class T>
  WB_HD void set_parity_checks(T* u, int words) const {
    using I = typename rebind<T>::i32;
    for (int p = 0; p < a.parity_check_count; p++) {
      const std::int32_t* row = a.parity_checks + p * (words + 1);
      I sum(0);
      for (int w = 0; w < words; w++) sum = sum ^ (as_int(u[w]) & I(row[w + 1]));
      const int check = row[0];
      u[check / 32] = as_float(as_int(u[check / 32]) | (polar_parity(sum) << (check % 32)));
    }
  }
  /// u to d = u F^(x)n: within words, then between words.
  template <class T, class G>
  WB_HD void transform(G g, T* u, int words) const {
    for (int w = g.rank; w < words; w += g.size) u[w] = as_float(polar_transform_word(as_int(u[w])));
    g.sync();
    for (int step = 1; step < words; step *= 2) {
      for (int i = g.rank; i < words / 2; i += g.size) {
        const int w = i / step * 2 * step + i % step;
        u[w] = as_float(as_int(u[w]) ^ as_int(u[w + step]));
      }
      g.sync();
    }
  }
  template <class T, class G>
  WB_HD void store_coded_bits(item<T> item, G g, const T* d) const {
    using I = typename rebind<T>::i32;
    for (int f = g.rank; f < a.block.e; f += g.size) {
      const int i = a.coded_index[f];
      store_int<T>(a.coded, static_cast<std::size_t>(a.block.first_sent + f), item,
                   (as_int(d[i / 32]) >> (i % 32)) & I(1));
    }
    for (int f = a.padding_begin + g.rank; f < a.padding_end; f += g.size)
      store_int<T>(a.coded, static_cast<std::size_t>(f), item, I(0));
  }

  /// Bit i of c without CRC: a message bit or a filler.
  template <class T>
  WB_HD typename rebind<T>::i32 message_bit(item<T> item, int i) const {
    using I = typename rebind<T>::i32;
    const int index = i - a.block.fillers_before;
    if (index < 0 || index >= a.block.payload) return I(0);
    return load_int<T>(a.bits, static_cast<std::size_t>(a.block.first_bit + index), item) & I(1);
  }
  template <class T>
  WB_HD typename rebind<T>::i32 bit_of_c(item<T> item, int i, typename rebind<T>::i32 crc) const {
    using I = typename rebind<T>::i32;
    const int from_end = a.block.k - 1 - i;
    return from_end < a.block.crc_bits ? (crc >> from_end) & I(1) : message_bit<T>(item, i);
  }
  template <class T, class G>
  WB_HD typename rebind<T>::i32 crc_of(item<T> item, G g) const {
    using I = typename rebind<T>::i32;
    I crc(0);
    for (int i = a.block.fillers_before + g.rank; i < a.block.fillers_before + a.block.payload; i += g.size)
      crc = crc ^ ((I(0) - message_bit<T>(item, i)) & I(a.block.crc_weights[i]));
    return g.xor_all(crc) ^ I(a.block.crc_target);
  }
};

}  // namespace WB_ISA
}  // namespace wb
