#pragma once
// The steps of a cell search (cell_search.hpp has the method). Lanes are neighbouring samples in the filter,
// tiles of offsets in the correlation, candidates in the last step.
#include <type_traits>

#include <warpband/core/cx.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/math.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/nr/scratch_cx.hpp>
#include <warpband/nr/sync/cell_search_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// y_m = exp(-2 pi i turn m) sum over i of g_i x_(m M + i - centre), by M phases: x_(j M + p) lies in row p
/// of the scratch memory, so that lanes read neighbours.
struct search_filter_op : parts_op<search_filter_args> {
  int threads() const { return search_tile; }
  std::size_t scratch_bytes(int) const {
    return 2 * sizeof(float) * static_cast<std::size_t>(a.decimation) * static_cast<std::size_t>(a.columns);
  }
  double flops() const { return 8.0 * search_tile * a.tap_count; }
  double bytes() const { return 8.0 * search_tile * (a.decimation + 1); }

  template <class G>
  WB_HD void operator()(std::size_t number, int, G g, void* memory) const {
    run<lane>(number, g, static_cast<float*>(memory));
  }
  template <class T, class G>
  WB_HD void run(std::size_t number, G g, float* scratch) const {
    const std::size_t row = number / a.tiles, tile = number - row * a.tiles;
    const int m = a.decimation, wide = a.columns, count = m * wide;
    float *re = scratch, *im = scratch + count;
    const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(tile) * search_tile * m - a.tap_count / 2,
                         samples = static_cast<std::ptrdiff_t>(a.in.elements);
    const std::ptrdiff_t inner = begin + a.tap_count / 2, behind = inner + search_tile * m;
    const cx_pair* in = a.in.data + row * a.in.item_stride;
    bool done = false;
    if constexpr (std::is_same_v<G, solo> && width_of<T> > 1)
      done = a.in.element_stride == 1 && begin >= 0 && begin + count + width_of<T> <= samples &&
             load_phases<T>(in + begin, re, im, wide);
    std::int32_t erased = 0;
    int p = g.rank % m, j = g.rank / m;
    const int step = g.size % m, columns_a_step = g.size / m;
    for (int i = done ? count : g.rank; i < count; i += g.size) {
      const std::ptrdiff_t n = begin + i;
      cx_pair z{0.f, 0.f};
      if (n >= 0 && n < samples) z = in[n * static_cast<std::ptrdiff_t>(a.in.element_stride)];
      if (!(abs(z.re) <= 1e15f && abs(z.im) <= 1e15f)) {  // NaN too
        z = cx_pair{0.f, 0.f};
        if (n >= inner && n < behind) erased++;
      }
      re[p * wide + j] = z.re;
      im[p * wide + j] = z.im;
      p += step, j += columns_a_step;
      if (p >= m) p -= m, j++;
    }
    erased = g.sum_all(erased);
    if (g.rank == 0) a.erased[number] = erased;
    g.sync();
    float* out_re = a.re + row * a.stride + tile * search_tile;
    float* out_im = a.im + row * a.stride + tile * search_tile;
    const view<const float> from_re{re, 1, static_cast<std::size_t>(count), 0, 1},
        from_im{im, 1, static_cast<std::size_t>(count), 0, 1};
    const view<float> to_re{out_re, 1, search_tile, 0, 1}, to_im{out_im, 1, search_tile, 0, 1};
    // Chains of sums wait for each other: a thread alone makes several at once.
    constexpr int at_once = std::is_same_v<G, solo> ? 4 : 1;
    for (int k = at_once * width_of<T> * g.rank; k < search_tile; k += at_once * width_of<T> * g.size) {
      cx<T> y[at_once];
      WB_UNROLL for (int u = 0; u < at_once; u++) y[u] = cx<T>{T(0.f), T(0.f)};
      int phase = 0, column = k, place = k;
      WB_ROLL for (int i = 0; i < a.tap_count; i++, place += wide) {
        const cx<T> tap{T(a.taps[i].re), T(a.taps[i].im)};
        WB_UNROLL for (int u = 0; u < at_once; u++) {
          const item<T> b{static_cast<std::size_t>(place + u * width_of<T>), width_of<T>};
          y[u] = fma(tap, cx<T>{load(from_re, 0, b), load(from_im, 0, b)}, y[u]);
        }
        if (++phase == m) phase = 0, place = ++column - wide;
      }
      WB_UNROLL for (int u = 0; u < at_once; u++) {
        const item<T> b{static_cast<std::size_t>(k + u * width_of<T>), width_of<T>};
        if (a.turn != 0) {
          using U = typename rebind<T>::u32;
          const std::uint32_t first =
              static_cast<std::uint32_t>(tile) * search_tile + static_cast<std::uint32_t>(b.first);
          T s, c;
          sincos_turn((iota<U>() + U(first)) * U(a.turn), s, c);
          y[u] = cx<T>{c, T(0.f) - s} * y[u];
        }
        store(to_re, 0, b, y[u].re);
        store(to_im, 0, b, y[u].im);
      }
    }
  }

