#pragma once
#include <warpband/channel/mimo/mimo_args.hpp>
#include <warpband/channel/random.hpp>
#include <warpband/channel/rician_body.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/philox.hpp>

namespace wb {
inline namespace WB_ISA {

/// Fast: an item is a use; without `in` H alone is drawn. Block: an item is an H and the uses that share it,
/// which its group shares.
template <bool Block>
struct mimo_rayleigh_op {
  mimo_rayleigh_args a;
  static constexpr bool by_block = Block;
  int threads() const { return a.uses_per_channel < 128 ? static_cast<int>(a.uses_per_channel) : 128; }
  std::size_t scratch(int) const {
    return Block ? static_cast<std::size_t>(2 * a.streams * a.rx_antennas) : 0;
  }
  double flops() const {
    // complex_normal and its store; for each use the products, their sum, and the store of y
    const double e = a.streams * a.rx_antennas;
    const double gain = 43 + (a.rice.fixed != 0 ? rician_gain_flops : 0);
    if (a.in.data == nullptr) return gain * e;
    return gain * e + static_cast<double>(a.uses_per_channel) * (8 * e + 2 * a.rx_antennas);
  }
  double bytes() const {
    if (a.in.data == nullptr) return 8.0 * a.streams * a.rx_antennas;
    return 8.0 * (a.streams * a.rx_antennas +
                  static_cast<double>(a.uses_per_channel) * (a.streams + a.rx_antennas));
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    if constexpr (!Block) {
      pair<T> h = {};
      for (int r = 0; r < a.rx_antennas; r++) {
        cx<T> y{T(0.f), T(0.f)};
        for (int s = 0; s < a.streams; s++) {
          const int e = r * a.streams + s;
          if (e % 2 == 0) h = draw<T>(item, e / 2);
          const cx<T> gain = e % 2 == 0 ? h.even : h.odd;
          store_cx(a.channel, static_cast<std::size_t>(e), item, gain);
          if (a.in.data == nullptr) continue;
          y = y + gain * load_cx(a.in, static_cast<std::size_t>(s), item);
        }
        if (a.in.data != nullptr) store_cx(a.out, static_cast<std::size_t>(r), item, y);
      }
    } else {
      for (int e = 2 * g.rank; e < entries(); e += 2 * g.size) {
        const pair<T> h = draw<T>(item, e / 2);
        keep(scratch, e, item, h.even);
        if (e + 1 < entries()) keep(scratch, e + 1, item, h.odd);
      }
      g.sync();
      const int uses = static_cast<int>(a.uses_per_channel);
      for (int u = g.rank; u < uses; u += g.size) {
        const view<const cx_pair> in = of_use(a.in, u);
        const view<cx_pair> out = of_use(a.out, u);
        for (int r = 0; r < a.rx_antennas; r++) {
          cx<T> y{T(0.f), T(0.f)};
          for (int s = 0; s < a.streams; s++) {
            const int e = r * a.streams + s;
            const cx<T> h{scratch[2 * e], scratch[2 * e + 1]};
            y = y + h * load_cx(in, static_cast<std::size_t>(s), item);
          }
          store_cx(out, static_cast<std::size_t>(r), item, y);
        }
      }
    }
  }

 private:
  template <class T>
  struct pair {
    cx<T> even, odd;
  };
  WB_HD int entries() const { return a.streams * a.rx_antennas; }
  /// Entries 2 block and 2 block + 1 of H.
  template <class T>
  WB_HD pair<T> draw(item<T> item, int block) const {
    const auto c = counter<T>(a.first + item.first, stream_mimo + static_cast<std::uint32_t>(block), a.point);
    const auto r = philox(c, static_cast<std::uint32_t>(a.seed), static_cast<std::uint32_t>(a.seed >> 32));
    const pair<T> h{complex_normal<T>(r.w[0], r.w[1]), complex_normal<T>(r.w[2], r.w[3])};
    if (a.rice.fixed == 0) return h;
    const auto f = counter<T>(a.first + item.first,
                              stream_mimo + mimo_phases + static_cast<std::uint32_t>(block), a.point);
    const auto p = philox(f, static_cast<std::uint32_t>(a.seed), static_cast<std::uint32_t>(a.seed >> 32));
    return {rician_gain(a.rice, h.even, p.w[0]), rician_gain(a.rice, h.odd, p.w[1])};
  }
  template <class T>
  WB_HD void keep(T* scratch, int e, item<T> item, cx<T> h) const {
    scratch[2 * e] = h.re;
    scratch[2 * e + 1] = h.im;
    store_cx(a.channel, static_cast<std::size_t>(e), item, h);
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
