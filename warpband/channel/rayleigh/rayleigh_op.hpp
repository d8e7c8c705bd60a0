#pragma once
#include <warpband/channel/random.hpp>
#include <warpband/channel/rayleigh/rayleigh_args.hpp>
#include <warpband/channel/rician_body.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/philox.hpp>

namespace wb {
inline namespace WB_ISA {

/// Fast: an item is a symbol. Block: an item is a block of symbols, which its group shares.
template <bool Block>
struct rayleigh_op {
  rayleigh_args a;
  static constexpr bool by_block = Block;
  int threads() const { return a.block < 128 ? a.block : 128; }
  std::size_t scratch(int) const { return 0; }
  double flops() const {  // complex_normal; a product and two stores
    return 41 + (a.rice.fixed != 0 ? rician_gain_flops : 0) + 10.0 * a.block;
  }
  double bytes() const { return 24.0 * a.block; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const auto c = counter<T>(a.first + item.first, stream_fading, a.point);
    const auto r = philox(c, static_cast<std::uint32_t>(a.seed), static_cast<std::uint32_t>(a.seed >> 32));
    cx<T> h = complex_normal<T>(r.w[0], r.w[1]);
    if (a.rice.fixed != 0) h = rician_gain(a.rice, h, r.w[2]);
    if constexpr (!Block) {
      fade(a.in, a.out, a.gain, 0, item, h);
    } else {
      for (int i = g.rank; i < a.block; i += g.size)
        fade(rows(a.in), rows(a.out), rows(a.gain), static_cast<std::size_t>(i), item, h);
    }
  }

 private:
  /// The symbols of a block as one row.
  template <class S>
  WB_HD view<S> rows(view<S> v) const {
    const std::size_t n = static_cast<std::size_t>(a.block);
    return {v.data, n, v.items / n, 1, v.item_stride * n};
  }
  template <class T>
  WB_HD static void fade(const view<const cx_pair>& in, const view<cx_pair>& out, const view<cx_pair>& gain,
                         std::size_t e, item<T> item, cx<T> h) {
    const cx<T> y = h * load_cx(in, e, item);
    store_cx(out, e, item, y);
    store_cx(gain, e, item, h);
  }
};

}  // namespace WB_ISA
}  // namespace wb