 private:
  /// Copies samples that are side by side to their phases, as squares. False if one of them is not usable.
  template <class T>
  bool load_phases(const cx_pair* in, float* re, float* im, int wide) const {
    const auto m = static_cast<std::size_t>(a.decimation);
    const view<const float> from{reinterpret_cast<const float*>(in), 1, 0, 1, 2 * m};
    T bad(0.f);
    for (int j = 0; j < wide; j += width_of<T>)
      for (int p = 0; p < a.decimation; p += width_of<T> / 2) {
        T x[width_of<T>];
        load_square(from, static_cast<std::size_t>(2 * p), item<T>{static_cast<std::size_t>(j), width_of<T>},
                    x);
        const int phases = a.decimation - p < width_of<T> / 2 ? a.decimation - p : width_of<T> / 2;
        for (int i = 0; i < 2 * phases; i++) {
          bad = select(abs(x[i]) <= T(1e15f), bad, T(1.f));
          float* to = (i % 2 == 0 ? re : im) + (p + i / 2) * wide + j;
          __builtin_memcpy(to, &x[i], sizeof(T));
        }
      }
    for (int i = 0; i < width_of<T>; i++)
      if (bad.x[i] > 0.f) return false;
    return true;
  }
};

/// Radix-4 FFT of 256 complex values in scratch memory. Value k of a transform has index search_bin(k).
WB_HD int search_bin(int k) { return (k & 3) << 6 | (k >> 2 & 3) << 4 | (k >> 4 & 3) << 2 | (k >> 6 & 3); }
/// exp(2 pi i k / 256) of the table.
template <class T>
WB_HD cx<T> on_circle(const float* circle, int k) {
  return {T(circle[2 * k]), T(circle[2 * k + 1])};
}
/// Sums of four values with the powers of i, as the forward transform has them.
template <class T>
struct search_butterfly {
  cx<T> x[4];
  WB_HD search_butterfly(cx<T> a, cx<T> b, cx<T> c, cx<T> d) {
    const cx<T> ac = a + c, bd = b + d, even = a - c, odd = b - d;
    x[0] = ac + bd;
    x[1] = cx<T>{even.re + odd.im, even.im - odd.re};
    x[2] = ac - bd;
    x[3] = cx<T>{even.re - odd.im, even.im + odd.re};
  }
};
/// Forward, of values in order. Each thread of the group calls it; barriers follow each pass, the last too.
template <class T, class G>
WB_HD void search_transform(T* s, const float* circle, G g) {
  WB_ROLL for (int shift = 6; shift >= 0; shift -= 2) {
    const int quarter = 1 << shift, step = 64 >> shift;
    for (int i = g.rank; i < 64; i += g.size) {
      const int j = i & (quarter - 1), first = 4 * (i - j) + j;
      const search_butterfly<T> y(load_cx(s, first), load_cx(s, first + quarter),
                                  load_cx(s, first + 2 * quarter), load_cx(s, first + 3 * quarter));
      store_cx(s, first, y.x[0]);
      for (int k = 1; k < 4; k++)
        store_cx(s, first + k * quarter, conj(on_circle<T>(circle, k * j * step)) * y.x[k]);
    }
    g.sync();
  }
}
/// A pass of the inverse, whose values come in the forward transform's order: those of butterfly i.
template <class T>
WB_HD search_butterfly<T> search_inverse(const T* s, const float* circle, int first, int quarter, int turn) {
  // The inputs 1 and 3 of the forward butterfly in exchange give the inverse.
  return {load_cx(s, first), on_circle<T>(circle, 3 * turn) * load_cx(s, first + 3 * quarter),
          on_circle<T>(circle, 2 * turn) * load_cx(s, first + 2 * quarter),
          on_circle<T>(circle, turn) * load_cx(s, first + quarter)};
}

