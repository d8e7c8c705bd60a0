#pragma once
// The steps of front-end impairments (impairments.hpp has the model). Lanes are neighbouring samples. Phases
// are integers: their sums do not depend on the order.
#include <warpband/channel/impairments/impairments_args.hpp>
#include <warpband/core/cx.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/math.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/philox.hpp>
#include <warpband/core/rounding.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

WB_HD bool impair_is_usable(const cx_pair& z) { return abs(z.re) <= 1e15f && abs(z.im) <= 1e15f; }

/// The random words of neighbouring samples: two for noise, two for a step of the phase.
template <class T>
WB_HD philox_block<typename rebind<T>::u32> impair_words(const impair_args& a, std::size_t capture,
                                                         std::size_t sample) {
  const std::uint64_t index = (a.first + capture) << 32 | sample;
  return philox(counter<T>(index, stream_impairments, a.point), static_cast<std::uint32_t>(a.seed),
                static_cast<std::uint32_t>(a.seed >> 32));
}
/// Steps of the phase, in 2^-32 turns.
template <class T>
WB_HD typename rebind<T>::i32 impair_steps(const impair_args& a, std::size_t capture, std::size_t sample) {
  const auto r = impair_words<T>(a, capture, sample);
  return nearest_integer(T(a.walk) * complex_normal<T>(r.w[2], r.w[3]).re) << a.walk_shift;
}

/// Sum of x over the threads of lower rank. `memory` has a word for each thread.
template <class G>
WB_HD std::uint32_t impair_sum_before(std::uint32_t x, G g, std::int32_t* memory) {
  if (g.size == 1) return 0;
  memory[g.rank] = as_int(x);
  g.sync();
  for (int step = 1; step < g.size; step *= 2) {
    const std::uint32_t below = g.rank >= step ? as_uint(memory[g.rank - step]) : 0;
    g.sync();
    memory[g.rank] = as_int(as_uint(memory[g.rank]) + below);
    g.sync();
  }
  return as_uint(memory[g.rank]) - x;
}

/// Of a tile: the sum of its phase steps, and its samples that are taken as 0.
struct impair_sums_op : parts_op<impair_args> {
  int threads() const { return impair_tile; }
  std::size_t scratch_bytes(int) const { return impair_tile * sizeof(std::int32_t); }
  double flops() const { return a.walk != 0 ? 42.0 * impair_tile : 0; }
  double bytes() const { return a.erased != nullptr ? 8.0 * impair_tile : 0; }

  template <class G>
  WB_HD void operator()(std::size_t number, int, G g, void* memory) const {
    run<lane>(number, g, static_cast<std::int32_t*>(memory));
  }
  template <class T, class G>
  WB_HD void run(std::size_t number, G g, std::int32_t* steps) const {
    const std::size_t capture = number / a.tiles, begin = (number - capture * a.tiles) * impair_tile;
    if (a.walk != 0) {
      const view<std::int32_t> to{steps, 1, impair_tile, 0, 1};
      for (int k = width_of<T> * g.rank; k < impair_tile; k += width_of<T> * g.size)
        store_int<T>(to, 0, item<T>{static_cast<std::size_t>(k), width_of<T>},
                     impair_steps<T>(a, capture, begin + static_cast<std::size_t>(k)));
      g.sync();
      std::uint32_t sum = 0;
      for (int k = g.rank; k < impair_tile; k += g.size) sum += as_uint(steps[k]);
      const std::int32_t total = g.sum_all(as_int(sum));
      if (g.rank == 0) a.walked[number] = total;
    }
    if (a.erased == nullptr) return;
    const cx_pair* in = a.in.data + capture * a.in.item_stride;
    const std::size_t left = a.in.elements - begin;
    const int count = left < impair_tile ? static_cast<int>(left) : impair_tile;
    std::int32_t erased = 0;
    for (int k = g.rank; k < count; k += g.size)
      if (!impair_is_usable(in[(begin + static_cast<std::size_t>(k)) * a.in.element_stride])) erased++;
    erased = g.sum_all(erased);
    if (g.rank == 0) a.erased[number] = erased;
  }
};

/// Of a capture: the phase before each tile in place of the tile's steps, and the sum of erased samples.
struct impair_totals_op : parts_op<impair_args> {
  int threads() const { return impair_tile; }
  std::size_t scratch_bytes(int group) const {
    return static_cast<std::size_t>(group) * sizeof(std::int32_t);
  }
  double flops() const { return 0; }
  double bytes() const { return 8.0 * static_cast<double>(a.tiles); }

