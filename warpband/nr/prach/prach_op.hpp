#pragma once
// The steps of PRACH (prach.hpp has the method). Lanes are neighbouring values or points; in the last step
// preambles, one after the other.
#include <warpband/core/cx.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/math.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/nr/prach/prach_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Neighbours `from`..`from + valid - 1` of a row of complex values.
template <class T>
WB_HD cx<T> prach_row(const cx_pair* row, int from, int valid) {
  return load_cx(view<const cx_pair>{row, 1, 0, 0, 1}, 0, item<T>{static_cast<std::size_t>(from), valid});
}
template <class T>
WB_HD void prach_row(cx_pair* row, int from, int valid, cx<T> z) {
  store_cx(view<cx_pair>{row, 1, 0, 0, 1}, 0, item<T>{static_cast<std::size_t>(from), valid}, z);
}
/// Calls f(k, valid) for vectors of 0..count - 1, shared by the group.
template <class T, class G, class F>
WB_HD void prach_each(G g, int first, int last, F f) {
  for (int k = first + width_of<T> * g.rank; k < last; k += width_of<T> * g.size)
    f(k, last - k < width_of<T> ? last - k : width_of<T>);
}

struct prach_place_op : parts_op<prach_place_args> {
  int threads() const { return 256; }
  double flops() const { return 8.0 * a.length; }
  double bytes() const { return 8.0 * (a.size + 2 * a.length); }

  template <class G>
  WB_HD void operator()(std::size_t number, int, G g, void*) const {
    using T = lane;
    const std::size_t parts = static_cast<std::size_t>(a.parts), one = number / parts, part = number % parts,
                      length = static_cast<std::size_t>(a.length);
    const cx_pair* from = a.values + static_cast<std::size_t>(a.preambles[one]) * length;
    const cx_pair* turn = a.twiddles + part * length;
    cx_pair* to = a.bins + number * static_cast<std::size_t>(a.size);
    // Bins first_bin.., which wrap round, and zeros between their end and their begin.
    const int before = a.size - a.first_bin, upper = before < a.length ? before : a.length;
    const auto place = [&](int k, int valid, int bin) WB_INLINE_LAMBDA {
      cx<T> z = prach_row<T>(from, k, valid);
      if (a.parts > 1) z = z * prach_row<T>(turn, k, valid);
      prach_row<T>(to, bin, valid, z);
    };
    prach_each<T>(g, 0, upper, [&](int k, int valid) WB_INLINE_LAMBDA { place(k, valid, a.first_bin + k); });
    prach_each<T>(g, upper, a.length, [&](int k, int valid) WB_INLINE_LAMBDA { place(k, valid, k - upper); });
    const cx<T> zero{T(0.f), T(0.f)};
    const auto clear = [&](int k, int valid) WB_INLINE_LAMBDA { prach_row<T>(to, k, valid, zero); };
    prach_each<T>(g, a.length - upper, a.first_bin, clear);
    prach_each<T>(g, a.first_bin + upper, a.size, clear);
  }
};

struct prach_repeat_op : parts_op<prach_repeat_args> {
  int threads() const { return 256; }
  double flops() const { return 2.0 * static_cast<double>(a.out.elements); }
  double bytes() const { return 16.0 * static_cast<double>(a.out.elements); }

  template <class G>
  WB_HD void operator()(std::size_t number, int, G g, void*) const {
    const cx_pair* from = a.sequence + number * static_cast<std::size_t>(a.length);
    cx_pair* to = a.out.data + number * a.out.item_stride;
    const int count = static_cast<int>(a.out.elements);
    for (int n = g.rank; n < count; n += g.size) {
      const int place = (n - a.prefix) % a.length;
      const cx_pair z = from[place < 0 ? place + a.length : place];
      to[static_cast<std::size_t>(n) * a.out.element_stride] = cx_pair{a.scale * z.re, a.scale * z.im};
    }
  }
};

struct prach_take_op : parts_op<prach_take_args> {
  int threads() const { return 256; }
  double flops() const { return 8.0 * a.length * a.parts; }
  double bytes() const { return 8.0 * a.length * (2 * a.parts + 1); }