/// Correlates a tile of offsets with all replicas by FFTs, and keeps the best of each 64 offsets.
struct search_correlate_op : block_op<search_correlate_args> {
  static constexpr int spectrum = 0, work = 2 * search_transform_size,
                       scale = work + 2 * search_transform_size, best = scale + 2 * search_tile,
                       codes = best + 3 * search_tile, total = codes + 3 * search_tile;
  int threads() const { return 64; }
  std::size_t scratch(int) const { return total; }
  double flops() const {
    return 40.0 * search_transform_size +
           6.0 * a.hypotheses * (46.0 * search_transform_size + 5 * search_tile);
  }
  double bytes() const { return 8.0 * search_transform_size + 4.0 * search_peak_values; }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G g, T* s) const {
    samples_of(b, g, s);
    energies(g, s);
    search_transform(s + spectrum, a.circle, g);
    const float* r = a.replicas;
    WB_ROLL for (int half = 0; half < 2; half++) WB_ROLL for (int h = 0; h < a.hypotheses; h++)
        WB_ROLL for (int n = 0; n < 3; n++, r += 2 * search_transform_size)
            correlate(g, s, r, half, n, static_cast<float>(2 * h + half));
    peaks(b, g, s);
  }

 private:
  template <class T, class G>
  WB_HD void samples_of(item<T> b, G g, T* s) const {
    const view<const float> re{a.re + 1, 1, 0, 1, search_tile}, im{a.im + 1, 1, 0, 1, search_tile};
    for (int i = width_of<T> * g.rank; i < search_transform_size; i += width_of<T> * g.size) {
      T x[width_of<T>], y[width_of<T>];
      load_square(re, static_cast<std::size_t>(i), b, x);
      load_square(im, static_cast<std::size_t>(i), b, y);
      for (int j = 0; j < width_of<T>; j++) store_cx(s + spectrum, i + j, cx<T>{x[j], y[j]});
    }
    for (int t = g.rank; t < 3 * search_tile; t += g.size) s[best + t] = s[codes + t] = T(0.f);
    g.sync();
  }
  /// 1 over the energies of 127 and 128 samples from each offset on. Sums up to the middle and from there on
  /// have no cancellation.
  template <class T, class G>
  WB_HD void energies(G g, T* s) const {
    constexpr int middle = search_values;
    for (int part = g.rank; part < 2; part += g.size) {
      T sum(0.f);
      if (part == 0) {
        for (int t = middle; t >= 0; t--) {
          if (t < middle) sum = norm_fma(load_cx(s + spectrum, t), sum);
          s[work + t] = sum;
        }
      } else {
        for (int t = 0; t <= search_tile; t++) {
          s[work + search_tile + t] = sum;
          if (t < search_tile) sum = norm_fma(load_cx(s + spectrum, middle + t), sum);
        }
      }
    }
    g.sync();
    // The FFT's rounding errors are those of the tile: 1e-9 of its energy is more.
    const T least = max(T(1e-9f) * (s[work] + s[work + 2 * search_tile]), T(1e-30f));
    for (int i = g.rank; i < 2 * search_tile; i += g.size) {
      const int t = i % search_tile;
      s[scale + i] = T(1.f) / max(s[work + t] + s[work + search_tile + i / search_tile + t], least);
    }
    g.sync();
  }
  template <class T, class G>
  WB_HD void correlate(G g, T* s, const float* r, int half, int n, float code) const {
    for (int i = g.rank; i < 64; i += g.size) {
      cx<T> z[4];
      WB_UNROLL for (int k = 0; k < 4; k++) z[k] =
          cx<T>{T(r[2 * (4 * i + k)]), T(r[2 * (4 * i + k) + 1])} * load_cx(s + spectrum, 4 * i + k);
      const search_butterfly<T> y(z[0], z[3], z[2], z[1]);
      WB_UNROLL for (int k = 0; k < 4; k++) store_cx(s + work, 4 * i + k, y.x[k]);
    }
    g.sync();
    WB_ROLL for (int shift = 2; shift < 6; shift += 2) {
      const int quarter = 1 << shift, step = 64 >> shift;
      for (int i = g.rank; i < 64; i += g.size) {
        const int j = i & (quarter - 1), first = 4 * (i - j) + j;
        const auto y = search_inverse(s + work, a.circle, first, quarter, j * step);
        WB_UNROLL for (int k = 0; k < 4; k++) store_cx(s + work, first + k * quarter, y.x[k]);
      }
      g.sync();
    }
    for (int i = g.rank; i < 64; i += g.size) {  // offsets behind the tile are not needed
      const auto y = search_inverse(s + work, a.circle, i, 64, i);
      keep(s, half, n, i, y.x[0], code);
      keep(s, half, n, i + 64, y.x[1], code);
    }
    g.sync();
  }
  template <class T>
  WB_HD void keep(T* s, int half, int n, int t, cx<T> sum, float code) const {
    const T metric = norm(sum) * s[scale + half * search_tile + t];
    T &highest = s[best + n * search_tile + t], &its = s[codes + n * search_tile + t];
    const auto better = metric > highest;
    highest = select(better, metric, highest);
    its = select(better, T(code), its);
  }
  template <class T, class G>
  WB_HD void peaks(item<T> b, G g, const T* s) const {
    constexpr int parts = search_tile / search_peak_block;
    for (int i = g.rank; i < 3 * parts; i += g.size) {
      const int first = i / parts * search_tile + i % parts * search_peak_block;
      T metric(0.f), code(0.f), offset(0.f);
      const T room = room_of<T>(b) - T(static_cast<float>(i % parts * search_peak_block));
      for (int t = 0; t < search_peak_block; t++) {
        const T number(static_cast<float>(t));
        const T x = select(number < room, s[best + first + t], T(0.f));
        const auto better = x > metric;
        metric = select(better, x, metric);
        code = select(better, s[codes + first + t], code);
        offset = select(better, number, offset);
      }
      const auto to = static_cast<std::size_t>(3 * i);
      store(a.peaks, to, b, metric);
      store(a.peaks, to + 1, b, code);
      store(a.peaks, to + 2, b, offset);
    }
  }
  /// Offsets of the row from the tile's first one on, up to a tile.
  template <class T>
  WB_HD T room_of(item<T> b) const {
    if constexpr (width_of<T> == 1) {
      return room(b.first);
    } else {
      T r;
      for (int i = 0; i < width_of<T>; i++)
        r.x[i] = room(b.first + static_cast<std::size_t>(i < b.valid ? i : b.valid - 1));
      return r;
    }
  }
  WB_HD float room(std::size_t number) const {
    const std::size_t first = number % a.tiles * search_tile;
    const std::size_t left = a.offsets > first ? a.offsets - first : 0;
    return static_cast<float>(left < search_tile ? left : search_tile);
  }
};

