#pragma once
// PDCCH of 5G NR (pdcch.hpp has the method). A lane is a candidate. Candidates use different resource
// elements, so values are gathered.
#include <warpband/core/cx.hpp>
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/math.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/nr/pdcch/pdcch_args.hpp>
#include <warpband/nr/scratch_cx.hpp>

namespace wb {
inline namespace WB_ISA {

/// Number among a resource block's data of subcarrier k without DMRS, 0..8.
WB_HD int pdcch_data_value(int k) { return k - (k + 2) / 4; }
WB_HD bool pdcch_has_dmrs(int k) { return (k & 3) == 1; }
WB_HD bool pdcch_bit(const std::uint32_t* words, int n) { return (words[n / 32] >> (n & 31) & 1) != 0; }

struct pdcch_equalise_op : block_op<pdcch_equalise_args> {
  int threads() const { return 128; }
  std::size_t scratch(int) const { return static_cast<std::size_t>(a.shape.scratch); }
  double flops() const {
    const double filter = a.shape.bundle_dmrs;
    return a.shape.dmrs * (4.0 * filter * (pdcch_widths + 1) + 24.0 * a.shape.symbols) +
           3.0 * filter * pdcch_widths * pdcch_ratios +
           a.shape.values * (4.0 * filter / a.shape.symbols + 20.0);
  }
  double bytes() const { return 8.0 * a.shape.values + 4.0 * a.shape.coded_bits; }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G g, T* s) const {
    using I = typename rebind<T>::i32;
    const auto good = load_candidate(b, g, s);
    take_pilots(b, g, s);
    const cx<T> advance = phase_advance<T>(s), slope = phase_slope<T>(s);
    T total(0.f), rest(0.f);
    average(advance, slope, g, s, total, rest);
    I width(0), ratio(0);
    T metric, noise;
    choose(total, rest, g, s, width, ratio, metric, noise);
    const T mean_energy = T(1.f / static_cast<float>(a.shape.symbols * a.shape.dmrs)) * total;
    const T signal = max(mean_energy - noise, T(0.f));
    filter(width, ratio, g, s);
    write_llrs(b, width, advance, signal, noise, good, g, s);
    if (g.rank == 0) {
      const T numbers[pdcch_numbers] = {
          or_zero(good, signal), or_zero(good, noise),        advance.re, advance.im, slope.re, slope.im,
          or_zero(good, metric), select(good, T(1.f), T(0.f))};
      const view<float> out{a.numbers, pdcch_numbers, 0, 1, pdcch_numbers};
      for (int i = 0; i < pdcch_numbers; i++) store(out, static_cast<std::size_t>(i), b, numbers[i]);
    }
    g.sync();
  }

 private:
  template <class T>
  WB_HD static std::size_t item_of(item<T> b, int lane) {
    return b.first + static_cast<std::size_t>(lane < b.valid ? lane : b.valid - 1);
  }
  WB_HD std::int32_t candidate(std::size_t item, int field) const {
    return a.candidates[3 * item + static_cast<std::size_t>(field)];
  }
  WB_HD int block_of(std::size_t item, int bundle) const {
    return a.first_blocks[candidate(item, 2) * a.shape.bundles + bundle];
  }
  /// Received value of a candidate on subcarrier k of a bundle.
  WB_HD cx_pair received(std::size_t item, int symbol, int bundle, int k) const {
    const int e = symbol * a.shape.subcarriers + 12 * block_of(item, bundle) + k;
    return a.grid.data[static_cast<std::size_t>(candidate(item, 0)) * a.grid.item_stride +
                       static_cast<std::size_t>(e) * a.grid.element_stride];
  }
  /// Two bits of DMRS m of a bundle: of the real part and of the imaginary part.
  WB_HD std::uint32_t dmrs_bits(std::size_t item, int symbol, int bundle, int m) const {
    const int bit = 2 * (pdcch_block_dmrs * block_of(item, bundle) + m);
    return a.dmrs[(candidate(item, 1) * a.shape.symbols + symbol) * a.shape.dmrs_words + bit / 32] >>
           (bit & 31);
  }
  /// Of a table of pdcch_widths rows, the value in the row `width`.
  template <class T>
  WB_HD static T of_width(const float* table, int row, typename rebind<T>::i32 width) {
    using I = typename rebind<T>::i32;
    T x(table[0]);
    WB_UNROLL for (int w = 1; w < pdcch_widths; w++) x = select(width == I(w), T(table[w * row]), x);
    return x;
  }
  /// Negative if the word's lowest bit is 1.
  template <class T>
  WB_HD static T negated(T x, typename rebind<T>::u32 word) {
    using U = typename rebind<T>::u32;
    return from_bits<T>(bits_of(x) ^ ((word << 31) & U(0x80000000u)));
  }
  /// z^n, n up to 127.
  template <class T>
  WB_HD static cx<T> power(cx<T> z, int n) {
    cx<T> r{T(1.f), T(0.f)};
    WB_ROLL for (int bit = 0; bit < 7; bit++) {
      if ((n >> bit & 1) != 0) r = r * z;
      z = z * z;
    }
    return r;
  }
  /// The direction of a sum; 1 for a sum of 0.
  template <class T>
  WB_HD static cx<T> direction(cx<T> sum) {
    const T length = sqrt(norm(sum));
    const auto none = length <= T(1e-15f);
    const T inverse = T(1.f) / select(none, T(1.f), length);
    return {select(none, T(1.f), sum.re * inverse), sum.im * inverse};
  }
  /// Half the angle of a number of magnitude 1.
  template <class T>
  WB_HD static cx<T> half_angle(cx<T> z) {
    const T re = sqrt(max(T(0.5f) + T(0.5f) * z.re, T(0.f))),
            im = sqrt(max(T(0.5f) - T(0.5f) * z.re, T(0.f)));
    return {re, select(z.im < T(0.f), -im, im)};
  }

  /// The candidate's values with a mean power of 1. Returns whether it is usable.
  template <class T, class G>
  WB_HD typename rebind<T>::mask load_candidate(item<T> b, G g, T* s) const {
    using M = typename rebind<T>::mask;
    const int n = a.shape.values, width = a.shape.bundle_subcarriers, row = a.shape.bundles * width;
    M bad = mask_from<M>(false);
    for (int i = g.rank; i < n; i += g.size) {
      const int symbol = i / row, bundle = i % row / width, k = i % width;
      cx<T> z;
      if constexpr (width_of<T> == 1) {
        const cx_pair y = received(b.first, symbol, bundle, k);
        z = {y.re, y.im};
      } else {
        for (int lane = 0; lane < width_of<T>; lane++) {
          const cx_pair y = received(item_of(b, lane), symbol, bundle, k);
          z.re.x[lane] = y.re, z.im.x[lane] = y.im;
        }
      }
      const auto usable = (abs(z.re) <= T(1e15f)) & (abs(z.im) <= T(1e15f));  // no NaN
      bad = bad | !usable;
      store_cx(s, i, or_zero(usable, z));
    }
    bad = g.any(bad);
    g.sync();
    T energy(0.f);
    WB_ROLL for (int i = 0; i < n; i++) energy = norm_fma(load_cx(s, i), energy);
    const T scale = T(1.f) / sqrt(max(energy * T(1.f / static_cast<float>(n)), T(1e-35f)));
    g.sync();
    for (int i = g.rank; i < 2 * n; i += g.size) s[i] = scale * s[i];
    g.sync();
    const auto loud = energy > T(1e-30f);
    return loud & !bad;
  }

  /// What is received on DMRS, times their conjugates: [symbol][bundle][m].
  template <class T, class G>
  WB_HD void take_pilots(item<T> b, G g, T* s) const {
    using U = typename rebind<T>::u32;
    const int width = a.shape.bundle_dmrs, row = a.shape.dmrs;
    for (int n = g.rank; n < a.shape.symbols * row; n += g.size) {
      const int symbol = n / row, bundle = n % row / width, m = n % width;
      const cx<T> y =
          load_cx(s, (symbol * a.shape.bundles + bundle) * a.shape.bundle_subcarriers + 4 * m + 1);
      U w;
      if constexpr (width_of<T> == 1) {
        w = dmrs_bits(b.first, symbol, bundle, m);
      } else {
        for (int lane = 0; lane < width_of<T>; lane++)
          w.x[lane] = dmrs_bits(item_of(b, lane), symbol, bundle, m);
      }
      const U second = shift_right(w, U(1u));
      const T half(0.707106781f);
      store_cx(s + a.shape.pilots, n,
               cx<T>{half * (negated(y.re, w) + negated(y.im, second)),
                     half * (negated(y.im, w) - negated(y.re, second))});
    }
    g.sync();
  }

  /// exp(i phi), phi the phase advance from symbol to symbol.
  template <class T>
  WB_HD cx<T> phase_advance(const T* s) const {
    const int row = a.shape.dmrs;
    cx<T> sum{T(0.f), T(0.f)};
    WB_ROLL for (int n = 0; n + row < a.shape.symbols * row; n++) sum =
        conj_fma(load_cx(s + a.shape.pilots, n), load_cx(s + a.shape.pilots, n + row), sum);
    return direction(sum);
  }
  /// The phase's advance from subcarrier to subcarrier, by neighbouring DMRS.
  template <class T>
  WB_HD cx<T> phase_slope(const T* s) const {
    const int width = a.shape.bundle_dmrs;
    cx<T> sum{T(0.f), T(0.f)};
    for (int first = 0; first < a.shape.symbols * a.shape.dmrs; first += width)
      WB_ROLL for (int n = first; n + 1 < first + width; n++) sum =
          conj_fma(load_cx(s + a.shape.pilots, n), load_cx(s + a.shape.pilots, n + 1), sum);
    return half_angle(half_angle(direction(sum)));
  }

  /// The symbols' mean less the phases of CFO and delay. total: energy of all DMRS. rest: what of it is in
  /// differences between symbols.
  template <class T, class G>
  WB_HD void average(cx<T> advance, cx<T> slope, G g, T* s, T& total, T& rest) const {
    const int row = a.shape.dmrs, width = a.shape.bundle_dmrs;
    for (int k = g.rank; k < a.shape.bundle_subcarriers; k += g.size)
      store_cx(s + a.shape.rotations, k, power(slope, k));
    g.sync();
    const cx<T> second = advance * advance;
    const T part(1.f / static_cast<float>(a.shape.symbols));
    for (int n = g.rank; n < row; n += g.size) {
      cx<T> sum = load_cx(s + a.shape.pilots, n);
      if (a.shape.symbols > 1) sum = conj_fma(advance, load_cx(s + a.shape.pilots, row + n), sum);
      if (a.shape.symbols > 2) sum = conj_fma(second, load_cx(s + a.shape.pilots, 2 * row + n), sum);
      store_cx(s + a.shape.means, n,
               conj(load_cx(s + a.shape.rotations, 4 * (n % width) + 1)) * (part * sum));
    }
    g.sync();
    T of_mean(0.f);
    WB_ROLL for (int n = 0; n < row; n++) of_mean = norm_fma(load_cx(s + a.shape.means, n), of_mean);
    WB_ROLL for (int n = 0; n < a.shape.symbols * row; n++) total =
        norm_fma(load_cx(s + a.shape.pilots, n), total);
    rest = max(total - T(static_cast<float>(a.shape.symbols)) * of_mean, T(0.f));
  }

  /// The delay profile and the ratio of signal and noise of the largest likelihood, and the noise.
  template <class T, class G>
  WB_HD void choose(T total, T rest, G g, T* s, typename rebind<T>::i32& width,
                    typename rebind<T>::i32& ratio, T& metric, T& noise) const {
    using I = typename rebind<T>::i32;
    const int n = a.shape.bundle_dmrs;
    const T symbols(static_cast<float>(a.shape.symbols));
    for (int i = g.rank; i < pdcch_widths * n; i += g.size) {
      const float* vector = a.filters.vectors + i * n;
      T energy(0.f);
      WB_ROLL for (int j = 0; j < a.shape.bundles; j++) {
        cx<T> sum{T(0.f), T(0.f)};
        WB_ROLL for (int m = 0; m < n; m++) {
          const cx<T> z = load_cx(s + a.shape.means, j * n + m);
          sum = {fma(T(vector[m]), z.re, sum.re), fma(T(vector[m]), z.im, sum.im)};
        }
        energy = norm_fma(sum, energy);
      }
      s[a.shape.energies + i] = energy;
    }
    g.sync();
    const float count = static_cast<float>(a.shape.symbols * a.shape.dmrs),
                bundles = static_cast<float>(a.shape.bundles);
    for (int i = g.rank; i < pdcch_widths * pdcch_ratios; i += g.size) {
      const int w = i / pdcch_ratios;
      const T left = rest + symbols * explained(s, w, a.filters.ratios[i % pdcch_ratios]);
      s[a.shape.scores + i] = -(T(count) * log(max(left, T(1e-20f))) + T(bundles * a.filters.volumes[i]));
    }
    g.sync();
    T best(-1e30f);
    I best_index(0);
    WB_ROLL for (int i = 0; i < pdcch_widths * pdcch_ratios; i++) {
      const T score = s[a.shape.scores + i];
      const auto better = score > best;
      best = select(better, score, best);
      best_index = select(better, I(i), best_index);
    }
    WB_UNROLL for (int w = 1; w < pdcch_widths; w++) width =
        select(best_index < I(w * pdcch_ratios), width, I(w));
    ratio = best_index - width * I(pdcch_ratios);
    metric = best + T(count) * log(max(total, T(1e-20f)));
    T left(0.f);  // of the chosen one
    WB_ROLL for (int i = 0; i < n; i++) {
      const T energy = energy_of(s, i, width);
      const T gain = T(1.f) + symbols * ratio_of<T>(ratio) * of_width<T>(a.filters.values + i, n, width);
      left = left + energy / gain;
    }
    noise = max(rest + symbols * left, T(1e-12f)) * T(1.f / count);
  }
  /// Energy of the means in units of their variance, less the noise.
  template <class T>
  WB_HD T explained(const T* s, int w, float ratio) const {
    const int n = a.shape.bundle_dmrs;
    T sum(0.f);
    WB_ROLL for (int i = 0; i < n; i++) {
      const float gain = 1.f + static_cast<float>(a.shape.symbols) * ratio * a.filters.values[w * n + i];
      sum = sum + s[a.shape.energies + w * n + i] / T(gain);
    }
    return sum;
  }
  template <class T>
  WB_HD T energy_of(const T* s, int i, typename rebind<T>::i32 width) const {
    using I = typename rebind<T>::i32;
    const int n = a.shape.bundle_dmrs;
    T x = s[a.shape.energies + i];
    WB_UNROLL for (int w = 1; w < pdcch_widths; w++) x =
        select(width == I(w), s[a.shape.energies + w * n + i], x);
    return x;
  }
  template <class T>
  WB_HD T ratio_of(typename rebind<T>::i32 ratio) const {
    using I = typename rebind<T>::i32;
    T x(a.filters.ratios[0]);
    WB_ROLL for (int r = 1; r < pdcch_ratios; r++) x = select(ratio == I(r), T(a.filters.ratios[r]), x);
    return x;
  }

  /// Parts of the means along the eigenvectors, each divided by its eigenvalue with the noise.
  template <class T, class G>
  WB_HD void filter(typename rebind<T>::i32 width, typename rebind<T>::i32 ratio, G g, T* s) const {
    const int n = a.shape.bundle_dmrs;
    const T floor = T(1.f) / (T(static_cast<float>(a.shape.symbols)) * ratio_of<T>(ratio));
    for (int t = g.rank; t < a.shape.dmrs; t += g.size) {
      const int j = t / n, i = t % n;
      cx<T> sum{T(0.f), T(0.f)};
      WB_ROLL for (int m = 0; m < n; m++) {
        const cx<T> z = load_cx(s + a.shape.means, j * n + m);
        const T v = of_width<T>(a.filters.vectors + i * n + m, n * n, width);
        sum = {fma(v, z.re, sum.re), fma(v, z.im, sum.im)};
      }
      store_cx(s + a.shape.parts, t, T(1.f) / (floor + of_width<T>(a.filters.values + i, n, width)) * sum);
    }
    g.sync();
  }

  template <class T, class G>
  WB_HD void write_llrs(item<T> b, typename rebind<T>::i32 width, cx<T> advance, T signal, T noise,
                        typename rebind<T>::mask good, G g, T* s) const {
    // An LLR of QPSK is 2 sqrt 2 Re(conj(h) y) / N0. The channel's error limits it, as N0 of 30 dB would.
    const T factor = T(2.82842712f) / max(max(noise, T(1e-3f) * signal), T(1e-20f));
    const int n = a.shape.bundle_dmrs, subcarriers = a.shape.bundle_subcarriers;
    const cx<T> one{T(1.f), T(0.f)}, second = advance * advance;
    for (int t = g.rank; t < a.shape.bundles * subcarriers; t += g.size) {
      const int j = t / subcarriers, k = t % subcarriers, in_block = k % 12;
      if (pdcch_has_dmrs(in_block)) continue;
      cx<T> h{T(0.f), T(0.f)};
      WB_ROLL for (int i = 0; i < n; i++) {
        const cx<T> z = load_cx(s + a.shape.parts, j * n + i);
        const T v = of_width<T>(a.filters.spread + k * n + i, subcarriers * n, width);
        h = {fma(v, z.re, h.re), fma(v, z.im, h.im)};
      }
      h = load_cx(s + a.shape.rotations, k) * h;
      WB_ROLL for (int symbol = 0; symbol < a.shape.symbols; symbol++) {
        const cx<T> rotated = (symbol == 0 ? one : symbol == 1 ? advance : second) * h;
        cx<T> x = conj(rotated) * load_cx(s, (symbol * a.shape.bundles + j) * subcarriers + k);
        x = or_zero(good, factor * x);
        const int e =
            2 * ((symbol * a.shape.candidate_blocks + j * a.shape.bundle_blocks + k / 12) * pdcch_block_data +
                 pdcch_data_value(in_block));
        for (int lane = 0; lane < b.valid; lane++) {
          float re, im;
          if constexpr (width_of<T> == 1)
            re = x.re, im = x.im;
          else
            re = x.re.x[lane], im = x.im.x[lane];
          float* out =
              a.llr +
              (b.first + static_cast<std::size_t>(lane)) * static_cast<std::size_t>(a.shape.coded_bits) + e;
          out[0] = (pdcch_bit(a.scrambling, e) ? -re : re) + 0.f;
          out[1] = (pdcch_bit(a.scrambling, e + 1) ? -im : im) + 0.f;
        }
      }
    }
  }
};

/// A resource element at a time.
struct pdcch_map_op : block_op<pdcch_map_args> {
  int threads() const { return 128; }
  double flops() const { return 0; }
  double bytes() const { return 8.0 * a.shape.symbols * a.shape.subcarriers + a.shape.coded_bits; }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G g, T*) const {
    for (int e = g.rank; e < a.shape.symbols * a.shape.subcarriers; e += g.size)
      for (int i = 0; i < b.valid; i++) one(b.first + static_cast<std::size_t>(i), e);
  }

