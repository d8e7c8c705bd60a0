#pragma once
// PBCH of 5G NR (pbch.hpp has the method). Lanes are blocks, whose cells differ: sequences are gathered.
#include <warpband/core/cx.hpp>
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/math.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/nr/pbch/pbch_args.hpp>
#include <warpband/nr/scratch_cx.hpp>

namespace wb {
inline namespace WB_ISA {

/// x, negative where bit `bit` of the word is 1.
template <class T>
WB_HD T pbch_signed(T x, typename rebind<T>::u32 word, int bit) {
  using U = typename rebind<T>::u32;
  return from_bits<T>(bits_of(x) ^ ((word << (31 - bit)) & U(0x80000000u)));
}

/// Index of the symbol (0..2 for symbols 1..3) and of the subcarrier of the comb, of DMRS value m.
struct pbch_dmrs_place {
  int symbol, subcarrier;
  WB_HD explicit pbch_dmrs_place(int m)
      : symbol(m < 60   ? 0
               : m < 84 ? 1
                        : 2),
        subcarrier(m < 60   ? m
                   : m < 72 ? m - 60
                   : m < 84 ? m - 24
                            : m - 84) {}
};
/// DMRS value of a symbol and subcarrier of the comb; -1: symbol 2 has none.
WB_HD int pbch_dmrs_value(int symbol, int i) {
  if (symbol == 0) return i;
  if (symbol == 2) return 84 + i;
  return i < 12 ? 60 + i : i >= 48 ? 24 + i : -1;
}
/// QPSK symbol of PBCH on a subcarrier without DMRS, `shift` = N_ID mod 4.
WB_HD int pbch_data_value(int symbol, int k, int shift) {
  const int r = k & 3, in_symbol = 3 * (k >> 2) + r - (r > shift ? 1 : 0);
  if (symbol == 0) return in_symbol;
  if (symbol == 2) return 252 + in_symbol;
  return k < 48 ? 180 + in_symbol : 72 + in_symbol;
}
/// Whether symbol 1 + `symbol` has PBCH on subcarrier k.
WB_HD bool pbch_in_symbol(int symbol, int k) { return symbol != 1 || k < 48 || k >= 192; }

struct pbch_equalise_op : block_op<pbch_equalise_args> {
  static constexpr int subcarriers = 240, delays = 65, taps = 37, comb = pbch_comb;
  // In scratch memory. Complex values take two.
  static constexpr int words = 0, grid = pbch_scrambling_word, pilots = grid + 2 * 3 * subcarriers,
                       products = pilots + 2 * 3 * comb,
                       metrics = products + 2 * pbch_dmrs_indices * pbch_dmrs_values,
                       scores = metrics + pbch_dmrs_indices * delays, spots = scores + pbch_dmrs_indices,
                       turned = spots + pbch_dmrs_indices, symbol_taps = turned + 2 * 3 * comb,
                       means = symbol_taps + 2 * 3 * taps, residuals = means + 2 * comb,
                       weights = residuals + comb, channel = weights + comb, total = channel + 2 * taps;
  int threads() const { return 128; }
  std::size_t scratch(int) const { return total; }
  double flops() const {
    return 8.0 * pbch_dmrs_indices * delays * pbch_dmrs_values +
           a.hypotheses * (8.0 * 4 * taps * comb + 8.0 * taps * subcarriers + 30 * 432.0);
  }
  double bytes() const { return 8.0 * 4 * subcarriers + 4.0 * a.hypotheses * pbch_coded_bits; }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G g, T* s) const {
    using I = typename rebind<T>::i32;
    const auto good = load_block(b, g, s);
    const I shift = cells<T>(b) & I(3);
    take_pilots(shift, g, s);
    correlate(g, s);
    T score[pbch_dmrs_indices];
    WB_UNROLL for (int h = 0; h < pbch_dmrs_indices; h++) score[h] = s[scores + h];
    WB_ROLL for (int attempt = 0; attempt < a.hypotheses; attempt++) {
      T best(-1.f), delay(0.f);
      I index(0);
      WB_UNROLL for (int h = 0; h < pbch_dmrs_indices; h++) {
        const auto better = score[h] > best;
        best = select(better, score[h], best);
        delay = select(better, s[spots + h], delay);
        index = select(better, I(h), index);
      }
      WB_UNROLL for (int h = 0; h < pbch_dmrs_indices; h++) score[h] =
          select(index == I(h), T(-1.f), score[h]);
      turn(index, delay, g, s);
      const cx<T> advance = phase_advance(g, s);
      T signal, noise;
      estimate(shift, delay, advance, g, s, signal, noise);
      write_llrs(b, attempt, index, delay, advance, signal, noise, good, g, s);
      if (g.rank == 0) {
        const T numbers[pbch_numbers] = {
            to_float(index), or_zero(good, signal), or_zero(good, noise),        advance.re,
            advance.im,      T(0.5f) * delay,       select(good, T(1.f), T(0.f))};
        const std::size_t row = pbch_numbers * static_cast<std::size_t>(a.hypotheses);
        const view<float> out{a.numbers + attempt * pbch_numbers, pbch_numbers, 0, 1, row};
        for (int i = 0; i < pbch_numbers; i++) store(out, static_cast<std::size_t>(i), b, numbers[i]);
      }
      g.sync();
    }
  }

 private:
  /// exp(2 pi i k / 256).
  template <class T>
  WB_HD cx<T> unit(int k) const {
    return {T(a.circle[2 * (k & 255)]), T(a.circle[2 * (k & 255) + 1])};
  }
  /// exp(2 pi i x).
  template <class T>
  WB_HD static cx<T> unit_at(T turns) {
    T sine, cosine;
    sincos(T(6.2831853f) * turns, sine, cosine);
    return {cosine, sine};
  }
  template <class T>
  WB_HD static std::size_t block_of(item<T> b, int lane) {
    return b.first + static_cast<std::size_t>(lane < b.valid ? lane : b.valid - 1);
  }
  template <class T>
  WB_HD typename rebind<T>::i32 cells(item<T> b) const {
    return load_int<T>(view<const std::int32_t>{a.cell, 1, 0, 0, 1}, 0, b);
  }
  WB_HD std::uint32_t word_of(std::size_t block, int w) const {
    return a.words[static_cast<std::size_t>(a.cell[block]) * pbch_cell_words + static_cast<std::size_t>(w)];
  }
  template <class T>
  WB_HD typename rebind<T>::u32 word(item<T> b, int w) const {
    if constexpr (width_of<T> == 1) {
      return word_of(b.first, w);
    } else {
      typename rebind<T>::u32 r;
      for (int i = 0; i < width_of<T>; i++) r.x[i] = word_of(block_of(b, i), w);
      return r;
    }
  }

  /// Words of the sequences, and symbols 1 to 3 with a mean power of 1. Returns whether the block is usable.
  template <class T, class G>
  WB_HD typename rebind<T>::mask load_block(item<T> b, G g, T* s) const {
    using M = typename rebind<T>::mask;
    for (int w = g.rank; w < pbch_scrambling_word; w += g.size) s[words + w] = from_bits<T>(word(b, w));
    M bad = mask_from<M>(false);
    for (int i = g.rank; i < 4 * subcarriers; i += g.size) {
      cx<T> z = load_cx(a.grid, static_cast<std::size_t>(i), b);
      const auto usable = (abs(z.re) <= T(1e15f)) & (abs(z.im) <= T(1e15f));  // no NaN
      bad = bad | !usable;
      z = or_zero(usable, z);
      if (i >= subcarriers) store_cx(s + grid, i - subcarriers, z);
    }
    bad = g.any(bad);
    g.sync();
    T energy(0.f);
    WB_ROLL for (int i = 0; i < 3 * subcarriers; i++) energy = norm_fma(load_cx(s + grid, i), energy);
    const T scale = T(1.f) / sqrt(max(energy * T(1.f / 720), T(1e-35f)));
    g.sync();
    for (int i = g.rank; i < 2 * 3 * subcarriers; i += g.size) s[grid + i] = scale * s[grid + i];
    g.sync();
    const auto loud = energy > T(1e-30f);
    return loud & !bad;
  }

  /// The comb's subcarriers of the three symbols, those of symbol 2 with SSS times the SSS.
  template <class T, class G>
  WB_HD void take_pilots(typename rebind<T>::i32 shift, G g, T* s) const {
    using I = typename rebind<T>::i32;
    for (int n = g.rank; n < 3 * comb; n += g.size) {
      const int symbol = n / comb, i = n % comb;
      cx<T> z{T(0.f), T(0.f)};
      WB_UNROLL for (int r = 0; r < 4; r++) {
        const int k = 4 * i + r, sss = k - 56;
        cx<T> y = load_cx(s + grid, symbol * subcarriers + k);
        if (!pbch_in_symbol(symbol, k)) {
          if (sss >= 0 && sss < 127) {
            const auto w = bits_of(s[words + pbch_sss_word + sss / 32]);
            y = {pbch_signed(y.re, w, sss % 32), pbch_signed(y.im, w, sss % 32)};
          } else {
            y = {T(0.f), T(0.f)};
          }
        }
        const auto here = shift == I(r);
        z = {select(here, y.re, z.re), select(here, y.im, z.im)};
      }
      store_cx(s + pilots, n, z);
    }
    g.sync();
  }

  /// Correlations with the eight DMRS at 65 delays of half samples. Symbols add their powers, so that their
  /// phases do not matter.
  template <class T, class G>
  WB_HD void correlate(G g, T* s) const {
    for (int n = g.rank; n < pbch_dmrs_indices * pbch_dmrs_values; n += g.size) {
      const int h = n / pbch_dmrs_values, m = n % pbch_dmrs_values;
      const pbch_dmrs_place p(m);
      const cx<T> y = load_cx(s + pilots, p.symbol * comb + p.subcarrier);
      const auto w = bits_of(s[words + h * pbch_dmrs_words + m / 16]);
      const int bit = 2 * m % 32;
      const T half(0.707106781f);
      store_cx(s + products, n,
               cx<T>{half * (pbch_signed(y.re, w, bit) + pbch_signed(y.im, w, bit + 1)),
                     half * (pbch_signed(y.im, w, bit) - pbch_signed(y.re, w, bit + 1))});
    }
    g.sync();
    for (int n = g.rank; n < pbch_dmrs_indices * delays; n += g.size) {
      const T* z = s + products + 2 * (n / delays) * pbch_dmrs_values;
      const int d = 2 * (n % delays - delays / 2);
      T power(0.f);
      WB_UNROLL for (int symbol = 0; symbol < 3; symbol++) {
        const int first = symbol == 0   ? 0
                          : symbol == 1 ? 60
                                        : 84,
                  last = symbol == 0   ? 60
                         : symbol == 1 ? 84
                                       : 144;
        cx<T> sum{T(0.f), T(0.f)};
        WB_ROLL for (int m = first; m < last; m++) sum =
            fma(unit<T>(pbch_dmrs_place(m).subcarrier * d), load_cx(z, m), sum);
        power = norm_fma(sum, power);
      }
      s[metrics + n] = power;
    }
    g.sync();
    T energy(0.f);  // what noise of this energy would give at a delay
    WB_ROLL for (int m = 0; m < pbch_dmrs_values; m++) energy = norm_fma(load_cx(s + products, m), energy);
    for (int h = g.rank; h < pbch_dmrs_indices; h += g.size) {
      const T* m = s + metrics + h * delays;
      T best(-1.f), before(0.f), after(0.f), spot(0.f), paths(0.f);
      WB_ROLL for (int d = 0; d < delays; d++) {
        paths = paths + max(m[d] - T(3.3f) * energy, T(0.f));
        const auto better = m[d] > best;
        best = select(better, m[d], best);
        before = select(better, m[d > 0 ? d - 1 : d], before);
        after = select(better, m[d + 1 < delays ? d + 1 : d], after);
        spot = select(better, T(static_cast<float>(d - delays / 2)), spot);
      }
      // The top of the parabola through three values.
      const T curvature = before - T(2.f) * best + after;
      const auto bent = curvature < T(-1e-12f);
      const T aside = T(0.5f) * (before - after) / select(bent, curvature, T(-1.f));
      s[spots + h] = spot + select(bent, min(max(aside, T(-0.5f)), T(0.5f)), T(0.f));
      s[scores + h] = best + paths;
    }
    g.sync();
  }

  /// The pilots of the hypothesis less its delay, and their taps, one a sample of 256 a symbol.
  template <class T, class G>
  WB_HD void turn(typename rebind<T>::i32 index, T delay, G g, T* s) const {
    using I = typename rebind<T>::i32;
    for (int i = g.rank; i < comb; i += g.size) {
      const cx<T> w = unit_at(T(static_cast<float>(i) / 128) * delay);
      WB_UNROLL for (int symbol = 0; symbol < 3; symbol++) {
        const int m = pbch_dmrs_value(symbol, i);
        cx<T> z = load_cx(s + pilots, symbol * comb + i);
        if (m >= 0) WB_UNROLL for (int h = 0; h < pbch_dmrs_indices; h++) {
            const cx<T> y = load_cx(s + products, h * pbch_dmrs_values + m);
            const auto here = index == I(h);
            z = {select(here, y.re, z.re), select(here, y.im, z.im)};
          }
        store_cx(s + turned, symbol * comb + i, w * z);
      }
    }
    g.sync();
    for (int n = g.rank; n < 3 * taps; n += g.size) {
      const T* z = s + turned + 2 * (n / taps) * comb;
      const int j = 4 * (n % taps - taps / 2);
      cx<T> sum{T(0.f), T(0.f)};
      WB_ROLL for (int i = 0; i < comb; i++) sum = fma(unit<T>(i * j), load_cx(z, i), sum);
      store_cx(s + symbol_taps, n, sum);
    }
    g.sync();
  }

  /// exp(i phi), phi the phase advance from symbol to symbol, by the taps above three times what noise of
  /// this energy would give them.
  template <class T, class G>
  WB_HD cx<T> phase_advance(G, T* s) const {
    T energy(0.f);
    WB_ROLL for (int n = 0; n < 3 * comb; n++) energy = norm_fma(load_cx(s + turned, n), energy);
    cx<T> sum{T(0.f), T(0.f)};
    WB_ROLL for (int j = 0; j < taps; j++) {
      const cx<T> first = load_cx(s + symbol_taps, j), second = load_cx(s + symbol_taps, taps + j),
                  third = load_cx(s + symbol_taps, 2 * taps + j);
      const T power = norm_fma(first, norm_fma(second, norm(third)));
      const cx<T> c = conj(first) * second + conj(second) * third;
      const auto counts = power > (j == taps / 2 ? T(-1.f) : T(3.f) * energy);
      sum = sum + or_zero(counts, c);
    }
    const T length = sqrt(norm(sum));
    const auto none = length <= T(1e-15f);
    const T inverse = T(1.f) / select(none, T(1.f), length);
    return {select(none, T(1.f), sum.re * inverse), sum.im * inverse};
  }

  /// Noise from the differences of the symbols, and the taps of their mean, each times what of it is signal.
  template <class T, class G>
  WB_HD void estimate(typename rebind<T>::i32 shift, T delay, cx<T> advance, G g, T* s, T& signal,
                      T& noise) const {
    using I = typename rebind<T>::i32;
    for (int i = g.rank; i < comb; i += g.size) {
      const cx<T> z0 = advance * load_cx(s + turned, i), z1 = load_cx(s + turned, comb + i),
                  z2 = conj(advance) * load_cx(s + turned, 2 * comb + i);
      // Symbol 2 has nothing between PBCH and SSS; the SSS ends at subcarrier 182.
      T count(i < 12 || i >= 48 || (i >= 14 && i < 46) ? 3.f : 2.f);
      if (i == 45) count = select(shift == I(3), T(2.f), count);
      const auto complete = count > T(2.5f);
      const cx<T> sum = z0 + or_zero(complete, z1) + z2;
      const T part = T(1.f) / count;
      const cx<T> mean = part * sum;
      T rest = norm_fma(z0 - mean, norm(z2 - mean));
      rest = rest + or_zero(complete, norm(z1 - mean));
      store_cx(s + means, i, mean);
      s[residuals + i] = rest;
      s[weights + i] = count;
    }
    g.sync();
    T rest(0.f), power(0.f), counts(0.f), parts(0.f);
    WB_ROLL for (int i = 0; i < comb; i++) {
      rest = rest + s[residuals + i];
      power = fma(s[weights + i], norm(load_cx(s + means, i)), power);
      counts = counts + s[weights + i];
      parts = parts + T(1.f) / s[weights + i];
    }
    noise = rest / (counts - T(static_cast<float>(comb)));
    signal = max(power - T(static_cast<float>(comb)) * noise, T(0.f)) / counts;
    const T variance = noise * parts;  // of a tap
    for (int n = g.rank; n < taps; n += g.size) {
      const int j = n - taps / 2;
      cx<T> sum{T(0.f), T(0.f)};
      WB_ROLL for (int i = 0; i < comb; i++) sum = fma(unit<T>(4 * i * j), load_cx(s + means, i), sum);
      const T size = norm(sum);
      const T wanted = max(size - T(3.f) * variance, T(0.f)) / max(size, T(1e-30f));
      const T late = T(static_cast<float>(j)) + T(0.5f) * delay;
      const cx<T> w = unit_at(T(1.f / 256) * to_float(shift) * late);
      store_cx(s + channel, n, (T(1.f / 64) * wanted) * (w * sum));
    }
    g.sync();
  }

  template <class T, class G>
  WB_HD void write_llrs(item<T> b, int attempt, typename rebind<T>::i32 index, T delay, cx<T> advance,
                        T signal, T noise, typename rebind<T>::mask good, G g, T* s) const {
    // An LLR of QPSK is 2 sqrt 2 Re(conj(h) y) / N0. The channel's error limits it, as N0 of 30 dB would.
    const T factor = T(2.82842712f) / max(max(noise, T(1e-3f) * signal), T(1e-20f));
    for (int k = g.rank; k < subcarriers; k += g.size) {
      cx<T> h{T(0.f), T(0.f)};
      WB_ROLL for (int n = 0; n < taps; n++) h =
          conj_fma(unit<T>(k * (n - taps / 2)), load_cx(s + channel, n), h);
      h = conj(unit_at(T(static_cast<float>(k) / 512) * delay)) * h;
      WB_UNROLL for (int symbol = 0; symbol < 3; symbol++) {
        if (!pbch_in_symbol(symbol, k)) continue;
        const cx<T> turned_h = symbol == 0 ? conj(advance) * h : symbol == 1 ? h : advance * h;
        cx<T> x = conj(turned_h) * load_cx(s + grid, symbol * subcarriers + k);
        x = or_zero(good, factor * x);
        for (int i = 0; i < b.valid; i++) {
          const std::size_t block = b.first + static_cast<std::size_t>(i);
          const int cell_shift = a.cell[block] & 3;
          if ((k & 3) == cell_shift) continue;
          std::uint32_t dmrs;
          float re, im;
          if constexpr (width_of<T> == 1) {
            dmrs = static_cast<std::uint32_t>(index), re = x.re, im = x.im;
          } else {
            dmrs = static_cast<std::uint32_t>(index.x[i]), re = x.re.x[i], im = x.im.x[i];
          }
          const int e = 2 * pbch_data_value(symbol, k, cell_shift);
          const std::uint32_t w =
              word_of(block, pbch_scrambling_word +
                                 static_cast<int>(dmrs & a.scrambling_mask) * pbch_scrambling_words +
                                 e / 32) >>
              (e & 31);
          float* out = a.llr +
                       (block * static_cast<std::size_t>(a.hypotheses) + static_cast<std::size_t>(attempt)) *
                           pbch_coded_bits +
                       e;
          out[0] = ((w & 1) != 0 ? -re : re) + 0.f;
          out[1] = ((w & 2) != 0 ? -im : im) + 0.f;
        }
      }
    }
  }
};

/// A resource element at a time.
struct pbch_map_op : block_op<pbch_map_args> {
  int threads() const { return 128; }
  double flops() const { return 0; }
  double bytes() const { return 8.0 * 4 * 240 + pbch_coded_bits; }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G g, T*) const {
    for (int e = g.rank; e < 4 * 240; e += g.size)
      for (int i = 0; i < b.valid; i++) one(b.first + static_cast<std::size_t>(i), e / 240, e % 240);
  }

