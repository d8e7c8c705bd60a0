#pragma once
#include <warpband/channel/cdl/cdl_body.hpp>
#include <warpband/core/group.hpp>

namespace wb {
inline namespace WB_ISA {

/// H from rays. An item is an antenna at a time of a drop; a call has several. Lanes are antennas while the
/// rays of a path are added, then entries of H, users fastest, while its paths are.
struct cdl_op {
  cdl_args a;
  int at_once;
  static constexpr bool by_block = true;
  explicit cdl_op(const cdl_args& args) : a(args), at_once(together(args)) {}

  // Plain arithmetic: host code calls no device function.
  int threads() const { return at_once * a.users < 256 ? at_once * a.users : 256; }
  std::size_t scratch_bytes(int) const {
    return static_cast<std::size_t>(2 * a.paths) *
           static_cast<std::size_t>((at_once * a.users + 15) / 16 * 16) * sizeof(float);
  }
  double flops() const {
    const double repeated = static_cast<double>(a.symbols) / a.times,
                 subcarriers = (a.subcarriers + cdl_side - 1) / cdl_side * cdl_side;
    return a.users *
           (14.0 * a.rays + a.paths * 5.0 + 4 * subcarriers * a.paths + 2 * a.subcarriers * repeated);
  }
  double bytes() const {
    const double repeated = static_cast<double>(a.symbols) / a.times;
    return a.users * (8.0 * a.subcarriers * repeated + 4.0 * a.numbers * a.rays / a.antennas);
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, void* scratch) const {
    run<lane>(first, items, g, static_cast<float*>(scratch));
  }

  template <class T, class G>
  WB_HD void run(std::size_t first, int items, G g, float* scratch) const {
    const std::size_t antennas = static_cast<std::size_t>(a.antennas),
                      times = static_cast<std::size_t>(a.times);
    for (int done = 0; done < items;) {  // antennas of one drop and time
      const std::size_t instant = (first + static_cast<std::size_t>(done)) / antennas;
      const int antenna = static_cast<int>(first + static_cast<std::size_t>(done) - instant * antennas),
                left = a.antennas - antenna, count = left < items - done ? left : items - done;
      const std::size_t drop = instant / times;
      const int time = static_cast<int>(instant - drop * times);
      if (done > 0) g.sync();
      add_rays<T>(drop, time, antenna, count, g, scratch);
      g.sync();
      add_paths<T>(instant * static_cast<std::size_t>(a.symbols / a.times), antenna, count, g, scratch);
      done += count;
    }
  }

 private:
  /// About 256 entries of H, and whole vectors of antennas.
  static int together(const cdl_args& a) {
    const int wanted = 256 / a.users, vectors = (wanted + width_of<lane> - 1) / width_of<lane>;
    return (vectors < 1 ? 1 : vectors) * width_of<lane>;
  }
  WB_HD int padded() const { return (at_once * a.users + 15) / 16 * 16; }
  /// Scratch: of every path the gains of all entries, real parts, then imaginary ones.
  WB_HD view<float> row(float* scratch, int path, int user, std::size_t step) const {
    const std::size_t n = static_cast<std::size_t>(padded());
    return {scratch + static_cast<std::size_t>(2 * path) * n + static_cast<std::size_t>(user), 2, n, n, step};
  }

  template <class T, class G>
  WB_HD void add_rays(std::size_t drop, int time, int antenna, int count, G g, float* scratch) const {
    using U = typename rebind<T>::u32;
    const std::uint32_t* drawn = a.drawn + drop * cdl_drawn(a);
    const int vectors = (count + width_of<T> - 1) / width_of<T>;
    for (int i = g.rank; i < vectors * a.users; i += g.size) {
      const int v = i / a.users, user = i - v * a.users, from = v * width_of<T>, left = count - from;
      const item<T> elements{static_cast<std::size_t>(from), left < width_of<T> ? left : width_of<T>};
      const U antennas = U(static_cast<std::uint32_t>(antenna + from)) + iota<U>();
      const float amplitude = *cdl_amplitude(a, drop, user).data;
      for (int p = 0; p < a.paths; p++) {
        const T scale = T(amplitude) * T(a.amplitudes[p]);
        const cx<T> gain = scale * cdl_gain<T>(a, drawn, user, p, antennas, static_cast<std::uint32_t>(time));
        const view<float> to = row(scratch, p, user, static_cast<std::size_t>(a.users));
        store(to, 0, elements, gain.re);
        store(to, 1, elements, gain.im);
      }
    }
  }

  template <class T, class G>
  WB_HD void add_paths(std::size_t symbol, int antenna, int count, G g, float* scratch) const {
    const int entries = count * a.users, vectors = (entries + width_of<T> - 1) / width_of<T>,
              blocks = (a.subcarriers + cdl_side - 1) / cdl_side;
    const std::size_t subcarriers = static_cast<std::size_t>(a.subcarriers), stride = a.channel.item_stride;
    for (int i = g.rank; i < vectors * blocks; i += g.size) {
      const int block = i / vectors, from = (i - block * vectors) * width_of<T>, left = entries - from;
      const item<T> whole{static_cast<std::size_t>(from), width_of<T>};
      const float* rotation = a.rotations + static_cast<std::size_t>(block * a.paths * 2 * cdl_side);
      cx<T> sum[cdl_side];
      WB_UNROLL for (int k = 0; k < cdl_side; k++) sum[k] = {T(0.f), T(0.f)};
      for (int p = 0; p < a.paths; p++, rotation += 2 * cdl_side) {
        const view<float> made = row(scratch, p, 0, 1);
        const view<const float> gains{made.data, 2, made.items, made.element_stride, 1};
        const cx<T> gain{load<T>(gains, 0, whole), load<T>(gains, 1, whole)};
        float re[cdl_side], im[cdl_side];
        load4(rotation, re);
        load4(rotation + cdl_side, im);
        WB_UNROLL for (int k = 0; k < cdl_side; k++) sum[k] = fma(cx<T>{T(re[k]), T(im[k])}, gain, sum[k]);
      }
      const std::size_t first = static_cast<std::size_t>(antenna * a.users + from);
      const item<T> elements{0, left < width_of<T> ? left : width_of<T>};
      for (int repeat = 0; repeat < a.symbols / a.times; repeat++) {  // of users that stand still
        const std::size_t row = (symbol + static_cast<std::size_t>(repeat)) * subcarriers +
                                static_cast<std::size_t>(block * cdl_side);
        WB_UNROLL for (int k = 0; k < cdl_side;
                       k++) if (block * cdl_side + k < a.subcarriers) {  // entries in the place of items
          cx_pair* to = a.channel.data + (row + static_cast<std::size_t>(k)) * stride +
                        first * a.channel.element_stride;
          store_cx(view<cx_pair>{to, 1, static_cast<std::size_t>(left), 0, a.channel.element_stride}, 0,
                   elements, sum[k]);
        }
      }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
