#pragma once
#include <warpband/channel/kronecker/kronecker_args.hpp>
#include <warpband/channel/random.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/philox.hpp>

namespace wb {
inline namespace WB_ISA {

/// An item is an H and the uses that share it. On a GPU a few threads have a small one, a block a large one.
template <bool Large>
struct kronecker_op {
  kronecker_args a;
  static constexpr bool by_block = Large;
  static constexpr int tile = Large ? 1 : 8;

  // Plain arithmetic: host code calls no device function.
  int threads() const { return a.rx_antennas * a.streams < 256 ? a.rx_antennas * a.streams : 256; }
  std::size_t scratch(int) const { return static_cast<std::size_t>(2 * a.rx_antennas * a.streams); }
  double flops() const {
    const double m = a.rx_antennas, n = a.streams;
    return m * n * (41 + (a.tx ? 2 * (n + 1) : 0) + (a.rx ? 2 * (m + 1) : 0) + 2) +
           (a.in.data ? static_cast<double>(a.uses_per_channel) * m * (4 * n + 2) : 0);
  }
  double bytes() const {
    const double m = a.rx_antennas, n = a.streams;
    return 8 * (m * n + (a.in.data ? static_cast<double>(a.uses_per_channel) * (m + n) : 0));
  }

  template <class T, class G>
  WB_HD void operator()(item<T> lanes, G g, T* scratch) const {
    draw(lanes, g, scratch);
    g.sync();
    if (a.tx) {
      for (int r = g.rank; r < a.rx_antennas; r += g.size) turn_row(scratch + 2 * r * a.streams);
      g.sync();
    }
    const int n = a.streams, fours = (n + 3) / 4;
    for (int i = g.rank; i < a.rx_antennas * fours; i += g.size) {
      const int r = i / fours, s = 4 * (i - r * fours);
      if (s + 4 <= n)
        entries<4>(r, s, lanes, scratch);
      else
        for (int rest = s; rest < n; rest++) entries<1>(r, rest, lanes, scratch);
    }
    if (a.in.data == nullptr) return;
    g.sync();
    const view<const cx_pair> h{a.channel.data, a.channel.elements, a.channel.items, a.channel.element_stride,
                                a.channel.item_stride};
    const int uses = static_cast<int>(a.uses_per_channel);
    for (int u = g.rank; u < uses; u += g.size) {
      const view<const cx_pair> in = of_use(a.in, u);
      const view<cx_pair> out = of_use(a.out, u);
      for (int r = 0; r < a.rx_antennas; r++) {
        cx<T> y{T(0.f), T(0.f)};
        for (int s = 0; s < n; s++)
          y = fma(load_cx(h, static_cast<std::size_t>(r * n + s), lanes),
                  load_cx(in, static_cast<std::size_t>(s), lanes), y);
        store_cx(out, static_cast<std::size_t>(r), lanes, y);
      }
    }
  }

 private:
  /// G, with the random numbers of mimo_rayleigh_op.
  template <class T, class G>
  WB_HD void draw(item<T> lanes, G g, T* scratch) const {
    const int entries = a.rx_antennas * a.streams;
    for (int e = 2 * g.rank; e < entries; e += 2 * g.size) {
      const auto c =
          counter<T>(a.first + lanes.first, stream_mimo + static_cast<std::uint32_t>(e / 2), a.point);
      const auto w = philox(c, static_cast<std::uint32_t>(a.seed), static_cast<std::uint32_t>(a.seed >> 32));
      put(scratch, e, complex_normal<T>(w.w[0], w.w[1]));
      if (e + 1 < entries) put(scratch, e + 1, complex_normal<T>(w.w[2], w.w[3]));
    }
  }
  /// A row of G times B^H, in place: the last entry first, which needs all others.
  template <class T>
  WB_HD void turn_row(T* row) const {
    for (int s = a.streams - 1; s >= 0; s--) {
      const float* factor = a.tx + s * (s + 1);
      cx<T> sum{T(0.f), T(0.f)};
      for (int k = 0; k <= s; k++)
        sum = conj_fma(cx<T>{T(factor[2 * k]), T(factor[2 * k + 1])}, cx<T>{row[2 * k], row[2 * k + 1]}, sum);
      put(row, s, sum);
    }
  }
  /// N neighbouring entries of a row of H.
  template <int N, class T>
  WB_HD void entries(int r, int s, item<T> lanes, const T* scratch) const {
    cx<T> sum[N];
    if (a.rx) {
      const float* factor = a.rx + r * (r + 1);
      WB_UNROLL for (int i = 0; i < N; i++) sum[i] = {T(0.f), T(0.f)};
      for (int k = 0; k <= r; k++) {
        const cx<T> weight{T(factor[2 * k]), T(factor[2 * k + 1])};
        WB_UNROLL for (int i = 0; i < N; i++) sum[i] =
            fma(weight, get(scratch, k * a.streams + s + i), sum[i]);
      }
    } else {
      WB_UNROLL for (int i = 0; i < N; i++) sum[i] = get(scratch, r * a.streams + s + i);
    }
    WB_UNROLL for (int i = 0; i < N; i++)
        store_cx(a.channel, static_cast<std::size_t>(r * a.streams + s + i), lanes, sum[i]);
  }
  template <class T>
  WB_HD static cx<T> get(const T* scratch, int e) {
    return {scratch[2 * e], scratch[2 * e + 1]};
  }
  template <class T>
  WB_HD static void put(T* scratch, int e, cx<T> z) {
    scratch[2 * e] = z.re;
    scratch[2 * e + 1] = z.im;
  }
  /// The uses number `u` of every H.
  template <class S>
  WB_HD view<S> of_use(view<S> v, int u) const {
    return {v.data + static_cast<std::size_t>(u) * v.item_stride, v.elements, v.items / a.uses_per_channel,
            v.element_stride, v.item_stride * a.uses_per_channel};
  }
};

}  // namespace WB_ISA
}  // namespace wb
