#pragma once
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/modem/constellation/constellation_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// The point of each lane's label.
template <class T>
WB_HD cx<T> point_at(const cx_pair* points, typename rebind<T>::i32 label) {
  if constexpr (width_of<T> == 1) {
    return {points[label].re, points[label].im};
  } else {
    cx<T> s;
    for (int i = 0; i < width_of<T>; i++) {
      s.re.x[i] = points[label.x[i]].re;
      s.im.x[i] = points[label.x[i]].im;
    }
    return s;
  }
}

struct constellation_map_op : thread_op<constellation_map_args> {
  double flops() const { return 0; }
  double bytes() const { return a.bits_per_symbol + 8; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using I = typename rebind<T>::i32;
    I label(0);
    for (int i = 0; i < a.bits_per_symbol; i++)
      label = (label << 1) | (load_int<T>(a.bits, static_cast<std::size_t>(i), item) & I(1));
    store_cx(a.symbols, 0, item, point_at<T>(a.points, label));
  }
};

/// Up to `Most` bits of a symbol.
template <int Most>
struct constellation_demap_op : thread_op<constellation_demap_args> {
  /// Matched filter and scaling; the metric of each point and its minima. For `exact` also an exp for each
  /// point and bit, and two logs for each bit. bench/flops_mimo_test.cpp counts them.
  double flops() const {
    const int bits = a.bits_per_symbol, points = 1 << bits;
    const int exact = a.exact ? points * (3 + bits * (2 + 14)) + bits * (2 + 2 * 17) : 0;
    return 35 + points * (3 + bits) + 6 * bits + exact;
  }
  double bytes() const {
    return 8 + (a.channel.data ? 8 : 0) + (a.noise_var.item_stride ? 4 : 0) +
           (a.llr.data ? 4 * a.bits_per_symbol : 0) + (a.status.data ? 1 : 0);
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
    if (a.llr.data) {
      T llr[Most];
      points_demap<Most>(a.points, a.bits_per_symbol, a.exact,
                         metric_of_symbol(y, h, select(good, n0, T(1.f))), llr);
      const auto silent = (h.re == T(0.f)) & (h.im == T(0.f));
      WB_UNROLL for (int i = 0; i < Most; i++) {
        if (i < a.bits_per_symbol)
          store(a.llr, static_cast<std::size_t>(i), item, select(silent, T(0.f), llr[i]));
      }
    }
    if (a.status.data) store_status(a.status, item, good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
