#pragma once
// The four steps of a cell search (cell_search.hpp has the method). Lanes are neighbouring samples in the
// filter, neighbouring offsets in the correlation, candidates in the last step.
#include <warpband/core/cx.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/math.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/nr/sync/cell_search_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// y_m = exp(-2 pi i turn m) sum over i of g_i x_(m M + i - centre), by M phases: x_(j M + p) lies in row p
/// of the scratch memory, so that lanes read neighbours.
struct search_filter_op : parts_op<search_filter_args> {
  int threads() const { return search_tile; }
  int columns() const { return search_tile + (a.tap_count + a.decimation - 1) / a.decimation; }
  std::size_t scratch_bytes(int) const {
    return 2 * sizeof(float) * static_cast<std::size_t>(a.decimation) * static_cast<std::size_t>(columns());
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
    const int m = a.decimation, wide = search_tile + (a.tap_count + m - 1) / m, count = m * wide;
    float *re = scratch, *im = scratch + count;
    const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(tile) * search_tile * m - a.tap_count / 2,
                         samples = static_cast<std::ptrdiff_t>(a.in.elements);
    const std::ptrdiff_t inner = begin + a.tap_count / 2, behind = inner + search_tile * m;
    const cx_pair* in = a.in.data + row * a.in.item_stride;
    std::int32_t erased = 0;
    int p = g.rank % m, j = g.rank / m;
    const int step = g.size % m, columns_a_step = g.size / m;
    for (int i = g.rank; i < count; i += g.size) {
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
    for (int k = width_of<T> * g.rank; k < search_tile; k += width_of<T> * g.size) {
      cx<T> y{T(0.f), T(0.f)};
      int phase = 0, column = k;
      for (int i = 0; i < a.tap_count; i++) {
        const item<T> b{static_cast<std::size_t>(phase * wide + column), width_of<T>};
        const cx<T> x{load(from_re, 0, b), load(from_im, 0, b)};
        y = fma(cx<T>{T(a.taps[i].re), T(a.taps[i].im)}, x, y);
        if (++phase == m) phase = 0, column++;
      }
      if (a.turn != 0) {
        using U = typename rebind<T>::u32;
        const std::uint32_t first =
            static_cast<std::uint32_t>(tile) * search_tile + static_cast<std::uint32_t>(k);
        T s, c;
        sincos_turn((iota<U>() + U(first)) * U(a.turn), s, c);
        y = cx<T>{c, T(0.f) - s} * y;
      }
      const item<T> b{static_cast<std::size_t>(k), width_of<T>};
      store(to_re, 0, b, y.re);
      store(to_im, 0, b, y.im);
    }
  }
};

/// A PSS in time is real in frequency, so x(-u) = conj(x(u)) about its middle. Each replica costs one complex
/// product for two samples, and sum and difference of the two serve all replicas.
struct search_correlate_op : thread_op<search_correlate_args> {
  double flops() const { return 2.0 * search_pairs * (12.0 + 24.0 * a.groups * a.per_group); }
  double bytes() const { return 8 + 24; }

  template <class T, class G>
  WB_HD void operator()(item<T> offsets, G, T*) const {
    T best[3], code[3];
    WB_UNROLL for (int n = 0; n < 3; n++) best[n] = T(0.f), code[n] = T(0.f);
    WB_ROLL for (int half = 0; half < 2; half++) {
      WB_ROLL for (int group = 0; group < a.groups; group++) {
        if (a.per_group == 1) pass<1>(offsets, half, group, best, code);
        if (a.per_group == 2) pass<2>(offsets, half, group, best, code);
        if (a.per_group == 3) pass<3>(offsets, half, group, best, code);
      }
    }
    WB_UNROLL for (int n = 0; n < 3; n++) {
      store(view<float>{a.metric[n], 1, 0, 0, 1}, 0, offsets, best[n]);
      store(view<float>{a.code[n], 1, 0, 0, 1}, 0, offsets, code[n]);
    }
  }

 private:
  template <class T>
  WB_HD static T sample(const float* from, int n, item<T> offsets) {
    return load(view<const float>{from + n, 1, 0, 0, 1}, 0, offsets);
  }
  template <int H, class T>
  WB_HD void pass(item<T> offsets, int half, int group, T (&best)[3], T (&code)[3]) const {
    constexpr int replicas = 3 * H;
    const float* r =
        a.replicas + static_cast<std::size_t>(half * a.groups + group) * (2 * replicas * search_pairs);
    cx<T> sum[replicas];
    WB_UNROLL for (int i = 0; i < replicas; i++) sum[i] = cx<T>{T(0.f), T(0.f)};
    T energy(0.f);
    const int middle = search_fft / 2;
    WB_ROLL for (int m = 0; m < search_pairs; m++, r += 2 * replicas) {
      const cx<T> after{sample(a.re, middle + half + m, offsets), sample(a.im, middle + half + m, offsets)};
      const cx<T> before{sample(a.re, middle - m, offsets), sample(a.im, middle - m, offsets)};
      const cx<T> plus = after + before, minus = after - before;
      energy = norm_fma(plus, norm_fma(minus, energy));
      WB_UNROLL for (int i = 0; i < replicas; i++) {
        const T re(r[2 * i]), im(r[2 * i + 1]);
        sum[i].re = fma(im, minus.im, fma(re, plus.re, sum[i].re));
        sum[i].im = fnma(im, minus.re, fma(re, plus.im, sum[i].im));
      }
    }
    energy = T(0.5f) * energy;
    if (half == 0) {  // the middle was its own partner
      const cx<T> z{sample(a.re, middle, offsets), sample(a.im, middle, offsets)};
      energy = energy - norm(z);
    }
    const T scale = T(1.f) / max(energy, T(1e-30f));
    WB_UNROLL for (int h = 0; h < H; h++) {
      WB_UNROLL for (int n = 0; n < 3; n++) {
        const T metric = norm(sum[3 * h + n]) * scale;
        const auto better = metric > best[n];
        best[n] = select(better, metric, best[n]);
        code[n] = select(better, T(static_cast<float>(2 * (group * H + h) + half)), code[n]);
      }
    }
  }
};

struct search_peaks_op : thread_op<search_peaks_args> {
  double flops() const { return search_peak_block; }
  double bytes() const { return 8.0 * search_peak_block; }

