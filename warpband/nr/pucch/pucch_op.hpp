#pragma once
// PUCCH of 5G NR (pucch.hpp has the method). Lanes are occasions. Their slots differ, so sequences are
// gathered.
#include <warpband/core/cx.hpp>
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/math.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/nr/pucch/pucch_args.hpp>
#include <warpband/nr/scratch_cx.hpp>

namespace wb {
inline namespace WB_ISA {

/// Element n of the part of a table that the occasion's slot has.
template <class T>
WB_HD cx<T> pucch_of_slot(const cx_pair* table, std::size_t size, const std::int32_t* slots, item<T> b,
                          std::size_t n) {
  if constexpr (width_of<T> == 1) {
    const cx_pair z = table[static_cast<std::size_t>(slots[b.first]) * size + n];
    return {z.re, z.im};
  } else {
    cx<T> r;
    for (int i = 0; i < width_of<T>; i++) {
      const std::size_t occasion = b.first + static_cast<std::size_t>(i < b.valid ? i : b.valid - 1);
      const cx_pair z = table[static_cast<std::size_t>(slots[occasion]) * size + n];
      r.re.x[i] = z.re;
      r.im.x[i] = z.im;
    }
    return r;
  }
}
template <class T>
WB_HD cx<T> pucch_same(const cx_pair& z) {
  return {T(z.re), T(z.im)};
}
/// A received value, 0 where it is not usable.
template <class T>
WB_HD cx<T> pucch_value(const view<const cx_pair>& in, std::size_t n, item<T> b,
                        typename rebind<T>::mask& good) {
  const cx<T> z = load_cx(in, n, b);
  const auto usable = (abs(z.re) <= T(1e15f)) & (abs(z.im) <= T(1e15f));  // no NaN
  good = good & usable;
  return or_zero(usable, z);
}
/// Stores a value if the output was asked for.
template <class T>
WB_HD void pucch_put(const view<float>& v, item<T> b, T x) {
  if (v.data != nullptr) store(v, 0, b, x);
}
template <class T>
WB_HD void pucch_put(const view<std::uint8_t>& v, std::size_t n, item<T> b, typename rebind<T>::i32 x) {
  if (v.data != nullptr) store_int<T>(v, n, b, x);
}
/// 10 log10(signal / noise), -40 to 60.
template <class T>
WB_HD T pucch_db(T signal, T noise) {
  const T ratio = signal / max(noise, T(1e-37f));
  return T(4.34294482f) * log(min(max(ratio, T(1e-4f)), T(1e6f)));
}

/// The candidate that explains most of the energy. The metric is its share of the energy.
struct pucch_tones_op : thread_op<pucch_tones_args> {
  double flops() const {
    return 12.0 * a.symbols * a.antennas * (14 + (a.format == 0 ? 8 * a.candidate_count : 8));
  }
  double bytes() const { return 8.0 * 12 * a.symbols * a.antennas; }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G, T*) const {
    using I = typename rebind<T>::i32;
    auto good = mask_from<typename rebind<T>::mask>(true);
    T score[pucch_most_candidates];
    T energy(0.f);
    WB_UNROLL for (int c = 0; c < pucch_most_candidates; c++) score[c] = T(0.f);
    for (int antenna = 0; antenna < a.antennas; antenna++) {
      if (a.format == 0)
        shifts(b, antenna, score, energy, good);
      else
        spread(b, antenna, score, energy, good);
    }
    T best(-1.f);
    I message(0);
    WB_UNROLL for (int c = 0; c < pucch_most_candidates; c++) {
      if (c >= a.candidate_count) break;
      const auto better = score[c] > best;
      best = select(better, score[c], best);
      message = select(better, I(a.messages[c]), message);
    }
    const auto loud = good & (energy > T(1e-30f));
    const T metric = min(or_zero(loud, best / select(loud, energy, T(1.f))), T(1.f));
    const auto found = metric > T(a.threshold);
    for (int i = 0; i < a.bits; i++)
      pucch_put<T>(a.out_bits, static_cast<std::size_t>(i), b, select(found, (message >> i) & I(1), I(0)));
    pucch_put<T>(a.detected, 0, b, select(found, I(1), I(0)));
    pucch_put<T>(a.second_detected, 0, b, I(0));
    pucch_put<T>(a.metric, b, metric);
    // Of K dimensions with the signal and the others.
    const float signal_dimensions = static_cast<float>(a.antennas * (a.format == 0 ? a.symbols : a.hops)),
                elements = static_cast<float>(12 * a.symbols * a.antennas);
    const T noise = max((energy - best) * T(1.f / (elements - signal_dimensions)), T(1e-7f) * energy);
    const T signal = (best - T(signal_dimensions) * noise) * T(1.f / elements);
    pucch_put<T>(a.snr_db, b, or_zero(found, pucch_db(signal, noise)));
    if (a.status.data != nullptr) store_status(a.status, b, good);
  }

 private:
  template <class T>
  WB_HD void shifts(item<T> b, int antenna, T (&score)[pucch_most_candidates], T& energy,
                    typename rebind<T>::mask& good) const {
    for (int l = 0; l < a.symbols; l++) {
      cx<T> sum[pucch_most_candidates];
      WB_UNROLL for (int c = 0; c < pucch_most_candidates; c++) sum[c] = {T(0.f), T(0.f)};
      for (int k = 0; k < 12; k++) {
        const std::size_t n = static_cast<std::size_t>(l * 12 + k);
        const cx<T> y = pucch_value(a.in, static_cast<std::size_t>(antenna * a.symbols * 12) + n, b, good);
        energy = norm_fma(y, energy);
        const cx<T> p =
            conj(pucch_of_slot(a.sequences, static_cast<std::size_t>(a.symbols * 12), a.slots, b, n)) * y;
        WB_UNROLL for (int c = 0; c < pucch_most_candidates; c++) {
          if (c >= a.candidate_count) break;
          sum[c] = conj_fma(pucch_same<T>(a.units[a.shifts[c] * k % 12]), p, sum[c]);
        }
      }
      WB_UNROLL for (int c = 0; c < pucch_most_candidates; c++) score[c] =
          fma(norm(sum[c]), T(1.f / 12), score[c]);
    }
  }
  template <class T>
  WB_HD void spread(item<T> b, int antenna, T (&score)[pucch_most_candidates], T& energy,
                    typename rebind<T>::mask& good) const {
    for (int hop = 0; hop < a.hops; hop++) {
      const int first = hop == 0 ? 0 : a.first_hop, last = hop + 1 < a.hops ? a.first_hop : a.symbols;
      cx<T> sum[2] = {{T(0.f), T(0.f)}, {T(0.f), T(0.f)}};  // of DMRS and of data
      for (int l = first; l < last; l++) {
        cx<T> here{T(0.f), T(0.f)};
        for (int k = 0; k < 12; k++) {
          const std::size_t n = static_cast<std::size_t>(l * 12 + k);
          const cx<T> y = pucch_value(a.in, static_cast<std::size_t>(antenna * a.symbols * 12) + n, b, good);
          energy = norm_fma(y, energy);
          here = conj_fma(pucch_of_slot(a.sequences, static_cast<std::size_t>(a.symbols * 12), a.slots, b, n),
                          y, here);
        }
        if (l % 2 == 0)
          sum[0] = sum[0] + here;
        else
          sum[1] = sum[1] + here;
      }
      const float part = 1.f / static_cast<float>(12 * (last - first));
      WB_UNROLL for (int c = 0; c < 4; c++) {
        if (c >= a.candidate_count) break;
        score[c] = fma(norm(conj_fma(pucch_same<T>(a.candidates[c]), sum[1], sum[0])), T(part), score[c]);
      }
    }
  }
};

struct pucch_equalise_op : block_op<pucch_equalise_args> {
  int threads() const { return 128; }
  std::size_t scratch(int) const { return static_cast<std::size_t>(a.offsets.total); }
  double flops() const {
    const double data = static_cast<double>(a.data_symbol_count) * a.subcarriers;
    return a.antennas * (8. * a.pilot_symbol_count * a.pilot_count * a.ranks + 8. * data * (a.ranks + 2)) +
           (a.format == 3   ? 8. * data * a.subcarriers
            : a.format == 4 ? 8. * data * 12
                            : 0.);
  }
  double bytes() const {
    return 8.0 * a.antennas * a.symbols * a.subcarriers + 4.0 * static_cast<double>(a.llr.elements);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G g, T* s) const {
    auto good = check_values(b, g);
    project(b, g, s);
    if (g.rank == 0) levels(s);
    g.sync();
    const T signal = s[a.offsets.levels], noise = s[a.offsets.levels + 1];
    good = good & (noise > T(1e-36f));
    weigh(b, signal, noise, g, s);
    if (a.shares != nullptr) split_energies(b, g, s);
    if (a.format == 2)
      comb_llrs(b, noise, good, g, s);
    else
      spread_llrs(b, noise, good, g, s);
    if (g.rank == 0) {
      T energy(0.f), norm(0.f), second_energy(0.f), second_norm(0.f);
      if (a.shares == nullptr) {
        WB_ROLL for (int n = 0; n < a.antennas * a.data_symbol_count; n++) energy =
            energy + s[a.offsets.data_energies + n];
        WB_ROLL for (int d = 0; d < a.data_symbol_count; d++) norm = norm + s[a.offsets.norms + d];
      } else {
        WB_ROLL for (int d = 0; d < a.data_symbol_count; d++) {
          const float part =
              static_cast<float>(a.shares[d] * a.spreading) / static_cast<float>(a.subcarriers);
          energy = energy + s[a.offsets.part_energies + 2 * d];
          second_energy = second_energy + s[a.offsets.part_energies + 2 * d + 1];
          norm = fma(T(part), s[a.offsets.norms + d], norm);
          second_norm = fma(T(1.f - part), s[a.offsets.norms + d], second_norm);
        }
      }
      const T least = max(noise, T(1e-37f));
      store(a.numbers, 0, b, or_zero(good, T(16.f) * norm * (energy / least)));
      store(a.numbers, 4, b, or_zero(good, T(16.f) * second_norm * (second_energy / least)));
      store(a.numbers, 1, b, or_zero(good, signal));
      store(a.numbers, 2, b, or_zero(good, noise));
    }
  }

