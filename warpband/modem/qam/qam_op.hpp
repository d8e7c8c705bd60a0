#pragma once
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/modem/qam/qam_args.hpp>
#include <warpband/modem/qam/qam_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// B bits per dimension; B = 0 is BPSK.
template <int B>
struct qam_map_op : thread_op<qam_map_args> {
  /// Two for each bit of a dimension but the first, which chooses between constants; the scaling.
  double flops() const { return B <= 1 ? 0 : 2 * (2 * (B - 1) + 1); }
  double bytes() const { return (B == 0 ? 1 : 2 * B) + 8; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using I = typename rebind<T>::i32;
    const float scale = qam_scale<B>();
    cx<T> s;
    if constexpr (B == 0) {
      const I b = load_int<T>(a.bits, 0, item) & I(1);
      s.re = s.im = select(b == I(0), T(scale), T(-scale));
    } else {
      I re[B], im[B];
      WB_UNROLL for (int i = 0; i < B; i++) {
        re[i] = load_int<T>(a.bits, static_cast<std::size_t>(2 * i), item) & I(1);
        im[i] = load_int<T>(a.bits, static_cast<std::size_t>(2 * i + 1), item) & I(1);
      }
      s = T(scale) * cx<T>{pam_map<B, T>(re), pam_map<B, T>(im)};
    }
    store_cx(a.symbols, 0, item, s);
  }
};

}  // namespace WB_ISA
}  // namespace wb
