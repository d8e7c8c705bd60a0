#pragma once
// An item is a block of the channel. Lanes are paths while these are made, subcarriers when they are added
// up; so are the threads of a group.
#include <warpband/channel/random.hpp>
#include <warpband/channel/tdl/tdl_args.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/philox.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

struct tdl_op : parts_op<tdl_args> {
  // Plain arithmetic: host code calls no device function.
  int threads() const { return a.subcarriers * a.symbols < 256 ? a.subcarriers * a.symbols : 256; }
  std::size_t scratch_bytes(int) const {
    return static_cast<std::size_t>(3 * a.sinusoids + 2 + 2 * a.times) * sizeof(float) *
           static_cast<std::size_t>(a.padded_paths);
  }
  double flops() const {
    // A sinusoid's weight and Doppler, a fixed part; a sinusoid at a time; a tap and an entry of H at a use.
    const double pairs = a.streams * a.rx_antennas, paths = pairs * a.taps, uses = a.subcarriers * a.symbols;
    return paths * (a.sinusoids * 56.0 + (a.fixed ? 14 : 0)) +
           a.times * paths * (a.sinusoids * 21.0 + (a.fixed ? 21 : 0)) +
           (a.spatial != nullptr ? a.times * paths * 4 * (pairs + 1) : 0) +
           uses * (pairs * (4.0 * a.taps + 2) + (a.in.data != nullptr ? 8 * pairs + 2 * a.rx_antennas : 0));
  }
  double bytes() const {
    const double uses = a.subcarriers * a.symbols;
    return 8 * uses * (a.streams * a.rx_antennas + (a.in.data != nullptr ? a.streams + a.rx_antennas : 0));
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void* scratch) const {
    run(first, g, static_cast<lane*>(scratch));
  }

  template <class T, class G>
  WB_HD void run(std::size_t b, G g, T* scratch) const {
    const rows<T> r(a, scratch);
    draw(b, g, r);
    g.sync();
    fade(g, r);
    g.sync();
    if (a.spatial != nullptr) {
      correlate(g, r);
      g.sync();
    }
    const int vectors = (a.subcarriers + width_of<T> - 1) / width_of<T>;
    for (int i = g.rank; i < a.symbols * vectors; i += g.size) {
      const int symbol = i / vectors, k = (i - symbol * vectors) * width_of<T>, left = a.subcarriers - k;
      const item<T> lanes{static_cast<std::size_t>(k), left < width_of<T> ? left : width_of<T>};
      add_up(b * static_cast<std::size_t>(a.symbols) + static_cast<std::size_t>(symbol),
             a.times > 1 ? symbol : 0, lanes, r);
    }
  }

 private:
  /// Scratch: rows with a value for each path.
  template <class T>
  struct rows {
    T *weights, *steps, *fixed, *gains;
    int vectors;  // of a row
    WB_HD rows(const tdl_args& a, T* scratch) : weights(scratch), vectors(a.padded_paths / width_of<T>) {
      steps = weights + 2 * a.sinusoids * vectors;
      fixed = steps + a.sinusoids * vectors;
      gains = fixed + 2 * vectors;
    }
    WB_HD T& of(T* row, int number, int vector) const { return row[number * vectors + vector]; }
    WB_HD cx<T> pair(T* row, int number, int vector) const {
      return {of(row, 2 * number, vector), of(row, 2 * number + 1, vector)};
    }
    WB_HD void put(T* row, int number, int vector, cx<T> z) const {
      of(row, 2 * number, vector) = z.re;
      of(row, 2 * number + 1, vector) = z.im;
    }
    using E = std::conditional_t<width_of<T> == 1, T, float>;  // of one path
    WB_HD E value(const T* row, int number, int path) const {
      if constexpr (width_of<T> == 1)
        return row[number * vectors + path];
      else
        return row[number * vectors + path / width_of<T>].x[path % width_of<T>];
    }
    WB_HD void set_value(T* row, int number, int path, E to) const {
      if constexpr (width_of<T> == 1)
        row[number * vectors + path] = to;
      else
        row[number * vectors + path / width_of<T>].x[path % width_of<T>] = to;
    }
    /// Of one path, in all lanes.
    WB_HD T one(const T* row, int number, int path) const {
      if constexpr (width_of<T> == 1)
        return row[number * vectors + path];
      else
        return T(row[number * vectors + path / width_of<T>].x[path % width_of<T>]);
    }
  };

  WB_HD int paths() const { return a.taps * a.streams * a.rx_antennas; }

  /// The weight and the Doppler shift of every sinusoid, and the fixed parts.
  template <class T, class G>
  WB_HD void draw(std::size_t b, G g, const rows<T>& r) const {
    using U = typename rebind<T>::u32;
    const std::uint64_t index = a.first + b;
    const std::size_t stride = static_cast<std::size_t>(a.padded_paths);
    const view<const float> amplitudes{a.amplitudes, 2, stride, stride, 1};
    const view<const std::uint32_t> numbers{a.numbers, 1, stride, stride, 1};
    const int vectors = (paths() + width_of<T> - 1) / width_of<T>;
    for (int i = g.rank; i < a.sinusoids * vectors; i += g.size) {
      const int n = i / vectors, v = i - n * vectors;
      const item<T> lanes{static_cast<std::size_t>(v * width_of<T>), width_of<T>};
      const U number =
          as_uint(load_int<T>(numbers, 0, lanes)) + U(stream_tdl + static_cast<std::uint32_t>(n));
      const auto w = philox(philox_block<U>{{U(static_cast<std::uint32_t>(index)),
                                             U(static_cast<std::uint32_t>(index >> 32)), number, U(a.point)}},
                            static_cast<std::uint32_t>(a.seed), static_cast<std::uint32_t>(a.seed >> 32));
      r.put(r.weights, n, v, load<T>(amplitudes, 0, lanes) * complex_normal<T>(w.w[0], w.w[1]));
      T s, c;
      sincos_turn<T>(U(static_cast<std::uint32_t>(n) * a.sector) + mulhi(w.w[2], U(a.sector)), s, c);
      r.of(r.steps, n, v) = T(a.turn) * c;
      if (a.fixed && n == 0) {
        sincos_turn<T>(w.w[3], s, c);
        r.put(r.fixed, 0, v, load<T>(amplitudes, 1, lanes) * cx<T>{c, s});
      }
    }
  }

