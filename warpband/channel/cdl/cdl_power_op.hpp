#pragma once
#include <warpband/channel/cdl/cdl_body.hpp>
#include <warpband/core/group.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Sets the amplitude of one user of a drop, which is an item, so that mean |h|^2 is 1. Lanes are antennas.
/// The mean over subcarriers is taken without making them: |h|^2 is a form in the gains of the paths.
struct cdl_power_op : parts_op<cdl_args> {
  int threads() const { return a.antennas < 128 ? a.antennas : 128; }
  std::size_t scratch_bytes(int group) const {
    const std::size_t antennas = static_cast<std::size_t>((a.antennas + 15) / 16 * 16),
                      column = static_cast<std::size_t>(2 * a.paths) * static_cast<std::size_t>(group) * 16;
    return (antennas + sums + (width_of<lane> > 1 ? column : column / 16)) * sizeof(float);
  }
  double flops() const {
    const double p = a.paths;
    return a.antennas * (a.times * (14.0 * a.rays + p * (2 + 2 + 2 * (p - 1) + 3 + 2)) + 2) + sums + 30;
  }
  double bytes() const { return 4 * (static_cast<double>(a.numbers) * a.rays + 1); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void* scratch) const {
    run<lane>(first, g, static_cast<float*>(scratch));
  }

  template <class T, class G>
  WB_HD void run(std::size_t number, G g, float* scratch) const {
    using U = typename rebind<T>::u32;
    const std::size_t users = static_cast<std::size_t>(a.users), drop = number / users;
    const int user = static_cast<int>(number - drop * users);
    const std::uint32_t* drawn = a.drawn + drop * cdl_drawn(a);
    const std::size_t padded = static_cast<std::size_t>((a.antennas + 15) / 16 * 16),
                      stride = static_cast<std::size_t>(g.size * width_of<T>);
    float* const column = scratch + padded + sums + static_cast<std::size_t>(g.rank * width_of<T>);
    const std::size_t rows = static_cast<std::size_t>(2 * a.paths);
    const view<float> powers{scratch, 1, padded, padded, 1}, gains{column, rows, stride, stride, 1};
    const view<const float> kept{column, rows, stride, stride, 1};
    const item<T> lanes{0, width_of<T>};
    const int vectors = (a.antennas + width_of<T> - 1) / width_of<T>;
    for (int v = g.rank; v < vectors; v += g.size) {
      const U antenna = U(static_cast<std::uint32_t>(v * width_of<T>)) + iota<U>();
      T power = T(0.f);
      for (int t = 0; t < a.times; t++)
        for (int p = 0; p < a.paths; p++) {
          const T amplitude = T(a.amplitudes[p]);
          const cx<T> gain =
              amplitude * cdl_gain<T>(a, drawn, user, p, antenna, static_cast<std::uint32_t>(t));
          store(gains, static_cast<std::size_t>(2 * p), lanes, gain.re);
          store(gains, static_cast<std::size_t>(2 * p + 1), lanes, gain.im);
          cx<T> before{T(0.f), T(0.f)};
          for (int q = 0; q < p; q++) {
            const float* overlap = a.overlaps + 2 * (p * a.paths + q);
            before = conj_fma(cx<T>{T(overlap[0]), T(overlap[1])},
                              cx<T>{load<T>(kept, static_cast<std::size_t>(2 * q), lanes),
                                    load<T>(kept, static_cast<std::size_t>(2 * q + 1), lanes)},
                              before);
          }
          const cx<T> sum{fma(T(2.f), before.re, gain.re), fma(T(2.f), before.im, gain.im)};
          power = fma(gain.im, sum.im, fma(gain.re, sum.re, power));
        }
      store(powers, 0, item<T>{static_cast<std::size_t>(v * width_of<T>), width_of<T>}, power);
    }
    g.sync();
    // The same order for groups of any size.
    for (int i = g.rank; i < sums; i += g.size) {
      float sum = 0;
      for (int b = i; b < a.antennas; b += sums) sum = sum + scratch[b];
      scratch[padded + static_cast<std::size_t>(i)] = sum;
    }
    g.sync();
    if (g.rank == 0) {
      float sum = 0;
      for (int i = 0; i < sums; i++) sum = sum + scratch[padded + static_cast<std::size_t>(i)];
      const float mean = max(sum / static_cast<float>(a.antennas * a.times), 1e-6f);
      *cdl_amplitude(a, drop, user).data = 1.f / sqrt(mean);
    }
  }

 private:
  static constexpr int sums = 32;
};

}  // namespace WB_ISA
}  // namespace wb
