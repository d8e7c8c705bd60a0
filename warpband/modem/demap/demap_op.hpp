#pragma once
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/modem/demap/demap_args.hpp>
#include <warpband/modem/demap/demap_body.hpp>

namespace wb {
inline namespace WB_ISA {

template <int B, bool Exact>
struct demap_op : thread_op<demap_args> {
  static constexpr int bits = B == 0 ? 1 : 2 * B;
  /// Matched filter and scaling, also by powers of two. In each dimension a distance for each level, and its
  /// minima and limits for each bit. For `Exact` also an exp for each level and two logs.
  /// bench/flops_*_test.cpp counts them; the machine code for sm_90 has 97 to 100 % of them.
  double flops() const {
    constexpr int levels = 1 << B, exps = Exact ? levels * (2 + 14) + 2 + 2 * 17 : 0;
    return B == 0 ? 29 : 51 + 4 * B + 2 * (3 * levels + B * (levels + 2 + exps));
  }
  double bytes() const {
    return 8 + (a.channel.data ? 8 : 0) + (a.noise_var.item_stride ? 4 : 0) + (a.llr.data ? 4 * bits : 0) +
           (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    cx<T> y = load_cx(a.received, 0, item), h{T(1.f), T(0.f)};
    if (a.channel.data) h = load_cx(a.channel, 0, item);
    const T n0 = load(a.noise_var, 0, item);
    const auto good =
        is_finite(y.re) & is_finite(y.im) & is_finite(h.re) & is_finite(h.im) & is_finite(n0) & (n0 > T(0.f));
    y = or_zero(good, y);
    h = or_zero(good, h);
    T llr[bits];
    qam_demap<B, Exact>(y, h, select(good, n0, T(1.f)), llr);
    if (a.llr.data) {
      WB_UNROLL for (int i = 0; i < bits; i++) store(a.llr, static_cast<std::size_t>(i), item, llr[i]);
    }
    if (a.status.data) store_status(a.status, item, good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