  template <class G>
  WB_HD void operator()(std::size_t number, int, G g, void*) const {
    using T = lane;
    const std::size_t row = number / a.occasions, occasion = number % a.occasions,
                      length = static_cast<std::size_t>(a.length), size = static_cast<std::size_t>(a.size);
    const cx_pair* from = a.bins + number * static_cast<std::size_t>(a.parts) * size;
    const view<cx_pair> to{a.out.data + occasion * a.out.item_stride + row * length * a.out.element_stride, 1,
                           length, 0, a.out.element_stride};
    const int before = a.size - a.first_bin, upper = before < a.length ? before : a.length;
    const auto take = [&](int k, int valid, int bin) WB_INLINE_LAMBDA {
      cx<T> z{T(0.f), T(0.f)};
      for (int p = 0; p < a.parts; p++)
        z = conj_fma(prach_row<T>(a.twiddles + static_cast<std::size_t>(p) * length, k, valid),
                     prach_row<T>(from + static_cast<std::size_t>(p) * size, bin, valid), z);
      store_cx(to, 0, item<T>{static_cast<std::size_t>(k), valid}, T(a.scale) * z);
    };
    prach_each<T>(g, 0, upper, [&](int k, int valid) WB_INLINE_LAMBDA { take(k, valid, a.first_bin + k); });
    prach_each<T>(g, upper, a.length, [&](int k, int valid) WB_INLINE_LAMBDA { take(k, valid, k - upper); });
  }
};

struct prach_combine_op : parts_op<prach_combine_args> {
  static constexpr int chunks = 32;  // partial sums of the energy: the same order on every build
  int threads() const { return 128; }
  std::size_t scratch_bytes(int) const { return chunks * sizeof(float); }
  double flops() const { return 2.0 * a.length * (a.coherent + 2); }
  double bytes() const { return 8.0 * a.length * (a.coherent + 1); }

  template <class G>
  WB_HD void operator()(std::size_t number, int, G g, void* memory) const {
    float* partial = static_cast<float*>(memory);
    const std::size_t occasion = number / a.rows, row = number % a.rows,
                      length = static_cast<std::size_t>(a.length), step = a.in.element_stride;
    const cx_pair* from =
        a.in.data + occasion * a.in.item_stride + row * static_cast<std::size_t>(a.coherent) * length * step;
    cx_pair* to = a.sums + number * length;
    using T = lane;
    using U = typename rebind<T>::u32;
    std::int32_t bad = 0;
    const view<float> sums{partial, 1, chunks, 0, 1};
    prach_each<T>(g, 0, chunks, [&](int chunk, int) WB_INLINE_LAMBDA {
      T energy(0.f);
      for (int k = chunk; k < a.length; k += chunks) {
        const int valid = a.length - k < width_of<T> ? a.length - k : width_of<T>;
        const item<T> b{static_cast<std::size_t>(k), valid};
        cx<T> sum{T(0.f), T(0.f)};
        for (int r = 0; r < a.coherent; r++) {
          const cx<T> z = load_cx(
              view<const cx_pair>{from + static_cast<std::size_t>(r) * length * step, 1, length, 0, step}, 0,
              b);
          const auto good = (abs(z.re) <= T(1e15f)) & (abs(z.im) <= T(1e15f));  // not a NaN
          if (!all(good)) bad = 1;
          sum.re = sum.re + select(good, z.re, T(0.f));
          sum.im = sum.im + select(good, z.im, T(0.f));
        }
        prach_row<T>(to, k, valid, sum);
        // The lanes behind the last value repeat it.
        energy = select(iota<U>() < U(static_cast<std::uint32_t>(valid)), norm_fma(sum, energy), energy);
      }
      store(sums, 0, item<T>{static_cast<std::size_t>(chunk), width_of<T>}, energy);
    });
    bad = g.sum_all(bad);
    g.sync();
    if (g.rank == 0) {
      float energy = 0.f;
      for (int chunk = 0; chunk < chunks; chunk++) energy = energy + partial[chunk];
      a.energy[number] = energy;
      a.bad[number] = bad;
    }
    g.sync();
  }
};

struct prach_multiply_op : parts_op<prach_multiply_args> {
  int threads() const { return 256; }
  double flops() const { return 6.0 * a.length; }
  double bytes() const { return 8.0 * (2 * a.length + a.points); }