 private:
  template <class T>
  WB_HD cx<T> received(item<T> b, int antenna, int symbol, int k) const {
    auto ignored = mask_from<typename rebind<T>::mask>(true);
    return pucch_value(a.in, static_cast<std::size_t>((antenna * a.symbols + symbol) * a.subcarriers + k), b,
                       ignored);
  }
  WB_HD int hop_of(int symbol) const { return a.hops > 1 && symbol >= a.hop[1].first ? 1 : 0; }
  /// The subcarrier of a pilot.
  WB_HD int subcarrier_of(int pilot) const { return a.format == 2 ? 3 * pilot + 1 : pilot; }

  /// Whether all values of an occasion are usable. Its number 3 says so.
  template <class T, class G>
  WB_HD typename rebind<T>::mask check_values(item<T> b, G g) const {
    using M = typename rebind<T>::mask;
    M good = mask_from<M>(true);
    for (int n = g.rank; n < a.antennas * a.symbols * a.subcarriers; n += g.size)
      pucch_value(a.in, static_cast<std::size_t>(n), b, good);
    M bad = !good;
    bad = g.any(bad);
    if (g.rank == 0) store(a.numbers, 3, b, select(bad, T(0.f), T(1.f)));
    return !bad;
  }

  /// Pilots in the coordinates of the eigenvectors: over frequency, then over the pilot symbols of a hop.
  template <class T, class G>
  WB_HD void project(item<T> b, G g, T* s) const {
    const int rows = a.antennas * a.pilot_symbol_count;
    const std::size_t size = static_cast<std::size_t>(a.pilot_symbol_count * a.pilot_count);
    for (int n = g.rank; n < rows * (a.ranks + 1); n += g.size) {
      const int row = n / (a.ranks + 1), i = n % (a.ranks + 1), antenna = row / a.pilot_symbol_count,
                t = row % a.pilot_symbol_count, symbol = a.pilot_symbols[t];
      if (i == a.ranks) {
        T energy(0.f);
        WB_ROLL for (int p = 0; p < a.pilot_count; p++) energy =
            norm_fma(received(b, antenna, symbol, subcarrier_of(p)), energy);
        s[a.offsets.pilot_energies + row] = energy;
        continue;
      }
      cx<T> sum{T(0.f), T(0.f)};
      WB_ROLL for (int p = 0; p < a.pilot_count; p++) {
        const cx<T> sent =
            pucch_of_slot(a.pilots, size, a.slots, b, static_cast<std::size_t>(t * a.pilot_count + p));
        const cx<T> y = conj(sent) * received(b, antenna, symbol, subcarrier_of(p));
        sum = fma(pucch_same<T>(a.analysis[p * a.ranks + i]), y, sum);
      }
      store_cx(s, row * a.ranks + i, sum);
    }
    g.sync();
    for (int n = g.rank; n < a.antennas * a.hops * a.ranks; n += g.size) {
      const int i = n % a.ranks, hop = n / a.ranks % a.hops, antenna = n / a.ranks / a.hops;
      const pucch_hop h = a.hop[hop];
      cx<T> before[4];
      const auto spot = [&](int t) WB_INLINE_LAMBDA {
        return (antenna * a.pilot_symbol_count + h.first_pilot + t) * a.ranks + i;
      };
      WB_UNROLL for (int t = 0; t < 4; t++) before[t] =
          t < h.pilots ? load_cx(s, spot(t)) : cx<T>{T(0.f), T(0.f)};
      WB_UNROLL for (int j = 0; j < 4; j++) {
        if (j >= h.pilots) break;
        cx<T> sum{T(0.f), T(0.f)};
        WB_UNROLL for (int t = 0; t < 4; t++) if (t < h.pilots) {
          const T v(a.time_analysis[4 * (h.first_pilot + t) + j]);
          sum = {fma(v, before[t].re, sum.re), fma(v, before[t].im, sum.im)};
        }
        store_cx(s, spot(j), sum);
      }
    }
    g.sync();
  }