 private:
  WB_HD void one(std::size_t item, int e) const {
    const int symbol = e / a.shape.subcarriers, k = e % a.shape.subcarriers, block = k / 12;
    const std::int32_t slot = a.candidates[2 * item], candidate = a.candidates[2 * item + 1];
    const std::int32_t rank = a.block_rank[candidate * a.shape.blocks + block];
    const float half = 0.707106781f;
    cx_pair z{0.f, 0.f};
    if (rank >= 0 && pdcch_has_dmrs(k % 12)) {
      const std::uint32_t* words = a.dmrs + (slot * a.shape.symbols + symbol) * a.shape.dmrs_words;
      const int bit = 2 * (pdcch_block_dmrs * block + k % 12 / 4);
      z.re = pdcch_bit(words, bit) ? -half : half;
      z.im = pdcch_bit(words, bit + 1) ? -half : half;
    } else if (rank >= 0) {
      const int first =
          2 * ((symbol * a.shape.candidate_blocks + rank) * pdcch_block_data + pdcch_data_value(k % 12));
      const auto sent = [&](int n) {
        const std::uint8_t c =
            a.coded.data[item * a.coded.item_stride + static_cast<std::size_t>(n) * a.coded.element_stride];
        return ((c & 1) != 0) != pdcch_bit(a.scrambling, n);
      };
      z.re = sent(first) ? -half : half;
      z.im = sent(first + 1) ? -half : half;
    }
    a.grid.data[item * a.grid.item_stride + static_cast<std::size_t>(e) * a.grid.element_stride] = z;
  }
};

}  // namespace WB_ISA
}  // namespace wb