  template <class G>
  WB_HD void operator()(std::size_t number, int, G g, void*) const {
    using T = lane;
    const std::size_t roots = static_cast<std::size_t>(a.roots), length = static_cast<std::size_t>(a.length);
    const cx_pair *from = a.sums + number / roots * length, *by = a.replicas + number % roots * length;
    cx_pair* to = a.out + number * static_cast<std::size_t>(a.points);
    prach_each<T>(g, 0, a.length, [&](int k, int valid) WB_INLINE_LAMBDA {
      prach_row<T>(to, k, valid, conj(prach_row<T>(by, k, valid)) * prach_row<T>(from, k, valid));
    });
    prach_each<T>(g, a.length, a.points, [&](int k, int valid) WB_INLINE_LAMBDA {
      prach_row<T>(to, k, valid, cx<T>{T(0.f), T(0.f)});
    });
  }
};

struct prach_peaks_op : parts_op<prach_peaks_args> {
  int threads() const { return 128; }
  std::size_t scratch_bytes(int) const { return sizeof(float) * static_cast<std::size_t>(a.points); }
  double flops() const { return 4.0 * a.points * a.antennas * a.groups; }
  double bytes() const { return 8.0 * a.points * a.antennas * a.groups; }

  template <class G>
  WB_HD void operator()(std::size_t number, int, G g, void* memory) const {
    using T = lane;
    float* metric = static_cast<float*>(memory);
    const std::size_t roots = static_cast<std::size_t>(a.roots), occasion = number / roots,
                      root = number % roots, points = static_cast<std::size_t>(a.points),
                      rows = static_cast<std::size_t>(a.antennas * a.groups);
    std::int32_t bad = 0;
    for (std::size_t row = 0; row < rows; row++) bad |= a.bad[occasion * rows + row];
    const view<float> to{metric, 1, points, 0, 1};
    const view<const float> again{metric, 1, points, 0, 1};
    for (int antenna = 0; antenna < a.antennas; antenna++) {
      const std::size_t first = occasion * rows + static_cast<std::size_t>(antenna * a.groups);
      float energy = 0.f;
      for (int i = 0; i < a.groups; i++) energy = energy + a.energy[first + static_cast<std::size_t>(i)];
      const float weight = energy > 1e-33f ? static_cast<float>(a.groups) / energy : 0.f;
      prach_each<T>(g, 0, a.points, [&](int m, int valid) WB_INLINE_LAMBDA {
        T sum(0.f);
        for (int i = 0; i < a.groups; i++)
          sum = norm_fma(
              prach_row<T>(a.correlation + ((first + static_cast<std::size_t>(i)) * roots + root) * points, m,
                           valid),
              sum);
        const item<T> b{static_cast<std::size_t>(m), valid};
        const T before = antenna == 0 ? T(0.f) : load(again, 0, b);
        store(to, 0, b, fma(T(weight), sum, before));
      });
    }
    g.sync();
    const prach_root range = a.of_root[root];
    for (int p = range.first + g.rank; p < range.last; p += g.size) {
      const prach_window w = a.windows[p];
      int best = w.first, point = w.first;
      float largest = -1.f;
      int found = 0;
      for (int i = 0; i < w.count; i++) {
        if (metric[point] > largest) largest = metric[point], best = point, found = i;
        point = point + 1 == a.points ? 0 : point + 1;
      }
      // Fourth roots of a peak sinc^2(x) follow a parabola: their terms of x^4 nearly cancel.
      const float before = sqrt(sqrt(metric[best == 0 ? a.points - 1 : best - 1])),
                  after = sqrt(sqrt(metric[best + 1 == a.points ? 0 : best + 1]));
      const float curvature = before + after - 2.f * sqrt(sqrt(largest));
      float shift = curvature < 0.f ? 0.5f * (before - after) / curvature : 0.f;
      shift = shift > 0.5f ? 0.5f : shift < -0.5f ? -0.5f : shift;
      // The first point lies before delay 0, by less than two points.
      std::int32_t late = w.first * a.length - w.position * a.points;
      if (late > 0) late -= a.length * a.points;
      const float begin = static_cast<float>(late) / static_cast<float>(a.length);
      prach_peaks_args::peak out{0.f, 0.f, 0.f};
      if (bad == 0) {
        out.metric = largest;
        // Of the peak sinc^2(x) at the distance of the largest value, by its series.
        const float x = shift * static_cast<float>(a.length) / static_cast<float>(a.points), y = x * x;
        out.top = largest / (1.f - y * (3.28986813f - y * (4.32929282f - y * 3.0520383f)));
        out.delay = (static_cast<float>(found) + shift + begin) * static_cast<float>(a.length) /
                    static_cast<float>(a.points);
      }
      a.peaks[occasion * 64 + static_cast<std::size_t>(p)] = out;
    }
    g.sync();
  }
};