  /// Mean powers of signal and noise.
  template <class T>
  WB_HD void levels(T* s) const {
    T found(0.f), energy(0.f);
    const int rows = a.antennas * a.pilot_symbol_count;
    WB_ROLL for (int row = 0; row < rows; row++) {
      const float* strong = a.strong + row % a.pilot_symbol_count * a.ranks;
      WB_ROLL for (int i = 0; i < a.ranks; i++) found =
          fma(T(strong[i]), norm(load_cx(s, row * a.ranks + i)), found);
      energy = energy + s[a.offsets.pilot_energies + row];
    }
    const T rest = max(energy - found, T(0.f));
    T noise = T(a.noise_of_rest) * rest - T(a.noise_of_found) * found;
    // A channel that is not as assumed leaks more or less: at most half of the rest counts as leaked.
    noise = max(noise, T(0.5f / a.rest_count) * rest);
    noise = max(noise, T(1e-4f / (a.strong_count + a.rest_count)) * energy);
    const T signal = max((found - T(a.strong_count) * noise) * T(1.f / a.strong_gain), T(1e-4f) * noise);
    s[a.offsets.levels] = signal;
    s[a.offsets.levels + 1] = noise;
  }

  /// Wiener filter: weights, and the channel's coordinates at each data symbol.
  template <class T, class G>
  WB_HD void weigh(item<T> b, T signal, T noise, G g, T* s) const {
    for (int n = g.rank; n < a.antennas * a.pilot_symbol_count * a.ranks; n += g.size) {
      const T gain(a.gains[n / a.ranks % a.pilot_symbol_count * a.ranks + n % a.ranks]);
      const T weight = signal / max(fma(signal, gain, noise), T(1e-37f));
      store_cx(s, n, weight * load_cx(s, n));
    }
    for (int n = g.rank; n < a.antennas * a.data_symbol_count; n += g.size) {
      const int d = n % a.data_symbol_count, antenna = n / a.data_symbol_count;
      T energy(0.f);
      WB_ROLL for (int k = 0; k < a.subcarriers; k++) if (a.format != 2 || k % 3 != 1) energy =
          norm_fma(received(b, antenna, a.data_symbols[d], k), energy);
      s[a.offsets.data_energies + n] = energy;
    }
    g.sync();
    for (int n = g.rank; n < a.antennas * a.data_symbol_count * a.ranks; n += g.size) {
      const int i = n % a.ranks, d = n / a.ranks % a.data_symbol_count,
                antenna = n / a.ranks / a.data_symbol_count, symbol = a.data_symbols[d];
      const pucch_hop h = a.hop[hop_of(symbol)];
      cx<T> sum{T(0.f), T(0.f)};
      WB_ROLL for (int t = 0; t < h.pilots; t++) sum =
          sum + T(a.time_synthesis[4 * symbol + t]) *
                    load_cx(s, (antenna * a.pilot_symbol_count + h.first_pilot + t) * a.ranks + i);
      store_cx(s + a.offsets.paths, n, sum);
    }
    g.sync();
  }
  /// The inverse DFT of a symbol, without its factor.
  template <class T, class Value>
  WB_HD cx<T> transformed(int index, const Value& value) const {
    cx<T> sum{T(0.f), T(0.f)};
    int turn = 0;
    WB_ROLL for (int k = 0; k < a.subcarriers; k++) {
      sum = fma(pucch_same<T>(a.units[turn]), value(k), sum);
      turn = turn + index < a.subcarriers ? turn + index : turn + index - a.subcarriers;
    }
    return sum;
  }
  /// Energies of part 1 and part 2 in each data symbol. The elements of a symbol with both are those of its
  /// inverse DFT.
  template <class T, class G>
  WB_HD void split_energies(item<T> b, G g, T* s) const {
    const int M = a.subcarriers, per_symbol = M / a.spreading;
    for (int n = g.rank; n < a.data_symbol_count * M; n += g.size) {
      const int d = n / M, share = a.shares[d];
      if (share == 0 || share == per_symbol) continue;
      T energy(0.f);
      WB_ROLL for (int antenna = 0; antenna < a.antennas; antenna++) {
        const auto value = [&](int k) WB_INLINE_LAMBDA { return received(b, antenna, a.data_symbols[d], k); };
        energy = fma(T(1.f / static_cast<float>(M)), norm(transformed<T>(n % M, value)), energy);
      }
      s[a.offsets.gains + n] = energy;
    }
    g.sync();
    for (int d = g.rank; d < a.data_symbol_count; d += g.size) {
      const int share = a.shares[d];
      T first(0.f), second(0.f);
      if (share == 0 || share == per_symbol) {
        WB_ROLL for (int antenna = 0; antenna < a.antennas; antenna++) first =
            first + s[a.offsets.data_energies + antenna * a.data_symbol_count + d];
        if (share == 0) {
          second = first;
          first = T(0.f);
        }
      } else {
        WB_ROLL for (int n = 0; n < M; n++) {
          const T energy = s[a.offsets.gains + d * M + n];
          if (n % per_symbol < share)
            first = first + energy;
          else
            second = second + energy;
        }
      }
      s[a.offsets.part_energies + 2 * d] = first;
      s[a.offsets.part_energies + 2 * d + 1] = second;
    }
    g.sync();
  }
  /// sum over antennas of conj(h) y, and of |h|^2.
  template <class T>
  WB_HD cx<T> combined(item<T> b, int d, int k, const T* s, T& power) const {
    cx<T> sum{T(0.f), T(0.f)};
    power = T(0.f);
    WB_ROLL for (int antenna = 0; antenna < a.antennas; antenna++) {
      cx<T> h{T(0.f), T(0.f)};
      const T* path = s + a.offsets.paths + 2 * (antenna * a.data_symbol_count + d) * a.ranks;
      WB_ROLL for (int i = 0; i < a.ranks; i++) h =
          fma(pucch_same<T>(a.synthesis[k * a.ranks + i]), load_cx(path, i), h);
      sum = conj_fma(h, received(b, antenna, a.data_symbols[d], k), sum);
      power = norm_fma(h, power);
    }
    return sum;
  }
  template <class T>
  WB_HD void put_llr(item<T> b, int e, T x, typename rebind<T>::mask good) const {
    store(a.llr, static_cast<std::size_t>(a.order[e]), b, or_zero(good, T(a.signs[e]) * x));
  }