  /// Every path at every time.
  template <class T, class G>
  WB_HD void fade(G g, const rows<T>& r) const {
    const int vectors = (paths() + width_of<T> - 1) / width_of<T>;
    for (int i = g.rank; i < a.times * vectors; i += g.size) {
      const int t = i / vectors, v = i - t * vectors;
      const T time = static_cast<float>(t);
      cx<T> sum{T(0.f), T(0.f)};
      T s, c;
      for (int n = 0; n < a.sinusoids; n++) {
        sincos(r.of(r.steps, n, v) * time, s, c);
        sum = fma(r.pair(r.weights, n, v), cx<T>{c, s}, sum);
      }
      if (a.fixed) {
        sincos(T(a.fixed_turn) * time, s, c);
        sum = fma(r.pair(r.fixed, 0, v), cx<T>{c, s}, sum);
      }
      r.put(r.gains, t, v, sum);
    }
  }

  /// L times the gains of all pairs of antennas, of every time and tap, in place: the last pair first, which
  /// needs all others. One by one: the pairs of a tap are far apart.
  template <class T, class G>
  WB_HD void correlate(G g, const rows<T>& r) const {
    using E = typename rows<T>::E;
    const int pairs = a.streams * a.rx_antennas;
    for (int i = g.rank; i < a.times * a.taps; i += g.size) {
      const int t = i / a.taps, tap = i - t * a.taps;
      for (int p = pairs - 1; p >= 0; p--) {
        const float* factor = a.spatial + p * (p + 1);
        cx<E> sum{E(0.f), E(0.f)};
        for (int q = 0; q <= p; q++) {
          const int path = q * a.taps + tap;
          sum = fma(cx<E>{E(factor[2 * q]), E(factor[2 * q + 1])},
                    cx<E>{r.value(r.gains, 2 * t, path), r.value(r.gains, 2 * t + 1, path)}, sum);
        }
        r.set_value(r.gains, 2 * t, p * a.taps + tap, sum.re);
        r.set_value(r.gains, 2 * t + 1, p * a.taps + tap, sum.im);
      }
    }
  }

  /// The symbol `symbol` of the batch, subcarriers `lanes`.
  template <class T>
  WB_HD void add_up(std::size_t symbol, int time, item<T> lanes, const rows<T>& r) const {
    const view<cx_pair> h = of_symbol(a.channel, symbol), y = of_symbol(a.out, symbol);
    const view<const cx_pair> x = of_symbol(a.in, symbol);
    for (int rx = 0; rx < a.rx_antennas; rx++) {
      cx<T> sum{T(0.f), T(0.f)};
      int s = 0;
      for (; s + 4 <= a.streams; s += 4) entries<4>(rx, s, time, lanes, r, h, x, sum);
      for (; s + 2 <= a.streams; s += 2) entries<2>(rx, s, time, lanes, r, h, x, sum);
      for (; s < a.streams; s++) entries<1>(rx, s, time, lanes, r, h, x, sum);
      if (a.in.data != nullptr) store_cx(y, static_cast<std::size_t>(rx), lanes, sum);
    }
  }
  /// N neighbouring entries of H, and what they add to y.
  template <int N, class T>
  WB_HD void entries(int rx, int stream, int time, item<T> lanes, const rows<T>& r, const view<cx_pair>& h,
                     const view<const cx_pair>& x, cx<T>& sum) const {
    const std::size_t stride = static_cast<std::size_t>(a.padded_subcarriers);
    const int pair = rx * a.streams + stream;
    const item<T> whole{lanes.first, width_of<T>};  // tables are padded
    cx<T> gain[N];
    WB_UNROLL for (int i = 0; i < N; i++) gain[i] = {T(0.f), T(0.f)};
    for (int l = 0; l < a.taps; l++) {
      const view<const float> rotation{a.rotations + static_cast<std::size_t>(2 * l) * stride, 2, stride,
                                       stride, 1};
      const cx<T> turned{load<T>(rotation, 0, whole), load<T>(rotation, 1, whole)};
      WB_UNROLL for (int i = 0; i < N; i++) {
        const int path = (pair + i) * a.taps + l;
        gain[i] =
            fma(cx<T>{r.one(r.gains, 2 * time, path), r.one(r.gains, 2 * time + 1, path)}, turned, gain[i]);
      }
    }
    WB_UNROLL for (int i = 0; i < N; i++) {
      store_cx(h, static_cast<std::size_t>(pair + i), lanes, gain[i]);
      if (a.in.data != nullptr) sum = sum + gain[i] * load_cx(x, static_cast<std::size_t>(stream + i), lanes);
    }
  }
  /// The subcarriers of a symbol.
  template <class S>
  WB_HD view<S> of_symbol(view<S> v, std::size_t symbol) const {
    const std::size_t n = static_cast<std::size_t>(a.subcarriers);
    return {v.data + symbol * n * v.item_stride, v.elements, n, v.element_stride, v.item_stride};
  }
};

}  // namespace WB_ISA
}  // namespace wb