  template <class T, class G>
  WB_HD void operator()(item<T> items, G, T*) const {
    for (int i = 0; i < items.valid; i++) one(items.first + static_cast<std::size_t>(i));
  }

 private:
  WB_HD void one(std::size_t number) const {
    const std::size_t n = number % 3, block = number / 3, row = block / a.blocks,
                      first = (block - row * a.blocks) * search_peak_block;
    search_peaks_args::peak p{0.f, 0.f, 0};
    const float *metric = a.metric[n] + row * a.stride, *code = a.code[n] + row * a.stride;
    for (std::size_t t = first; t < first + search_peak_block && t < a.offsets; t++)
      if (metric[t] > p.metric) p = search_peaks_args::peak{metric[t], code[t], static_cast<std::int32_t>(t)};
    a.peaks[number] = p;
  }
};

struct search_identify_op : block_op<search_identify_args> {
  int threads() const { return 128; }
  // 256 samples; 254 values and 127 products; 17 taps, 2 halves, 2 sums
  static constexpr int samples = 0, values = 512, products = values + 508, taps = products + 254,
                       halves = taps + 34, sums = halves + 4, total = sums + 2;
  std::size_t scratch(int) const { return total; }
  double flops() const {
    return 8.0 * search_fft * 2 * search_values + 4.0 * search_ids * search_values +
           16.0 * 17 * search_values;
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
      const cx<T> z = cx<T>{cosine, T(0.f) - sine} * cx<T>{re[0], im[0]};
      s[samples + 2 * i] = z.re;
      s[samples + 2 * i + 1] = z.im;
    }
    g.sync();
    T energy(0.f);  // products of four samples must not overflow
    for (int i = 0; i < 2 * search_fft; i++) energy = norm_fma(sample(s, i), energy);
    const T unit = T(1.f) / max(sqrt(energy), T(1e-15f));
    g.sync();
    for (int i = g.rank; i < 4 * search_fft; i += g.size) s[samples + i] = unit * s[samples + i];
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
      s[samples + 2 * i] = z.re;
      s[samples + 2 * i + 1] = z.im;
    }
    g.sync();
    for (int i = g.rank; i < 2 * search_values; i += g.size) {
      const int symbol = i / search_values, k = i % search_values - 63;
      cx<T> sum{T(0.f), T(0.f)};
      for (int n = 0; n < search_fft; n++) {
        const int turn = 2 * (k * n & 127);
        sum = conj_fma(cx<T>{T(a.circle[2 * turn]), T(a.circle[2 * turn + 1])},
                       sample(s, symbol * search_fft + n), sum);
      }
      const int slope = 2 * (k & 255);
      const cx<T> late = cx<T>{T(a.circle[slope]), T(a.circle[slope + 1])} * sum;
      const auto half = is_half<T>(b);
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
    for (int id = g.rank; id < search_ids; id += g.size) {
      const float* x0 = a.sss + 15 * (id / 112) + 5 * a.n_id2;
      const float* x1 = a.sss + 2 * search_values + id % 112;
      cx<T> sum{T(0.f), T(0.f)};
      for (int k = 0; k < search_values; k++) {
        const T d(x0[k] * x1[k]);
        sum.re = fma(d, s[products + 2 * k], sum.re);
        sum.im = fma(d, s[products + 2 * k + 1], sum.im);
      }
      store(a.out, static_cast<std::size_t>(2 + 4 * search_values + id), b, norm(sum) * scale);
    }
    for (int i = g.rank; i < 4 * search_values; i += g.size)
      store(a.out, static_cast<std::size_t>(2 + i), b, s[values + i]);
    if (g.rank == 0) {
      store(a.out, 0, b, advance.re);
      store(a.out, 1, b, advance.im);
    }
  }

 private:
  template <class T>
  WB_HD static cx<T> sample(const T* s, int n) {
    return {s[samples + 2 * n], s[samples + 2 * n + 1]};
  }
  template <class T>
  WB_HD static cx<T> value(const T* s, int k) {
    return {s[values + 2 * k], s[values + 2 * k + 1]};
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