  template <class T, class G>
  WB_HD void comb_llrs(item<T> b, T noise, typename rebind<T>::mask good, G g, T* s) const {
    const int in_symbol = 2 * a.subcarriers / 3;
    const T factor = T(2.82842712f) / max(noise, T(1e-37f));
    for (int n = g.rank; n < a.data_symbol_count * in_symbol; n += g.size) {
      const int d = n / in_symbol, j = n % in_symbol, k = 3 * (j / 2) + 2 * (j % 2);
      T power;
      const cx<T> x = combined(b, d, k, s, power);
      s[a.offsets.gains + n] = power;
      put_llr(b, 2 * n, factor * x.re, good);
      put_llr(b, 2 * n + 1, factor * x.im, good);
    }
    g.sync();
    for (int d = g.rank; d < a.data_symbol_count; d += g.size) {
      T sum(0.f);
      WB_ROLL for (int j = 0; j < in_symbol; j++) sum = sum + s[a.offsets.gains + d * in_symbol + j];
      s[a.offsets.norms + d] = sum / max(noise, T(1e-37f));
    }
    g.sync();
  }

  template <class T, class G>
  WB_HD void spread_llrs(item<T> b, T noise, typename rebind<T>::mask good, G g, T* s) const {
    const int M = a.subcarriers;
    for (int n = g.rank; n < a.data_symbol_count * M; n += g.size) {
      T power;
      const cx<T> x = combined(b, n / M, n % M, s, power);
      const T inverse = T(1.f) / max(power + noise, T(1e-37f));
      store_cx(s + a.offsets.values, n, inverse * x);
      s[a.offsets.gains + n] = power * inverse;
    }
    g.sync();
    // The equalised symbol is rho d and noise of variance rho (1 - rho).
    for (int d = g.rank; d < a.data_symbol_count; d += g.size) {
      T rho(0.f), sum(0.f);
      WB_ROLL for (int k = 0; k < M; k++) {
        const T share = s[a.offsets.gains + d * M + k];
        rho = rho + share;
        sum = fma(share, T(1.f) - share, sum);
      }
      const T factor = T(1.f) / max(T(1.f) - T(1.f / static_cast<float>(M)) * rho, T(1e-5f));
      s[a.offsets.factors + d] = factor;
      s[a.offsets.norms + d] = factor * factor * sum;
    }
    g.sync();
    const int per_symbol = M / a.spreading;
    const float scale = 1.f / sqrt(static_cast<float>(M));
    for (int n = g.rank; n < a.data_symbol_count * per_symbol; n += g.size) {
      const int d = n / per_symbol, j = n % per_symbol;
      cx<T> x{T(0.f), T(0.f)};
      WB_ROLL for (int r = 0; r < a.spreading; r++) {
        const int index = r * per_symbol + j;
        const auto value = [&](int k) WB_INLINE_LAMBDA { return load_cx(s + a.offsets.values, d * M + k); };
        const cx<T> sum = transformed<T>(index, value);
        x = a.format == 4 ? fma(pucch_same<T>(a.codes[index]), sum, x) : sum;
      }
      x = (T(scale) * s[a.offsets.factors + d]) * x;
      if (a.one_bit != 0) {
        // pi/2-BPSK: odd symbols are turned by a quarter.
        const cx<T> z = n % 2 == 0 ? x : cx<T>{x.im, T(0.f) - x.re};
        put_llr(b, n, T(2.82842712f) * (z.re + z.im), good);
      } else {
        put_llr(b, 2 * n, T(2.82842712f) * x.re, good);
        put_llr(b, 2 * n + 1, T(2.82842712f) * x.im, good);
      }
    }
    g.sync();
  }
};

/// Decides whether the decoded message is detected.
struct pucch_decide_op : thread_op<pucch_decide_args> {
  double flops() const { return 4.0 * static_cast<double>(a.llr.elements) + 20; }
  double bytes() const { return 5.0 * static_cast<double>(a.llr.elements) + 16 + 2.0 * a.bits; }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G, T*) const {
    using I = typename rebind<T>::i32;
    const std::size_t first_coded = static_cast<std::size_t>(a.first_coded_bits);
    const T metric = metric_of(b, 0, first_coded, load(a.numbers, 0, b));
    const auto found = is_decoded<T>(a.decoded_status, a.with_crc, b) & (metric > T(a.threshold));
    auto second = found;
    if (a.second_status.data != nullptr)
      second = found & is_decoded<T>(a.second_status, a.second_with_crc, b) &
               (metric_of(b, first_coded, a.llr.elements, load(a.numbers, 4, b)) > T(a.second_threshold));
    for (int i = 0; i < a.bits; i++) {
      const std::size_t n = static_cast<std::size_t>(i);
      pucch_put<T>(a.out_bits, n, b,
                   select(i < a.first_bits ? found : second, load_int<T>(a.decoded, n, b), I(0)));
    }
    pucch_put<T>(a.detected, 0, b, select(found, I(1), I(0)));
    if (a.second_status.data != nullptr)
      pucch_put<T>(a.second_detected, 0, b, select(second, I(1), I(0)));
    else
      pucch_put<T>(a.second_detected, 0, b, I(0));
    pucch_put<T>(a.metric, b, metric);
    pucch_put<T>(a.snr_db, b, or_zero(found, pucch_db(load(a.numbers, 1, b), load(a.numbers, 2, b))));
    if (a.status.data != nullptr) store_status(a.status, b, load(a.numbers, 3, b) > T(0.f));
  }