 private:
  WB_HD void one(std::size_t block, int row, int k) const {
    const std::int32_t cell = a.cell[block], index = a.indices[block];
    const std::uint32_t* words = a.words + static_cast<std::size_t>(cell) * pbch_cell_words;
    const auto bit = [&](int first, int n) { return (words[first + n / 32] >> (n & 31) & 1) != 0; };
    const float half = 0.707106781f;
    const int sync = k - 56, symbol = row - 1;
    cx_pair z{0.f, 0.f};
    if (row == 0 || !pbch_in_symbol(symbol, k)) {
      if (sync >= 0 && sync < 127) {
        z.re = row == 0 ? a.pss[cell % 3 * 127 + sync] : 1.f;
        if (row != 0 && bit(pbch_sss_word, sync)) z.re = -1.f;
      }
    } else if ((k & 3) == (cell & 3)) {
      const int m = pbch_dmrs_value(symbol, k >> 2), first = index * pbch_dmrs_words;
      z.re = bit(first, 2 * m) ? -half : half;
      z.im = bit(first, 2 * m + 1) ? -half : half;
    } else {
      const int e = 2 * pbch_data_value(symbol, k, cell & 3),
                first = pbch_scrambling_word +
                        (index & static_cast<std::int32_t>(a.scrambling_mask)) * pbch_scrambling_words;
      const auto coded = [&](int n) {
        const std::uint8_t c =
            a.coded.data[block * a.coded.item_stride + static_cast<std::size_t>(n) * a.coded.element_stride];
        return ((c & 1) != 0) != bit(first, n);
      };
      z.re = coded(e) ? -half : half;
      z.im = coded(e + 1) ? -half : half;
    }
    a.grid
        .data[block * a.grid.item_stride + static_cast<std::size_t>(row * 240 + k) * a.grid.element_stride] =
        z;
  }
};

}  // namespace WB_ISA
}  // namespace wb