  template <class G>
  WB_HD void operator()(std::size_t capture, int, G g, void* memory) const {
    const std::size_t size = static_cast<std::size_t>(g.size), part = (a.tiles + size - 1) / size,
                      from = part * static_cast<std::size_t>(g.rank), first = from < a.tiles ? from : a.tiles,
                      end = first + part < a.tiles ? first + part : a.tiles;
    if (a.walk != 0) {
      std::int32_t* walked = a.walked + capture * a.tiles;
      std::uint32_t sum = 0;
      for (std::size_t i = first; i < end; i++) sum += as_uint(walked[i]);
      std::uint32_t phase = impair_sum_before(sum, g, static_cast<std::int32_t*>(memory));
      for (std::size_t i = first; i < end; i++) {
        const std::uint32_t step = as_uint(walked[i]);
        walked[i] = as_int(phase);
        phase += step;
      }
    }
    if (a.erased == nullptr) return;
    std::int32_t erased = 0;
    for (std::size_t i = first; i < end; i++) erased += a.erased[capture * a.tiles + i];
    erased = g.sum_all(erased);
    if (g.rank == 0) a.erased_sum.data[capture * a.erased_sum.item_stride] = erased;
  }
};

/// All impairments of a tile.
struct impair_op : parts_op<impair_args> {
  static constexpr int staged = impair_tile + impair_taps + 1;  // inputs that a tile reads

  int threads() const { return impair_tile; }
  std::size_t scratch_bytes(int) const {
    return 2 * staged * sizeof(float) + 2 * impair_tile * sizeof(std::int32_t);
  }
  double flops() const {
    double sum = 0;
    if (a.filters != nullptr) sum += (a.drift != 0 ? 4. : 2.) * impair_taps;
    if (a.cfo_step != 0 || a.walk != 0) sum += 19;
    if (a.walk != 0) sum += 42;
    if (a.deviation != 0) sum += 47;
    if (a.imbalanced) sum += 4;
    if (a.offset[0] != 0 || a.offset[1] != 0) sum += 2;
    if (a.most_steps != 0) sum += 12;
    return sum * impair_tile;
  }
  double bytes() const { return 16.0 * impair_tile; }

  template <class G>
  WB_HD void operator()(std::size_t number, int, G g, void* memory) const {
    run<lane>(number, g, static_cast<float*>(memory));
  }
  template <class T, class G>
  WB_HD void run(std::size_t number, G g, float* memory) const {
    const std::size_t capture = number / a.tiles, begin = (number - capture * a.tiles) * impair_tile,
                      samples_left = a.in.elements - begin;
    const int count = samples_left < impair_tile ? static_cast<int>(samples_left) : impair_tile;
    float *re = memory, *im = memory + staged;
    auto* phase = reinterpret_cast<std::int32_t*>(memory + 2 * staged);

    // Whole samples from n to the position, the least of the tile.
    const std::int64_t n0 = static_cast<std::int64_t>(begin), at_begin = whole_of(position(n0)),
                       at_end = whole_of(position(n0 + impair_tile - 1)),
                       shift = at_begin < at_end ? at_begin : at_end,
                       samples = static_cast<std::int64_t>(a.in.elements);
    const cx_pair* in = a.in.data + capture * a.in.item_stride;
    for (int i = g.rank; i < staged; i += g.size) {
      const std::int64_t m = n0 + shift - impair_before + i;
      cx_pair z{0.f, 0.f};
      if (m >= 0 && m < samples) z = in[static_cast<std::size_t>(m) * a.in.element_stride];
      if (!impair_is_usable(z)) z = cx_pair{0.f, 0.f};
      re[i] = z.re;
      im[i] = z.im;
    }
    if (rotates()) set_phases<T>(capture, number, begin, g, phase);
    g.sync();

    const view<cx_pair> row{a.out.data + capture * a.out.item_stride, 1, a.out.elements, 0,
                            a.out.element_stride};
    for (int k = width_of<T> * g.rank; k < count; k += width_of<T> * g.size) {
      const item<T> in_tile{static_cast<std::size_t>(k), width_of<T>};
      cx<T> y = a.filters == nullptr ? staged_at<T>(re, im, k + impair_before)
                : a.drift == 0       ? between<T>(re, im, k)
                                     : drifting<T>(re, im, n0, k, shift);
      if (rotates()) {
        T s, c;
        sincos_turn(as_uint(load_int<T>(view<const std::int32_t>{phase, 1, impair_tile, 0, 1}, 0, in_tile)),
                    s, c);
        y = cx<T>{c, s} * y;
      }
      if (a.deviation != 0) {
        const auto r = impair_words<T>(a, capture, begin + static_cast<std::size_t>(k));
        y = y + T(a.deviation) * complex_normal<T>(r.w[0], r.w[1]);
      }
      if (a.imbalanced)
        y = {fma(T(a.mixer[0]), y.re, T(a.mixer[1]) * y.im), fma(T(a.mixer[2]), y.re, T(a.mixer[3]) * y.im)};
      if (adds_offset()) y = y + cx<T>{T(a.offset[0]), T(a.offset[1])};
      if (a.most_steps != 0) y = {converted(y.re), converted(y.im)};
      const int left = count - k;
      store_cx(row, 0, item<T>{begin + static_cast<std::size_t>(k), left < width_of<T> ? left : width_of<T>},
               y);
    }
  }

 private:
  WB_HD bool rotates() const { return a.cfo_step != 0 || a.walk != 0; }
  WB_HD bool adds_offset() const { return a.offset[0] != 0 || a.offset[1] != 0; }
  /// Position of output sample n, less n.
  WB_HD std::int64_t position(std::int64_t n) const { return n * a.drift - a.delay; }
  WB_HD static std::int64_t whole_of(std::int64_t position) { return position >> impair_fraction_bits; }