 private:
  /// The square of the cosine between what was received and what the coded bits would have given.
  template <class T>
  WB_HD T metric_of(item<T> b, std::size_t begin, std::size_t end, T norm) const {
    using I = typename rebind<T>::i32;
    T sum(0.f);
    for (std::size_t e = begin; e < end; e++) {
      const T llr = load(a.llr, e, b);
      sum = sum + select((load_int<T>(a.coded, e, b) & I(1)) != I(0), T(0.f) - llr, llr);
    }
    const auto positive = (sum > T(0.f)) & (norm > T(0.f));
    const T share = or_zero(positive, sum * (sum / select(positive, norm, T(1.f))));
    return min(share, T(1.f));  // formats 3 and 4 have a mean in place of the message's spectrum
  }
  template <class T>
  WB_HD static typename rebind<T>::mask is_decoded(const view<const std::uint8_t>& status, int with_crc,
                                                   item<T> b) {
    using I = typename rebind<T>::i32;
    const I wanted(with_crc != 0 ? status_erased | status_stopped : status_erased);
    return (load_int<T>(status, 0, b) & wanted) == I(with_crc != 0 ? status_stopped : 0);
  }
};

/// A resource element at a time.
struct pucch_map_op : block_op<pucch_map_args> {
  int threads() const { return 128; }
  double flops() const { return a.format < 3 ? 0 : 8.0 * a.symbols * a.subcarriers * a.subcarriers; }
  double bytes() const { return 8.0 * a.symbols * a.subcarriers + static_cast<double>(a.in.elements); }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G g, T*) const {
    for (int e = g.rank; e < a.symbols * a.subcarriers; e += g.size)
      for (int i = 0; i < b.valid; i++) {
        const std::size_t occasion = b.first + static_cast<std::size_t>(i);
        const cx<float> z = one(occasion, e / a.subcarriers, e % a.subcarriers);
        a.out.data[occasion * a.out.item_stride + static_cast<std::size_t>(e) * a.out.element_stride] = {
            z.re + 0.f, z.im + 0.f};  // -0 becomes 0
      }
  }

 private:
  WB_HD int bit(std::size_t occasion, int n) const {
    return a.in.data[occasion * a.in.item_stride + static_cast<std::size_t>(n) * a.in.element_stride] & 1;
  }
  /// A coded bit as it is sent.
  WB_HD int sent(std::size_t occasion, int n) const { return bit(occasion, a.order[n]); }
  WB_HD cx<float> reference(std::size_t occasion, int rows, int length, int row, int n) const {
    const std::size_t element =
        (static_cast<std::size_t>(a.slots[occasion]) * static_cast<std::size_t>(rows) +
         static_cast<std::size_t>(row)) *
            static_cast<std::size_t>(length) +
        static_cast<std::size_t>(n);
    return pucch_same<float>(a.reference[element]);
  }
  /// A modulated symbol of formats 2 to 4.
  WB_HD cx<float> modulated(std::size_t occasion, int n) const {
    const float half = 0.707106781f;
    if (a.one_bit != 0) {
      const float x = (sent(occasion, n) != 0 ? -half : half) * a.signs[n];
      return n % 2 == 0 ? cx<float>{x, x} : cx<float>{-x, x};
    }
    return {(sent(occasion, 2 * n) != 0 ? -half : half) * a.signs[2 * n],
            (sent(occasion, 2 * n + 1) != 0 ? -half : half) * a.signs[2 * n + 1]};
  }
  WB_HD cx<float> one(std::size_t occasion, int l, int k) const {
    if (a.format <= 1) {
      int message = 0;
      for (int i = 0; i < a.bits; i++) message |= bit(occasion, i) << i;
      const cx<float> r = reference(occasion, a.symbols, 12, l, k);
      if (a.shifts[message] < 0) return {0.f, 0.f};
      if (a.format == 0) return r * pucch_same<float>(a.units[a.shifts[message] * k % 12]);
      return l % 2 == 0 ? r : r * pucch_same<float>(a.candidates[message]);
    }
    const int kind = a.symbol_kind[l];
    if (a.format == 2) {
      if (k % 3 == 1) return reference(occasion, a.pilot_symbol_count, a.pilot_count, l, k / 3);
      return modulated(occasion, (l * a.subcarriers / 3 + k / 3) * 2 + (k % 3 == 2 ? 1 : 0));
    }
    if (kind < 0) return reference(occasion, a.pilot_symbol_count, a.pilot_count, -1 - kind, k);
    const int M = a.subcarriers, per_symbol = M / a.spreading;
    cx<float> sum{0.f, 0.f};
    for (int n = 0; n < M; n++) {
      cx<float> d = modulated(occasion, kind * per_symbol + n % per_symbol);
      if (a.format == 4) d = d * pucch_same<float>(a.codes[n]);
      sum = conj_fma(pucch_same<float>(a.units[n * k % M]), d, sum);
    }
    return (1.f / sqrt(static_cast<float>(M))) * sum;
  }
};

}  // namespace WB_ISA
}  // namespace wb