struct search_identify_op : block_op<search_identify_args> {
  int threads() const { return 128; }
  // Two transforms; the Hadamard transforms use the same memory later. 254 values and 127 products; 17 taps,
  // 2 halves, 2 sums
  static constexpr int transforms = 0, values = 4 * search_transform_size, products = values + 508,
                       taps = products + 254, halves = taps + 34, sums = halves + 4, total = sums + 2;
  std::size_t scratch(int) const { return total; }
  double flops() const {
    return 2 * 40.0 * search_transform_size + 3 * 28.0 * search_fft + 16.0 * 17 * search_values;
  }
  double bytes() const { return 8.0 * 2 * search_fft + 4.0 * search_result; }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G g, T* s) const {
    using U = typename rebind<T>::u32;
    T re[1], im[1];
    // Samples less the hypothesis of the frequency, and the two halves of the correlation in time.
    for (int i = g.rank; i < 2 * search_fft; i += g.size) {
      const int n = i % search_fft, offset = i < search_fft ? n : n + search_sss_distance;
      gather(b, offset, re[0], im[0]);
      T sine, cosine;
      sincos_turn(turn_of<T>(b) * U(static_cast<std::uint32_t>(n)), sine, cosine);
      store_cx(s + transforms, at_sample(i), cx<T>{cosine, T(0.f) - sine} * cx<T>{re[0], im[0]});
    }
    g.sync();
    T energy(0.f);  // products of four samples must not overflow
    for (int i = 0; i < 2 * search_fft; i++) energy = norm_fma(sample(s, i), energy);
    const T unit = T(1.f) / max(sqrt(energy), T(1e-15f));
    g.sync();
    for (int i = g.rank; i < 2 * search_fft; i += g.size)
      store_cx(s + transforms, at_sample(i), unit * sample(s, i));
    g.sync();
    for (int half = g.rank; half < 2; half += g.size) {
      cx<T> sum{T(0.f), T(0.f)};
      for (int n = half * 64; n < half * 64 + 64; n++) sum = conj_fma(replica_of(b, n), sample(s, n), sum);
      s[halves + 2 * half] = sum.re;
      s[halves + 2 * half + 1] = sum.im;
    }
    g.sync();
    // The rest of the frequency: the phase advance from half to half, and its 64th part by halving.
    const cx<T> first{s[halves], s[halves + 1]}, second{s[halves + 2], s[halves + 3]};
    cx<T> u = second * conj(first);
    const T length = sqrt(norm(u));
    const auto none = length <= T(1e-30f);
    const T inverse = T(1.f) / select(none, T(1.f), length);
    u = cx<T>{select(none, T(1.f), u.re * inverse), select(none, T(0.f), u.im * inverse)};
    const cx<T> advance = u;
    cx<T> power[7];  // exp(i phi 2^j)
    power[6] = u;
    WB_UNROLL for (int j = 5; j >= 0; j--) {
      const T c = sqrt(max(T(0.5f) + T(0.5f) * power[j + 1].re, T(0.f)));
      const T steep = sqrt(max(T(0.5f) - T(0.5f) * power[j + 1].re, T(0.f)));
      const T sine = select(power[j + 1].re < T(0.f), select(power[j + 1].im < T(0.f), T(0.f) - steep, steep),
                            T(0.5f) * power[j + 1].im / max(c, T(0.1f)));
      power[j] = cx<T>{c, sine};
    }
    for (int i = g.rank; i < 2 * search_fft; i += g.size) {
      cx<T> z = sample(s, i);
      WB_UNROLL for (int j = 0; j < 7; j++) if ((i >> j & 1) != 0) z = conj(power[j]) * z;
      store_cx(s + transforms, at_sample(i), z);
      store_cx(s + transforms, at_sample(i) + search_fft, cx<T>{T(0.f), T(0.f)});
    }
    g.sync();
    for (int symbol = 0; symbol < 2; symbol++)
      search_transform(s + transforms + 2 * search_transform_size * symbol, a.circle, g);
    const auto half = is_half<T>(b);
    for (int i = g.rank; i < 2 * search_values; i += g.size) {
      const int symbol = i / search_values, k = i % search_values - 63;
      const cx<T> sum = load_cx(s + transforms, symbol * search_transform_size + search_bin(2 * k & 255));
      const cx<T> late = on_circle<T>(a.circle, k & 255) * sum;
      s[values + 2 * i] = T(0.0883883461f) * select(half, late.re, sum.re);  // 1 / sqrt 128
      s[values + 2 * i + 1] = T(0.0883883461f) * select(half, late.im, sum.im);
    }
    g.sync();
    // Taps of the channel about the strongest path, from the PSS.
    for (int i = g.rank; i < 2 * search_taps_aside + 1; i += g.size) {
      cx<T> sum{T(0.f), T(0.f)};
      for (int k = 0; k < search_values; k++) {
        const int turn = 4 * ((k - 63) * (i - search_taps_aside) & 127);
        const cx<T> w{T(a.circle[turn]), T(a.circle[turn + 1])};
        sum = fma(w, T(a.pss[k]) * value(s, k), sum);
      }
      s[taps + 2 * i] = sum.re;
      s[taps + 2 * i + 1] = sum.im;
    }
    for (int symbol = g.rank; symbol < 2; symbol += g.size) {
      T sum(0.f);
      for (int k = 0; k < search_values; k++) sum = norm_fma(value(s, symbol * search_values + k), sum);
      s[sums + symbol] = sum;
    }
    g.sync();
    // A tap counts if it has five times the power that noise alone would give it.
    const T least = T(5.f) * s[sums];
    for (int k = g.rank; k < search_values; k += g.size) {
      cx<T> w{T(0.f), T(0.f)};
      for (int i = 0; i < 2 * search_taps_aside + 1; i++) {
        const cx<T> tap{s[taps + 2 * i], s[taps + 2 * i + 1]};
        const auto counts = norm(tap) > least;
        const T in = i == search_taps_aside ? T(1.f) : select(counts, T(1.f), T(0.f));
        const int turn = 4 * ((k - 63) * (i - search_taps_aside) & 127);
        w = conj_fma(cx<T>{T(a.circle[turn]), T(a.circle[turn + 1])}, in * tap, w);
      }
      s[products + 2 * k] = w.re;
      s[products + 2 * k + 1] = w.im;
    }
    g.sync();
    T weights(0.f);
    for (int k = 0; k < search_values; k++)
      weights = norm_fma(cx<T>{s[products + 2 * k], s[products + 2 * k + 1]}, weights);
    const T scale = T(1.f) / max(weights * s[sums + 1], T(1e-30f));
    g.sync();
    for (int k = g.rank; k < search_values; k += g.size) {
      const cx<T> z = conj(cx<T>{s[products + 2 * k], s[products + 2 * k + 1]}) * value(s, search_values + k);
      s[products + 2 * k] = z.re;
      s[products + 2 * k + 1] = z.im;
    }
    g.sync();
    // An SSS is the product of two m-sequences. With values in the order of the second one's states, a
    // Hadamard transform correlates with all of its shifts.
    constexpr int shifts = 112, firsts = search_ids / shifts;
    for (int i = g.rank; i < firsts * search_values; i += g.size) {
      const int first = i / search_values, k = i % search_values;
      store_cx(s + transforms, first * search_fft + a.states[k],
               T(a.first[15 * first + 5 * a.n_id2 + k]) * load_cx(s + products, k));
    }
    for (int first = g.rank; first < firsts; first += g.size)
      store_cx(s + transforms, first * search_fft, cx<T>{T(0.f), T(0.f)});  // no state is 0
    g.sync();
    WB_ROLL for (int step = 1; step < search_fft; step *= 2) {
      for (int i = g.rank; i < firsts * search_fft / 2; i += g.size) {
        const int low = i & (step - 1), j = 2 * (i - low) + low;
        const cx<T> x = load_cx(s + transforms, j), y = load_cx(s + transforms, j + step);
        store_cx(s + transforms, j, x + y);
        store_cx(s + transforms, j + step, x - y);
      }
      g.sync();
    }
    for (int id = g.rank; id < search_ids; id += g.size) {
      const T rho2 = norm(load_cx(s + transforms, id / shifts * search_fft + a.masks[id % shifts])) * scale;
      store(a.out, static_cast<std::size_t>(2 + 4 * search_values + id), b, rho2);
    }
    for (int i = g.rank; i < 4 * search_values; i += g.size)
      store(a.out, static_cast<std::size_t>(2 + i), b, s[values + i]);
    if (g.rank == 0) {
      store(a.out, 0, b, advance.re);
      store(a.out, 1, b, advance.im);
    }
  }

 private:
  /// Index of sample i in the two transforms, whose second halves are zero.
  WB_HD static int at_sample(int i) { return i + (i < search_fft ? 0 : search_fft); }
  template <class T>
  WB_HD static cx<T> sample(const T* s, int i) {
    return load_cx(s + transforms, at_sample(i));
  }
  template <class T>
  WB_HD static cx<T> value(const T* s, int k) {
    return load_cx(s + values, k);
  }
  /// The candidate of lane i.
  template <class T>
  WB_HD static std::size_t candidate(item<T> b, int i) {
    return b.first + static_cast<std::size_t>(i < b.valid ? i : b.valid - 1);
  }
  template <class T>
  WB_HD void gather(item<T> b, int n, T& re, T& im) const {
    if constexpr (width_of<T> == 1) {
      re = a.re[a.start[b.first] + n];
      im = a.im[a.start[b.first] + n];
    } else {
      for (int i = 0; i < width_of<T>; i++) {
        re.x[i] = a.re[a.start[candidate(b, i)] + n];
        im.x[i] = a.im[a.start[candidate(b, i)] + n];
      }
    }
  }
  template <class T>
  WB_HD typename rebind<T>::u32 turn_of(item<T> b) const {
    if constexpr (width_of<T> == 1) {
      return a.turns[a.code[b.first] / 2];
    } else {
      typename rebind<T>::u32 turns(0u);
      for (int i = 0; i < width_of<T>; i++) turns.x[i] = a.turns[a.code[candidate(b, i)] / 2];
      return turns;
    }
  }
  template <class T>
  WB_HD typename rebind<T>::mask is_half(item<T> b) const {
    if constexpr (width_of<T> == 1) {
      return a.code[b.first] % 2 != 0;
    } else {
      typename rebind<T>::i32 half(0);
      for (int i = 0; i < width_of<T>; i++) half.x[i] = a.code[candidate(b, i)] % 2;
      return half != typename rebind<T>::i32(0);
    }
  }
  /// Of the replica without its frequency.
  template <class T>
  WB_HD cx<T> replica_of(item<T> b, int n) const {
    if constexpr (width_of<T> == 1) {
      const float* r = a.replica + a.code[b.first] % 2 * 256 + 2 * n;
      return {r[0], r[1]};
    } else {
      cx<T> z;
      for (int i = 0; i < width_of<T>; i++) {
        const float* r = a.replica + a.code[candidate(b, i)] % 2 * 256 + 2 * n;
        z.re.x[i] = r[0];
        z.im.x[i] = r[1];
      }
      return z;
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