  template <class T, class G>
  WB_HD void set_phases(std::size_t capture, std::size_t number, std::size_t begin, G g,
                        std::int32_t* phase) const {
    const auto by_offset = [&](int k) {
      return static_cast<std::uint32_t>((begin + static_cast<std::size_t>(k)) * a.cfo_step >> 32);
    };
    if (a.walk == 0) {
      for (int k = g.rank; k < impair_tile; k += g.size) phase[k] = as_int(by_offset(k));
      return;
    }
    const view<std::int32_t> to{phase, 1, impair_tile, 0, 1};
    for (int k = width_of<T> * g.rank; k < impair_tile; k += width_of<T> * g.size)
      store_int<T>(to, 0, item<T>{static_cast<std::size_t>(k), width_of<T>},
                   impair_steps<T>(a, capture, begin + static_cast<std::size_t>(k)));
    g.sync();
    const int part = (impair_tile + g.size - 1) / g.size, from = part * g.rank,
              end = from + part < impair_tile ? from + part : impair_tile;
    std::uint32_t sum = 0;
    for (int k = from; k < end; k++) sum += as_uint(phase[k]);
    sum = as_uint(a.walked[number]) + impair_sum_before(sum, g, phase + impair_tile);
    for (int k = from; k < end; k++) {
      sum += as_uint(phase[k]);
      phase[k] = as_int(sum + by_offset(k));
    }
  }

  template <class T>
  WB_HD static cx<T> staged_at(const float* re, const float* im, int index) {
    const item<T> b{static_cast<std::size_t>(index), width_of<T>};
    return {load(view<const float>{re, 1, staged, 0, 1}, 0, b),
            load(view<const float>{im, 1, staged, 0, 1}, 0, b)};
  }
  /// Filter of a position: its phase, and how far on to the next one.
  struct filter {
    const float* taps = nullptr;
    float next = 0;
    WB_HD float operator()(int tap) const {
      return fma(next, taps[impair_taps + tap] - taps[tap], taps[tap]);
    }
  };
  WB_HD filter filter_of(std::int64_t position) const {
    constexpr int phase_bits = 9, step_bits = impair_fraction_bits - phase_bits;
    static_assert(1 << phase_bits == impair_phases);
    const std::uint64_t fraction =
        static_cast<std::uint64_t>(position) & ((std::uint64_t{1} << impair_fraction_bits) - 1);
    const auto phase = static_cast<std::size_t>(fraction >> step_bits);
    const auto next = static_cast<std::int32_t>(fraction >> (step_bits - 24) & 0xffffff);
    return {a.filters + phase * impair_taps, to_float(next) * 5.9604644775390625e-8f};  // 2^-24
  }
  /// All positions have one fraction.
  template <class T>
  WB_HD cx<T> between(const float* re, const float* im, int k) const {
    const filter f = filter_of(position(0));
    cx<T> y{T(0.f), T(0.f)};
    WB_ROLL for (int tap = 0; tap < impair_taps; tap++) {
      const cx<T> x = staged_at<T>(re, im, k + tap);
      const T c(f(tap));
      y = {fma(c, x.re, y.re), fma(c, x.im, y.im)};
    }
    return y;
  }
  template <class T>
  WB_HD cx<T> drifting(const float* re, const float* im, std::int64_t n0, int k, std::int64_t shift) const {
    filter f[width_of<T>] = {};
    int index[width_of<T>] = {};
    for (int i = 0; i < width_of<T>; i++) {
      const std::int64_t p = position(n0 + k + i);
      f[i] = filter_of(p);
      index[i] = k + i + static_cast<int>(whole_of(p) - shift);
    }
    cx<T> y{T(0.f), T(0.f)};
    WB_ROLL for (int tap = 0; tap < impair_taps; tap++) {
      cx<T> x{T(0.f), T(0.f)};
      T c(0.f);
      if constexpr (width_of<T> == 1) {
        c = f[0](tap), x = {re[index[0] + tap], im[index[0] + tap]};
      } else {
        for (int i = 0; i < width_of<T>; i++) {
          c.x[i] = f[i](tap);
          x.re.x[i] = re[index[i] + tap];
          x.im.x[i] = im[index[i] + tap];
        }
      }
      y = {fma(c, x.re, y.re), fma(c, x.im, y.im)};
    }
    return y;
  }
  /// Limited to the converter's range, and rounded to the nearest step. Exact up to 2^23 steps.
  template <class T>
  WB_HD T converted(T x) const {
    const T limit(a.most_steps), steps = min(max(T(a.steps_per_unit) * x, T(0.f) - limit), limit - T(1.f)),
                                 whole = (abs(steps) + T(8388608.f)) - T(8388608.f);
    return T(a.unit_per_step) * select(steps < T(0.f), T(0.f) - whole, whole);
  }
};

}  // namespace WB_ISA
}  // namespace wb