struct prach_decide_op : thread_op<prach_decide_args> {
  double flops() const { return 100; }
  double bytes() const { return 12 + 24; }

  template <class T, class G>
  WB_HD void operator()(item<T> items, G, T*) const {
    for (int i = 0; i < items.valid; i++) one(items.first + static_cast<std::size_t>(i));
  }

 private:
  /// Into -L/2..L/2.
  WB_HD float wrapped(float x) const {
    const float length = static_cast<float>(a.length);
    if (x > 0.5f * length) x = x - length;
    if (x < -0.5f * length) x = x + length;
    return x;
  }
  /// Bound of the Dirichlet kernel's power at a distance: |sin(pi x) / (L sin(pi x / L))|^2 <= 1 / (2 x)^2.
  WB_HD static float sidelobe(float distance) {
    const float x = distance < 0.f ? 0.f - distance : distance;
    return x < 1.5f ? 1.f : 0.25f / (x * x);
  }
  /// Power of image q, relative to the peak, at the largest frequency offset.
  WB_HD float image(int q) const {
    const float x = a.offset / (static_cast<float>(q < 0 ? -q : q) - a.offset);
    return x * x;
  }
  /// What a peak of power 1 may add at a distance of `distance` samples, of the same root.
  WB_HD float shadow(float distance, const prach_root& root) const {
    float sum = sidelobe(distance);
    for (int q = -2; q <= 2; q++)
      if (q != 0) {
        const std::int32_t place = (q * root.inverse % a.length + a.length) % a.length;
        sum = sum + image(q) * sidelobe(wrapped(distance - wrapped(static_cast<float>(place))));
      }
    // Distance n is that of image n u mod L.
    const std::int32_t near = static_cast<std::int32_t>(distance + static_cast<float>(a.length));
    for (std::int32_t n = near - 1; n <= near + 2; n++) {
      std::int32_t q = static_cast<std::int32_t>(static_cast<std::int64_t>(n) * root.u % a.length);
      if (2 * q > a.length) q = q - a.length;
      if (q != 0 && image(q) > sum) sum = image(q);
    }
    return sum;
  }
  WB_HD void one(std::size_t number) const {
    const std::size_t occasion = number / 64, preamble = number % 64;
    const prach_peaks_args::peak* peaks = a.peaks + occasion * 64;
    const prach_peaks_args::peak p = peaks[preamble];
    const prach_window w = a.windows[preamble];
    bool found = p.metric > a.threshold;
    for (int i = 0; found && i < 64; i++) {
      if (!(peaks[i].top > p.top)) continue;
      const prach_window v = a.windows[i];
      float limit = 4.f / static_cast<float>(a.length);  // of another root
      if (v.root == w.root)
        limit =
            2.f *
            shadow(wrapped(wrapped(static_cast<float>(w.position - v.position)) + p.delay - peaks[i].delay),
                   a.of_root[w.root]);
      found = p.top > limit * peaks[i].top;
    }
    const auto put = [&](auto& v, auto x) WB_INLINE_LAMBDA {
      if (v.data != nullptr) v.data[preamble * v.element_stride + occasion * v.item_stride] = x;
    };
    put(a.detected, static_cast<std::uint8_t>(found ? 1 : 0));
    put(a.metric, p.metric + 0.f);
    float delay = 0.f, snr_db = 0.f;
    std::int32_t advance = 0;
    if (found) {
      const float k = static_cast<float>(a.rows), mean = p.top / k, length = static_cast<float>(a.length),
                  rest = length - mean, least = 1e-6f * length;
      const float snr = (mean - 1.f) / (static_cast<float>(a.coherent) * (rest > least ? rest : least));
      snr_db = 4.34294482f * log(snr > 1e-10f ? snr : 1e-10f);
      delay = a.microseconds * p.delay;
      const float units = a.advance * p.delay + 0.5f;
      advance = units > 0.f ? static_cast<std::int32_t>(units) : 0;
    }
    put(a.delay_us, delay + 0.f);
    put(a.snr_db, snr_db + 0.f);
    put(a.timing_advance, advance);
    if (preamble == 0 && a.status.data != nullptr) {
      std::int32_t bad = 0;
      for (std::size_t row = 0; row < a.rows; row++) bad |= a.bad[occasion * a.rows + row];
      a.status.data[occasion * a.status.item_stride] = bad != 0 ? status_erased : std::uint8_t{0};
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
