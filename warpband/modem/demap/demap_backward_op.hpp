#pragma once
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/modem/demap/demap_backward_args.hpp>
#include <warpband/modem/demap/demap_backward_body.hpp>

namespace wb {
inline namespace WB_ISA {

struct demap_backward_op : thread_op<demap_backward_args> {
  /// For each bit of each dimension a distance to every level, and exactly an exp and three sums. What a
  /// symbol needs beside them is about 100 operations.
  double flops() const {
    const double pam = a.bits_per_symbol / 2, levels = 1 << a.bits_per_symbol / 2;
    const double bit = levels * (2 + (a.exact ? 23 : 0)) + (a.exact ? 2 * (division_flops + 2) : 2) + 10;
    return 100 + 2 * pam * bit;
  }
  double bytes() const {
    return 8 + (a.channel.data ? 8 : 0) + (a.noise_var.item_stride ? 4 : 0) + 4 * a.bits_per_symbol +
           (a.received_gradient.data ? 8 : 0) + (a.channel_gradient.data ? 8 : 0) +
           (a.noise_var_gradient.data ? 4 : 0) + (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    cx<T> y = load_cx(a.received, 0, item), h{T(1.f), T(0.f)};
    if (a.channel.data) h = load_cx(a.channel, 0, item);
    T n0 = load(a.noise_var, 0, item);
    const T energy = norm(y), power = norm(h);
    auto good = (energy <= T(1e30f)) & (power <= T(1e30f)) & (n0 >= T(1e-30f)) & (n0 <= T(1e30f));
    if (a.bits_per_symbol > 1)  // BPSK has no division by h
      good = good & (energy <= T(1e10f) * power) & (power >= T(1e-30f)) & (power <= T(1e20f) * n0);
    for (int i = 0; i < a.bits_per_symbol; i++)
      good = good & is_finite(load(a.llr_gradient, static_cast<std::size_t>(i), item));
    y = or_zero(good, y);
    h = {select(good, h.re, T(1.f)), select(good, h.im, T(0.f))};
    n0 = select(good, n0, T(1.f));
    const auto given = [&](int i) WB_INLINE_LAMBDA {
      return or_zero(good, load(a.llr_gradient, static_cast<std::size_t>(i), item));
    };
    const symbol_gradient<T> found = demap_backward(a.bits_per_symbol, a.exact, y, h, n0, given);
    auto all_good = good;
    const auto usable = [&](auto finite) WB_INLINE_LAMBDA {  // each output by itself
      all_good = all_good & finite;
      return good & finite;
    };
    if (a.received_gradient.data)
      store_cx(a.received_gradient, 0, item,
               or_zero(usable(is_finite(found.y.re) & is_finite(found.y.im)), found.y));
    if (a.channel_gradient.data)
      store_cx(a.channel_gradient, 0, item,
               or_zero(usable(is_finite(found.h.re) & is_finite(found.h.im)), found.h));
    if (a.noise_var_gradient.data)
      store(a.noise_var_gradient, 0, item, or_zero(usable(is_finite(found.n0)), found.n0));
    if (a.status.data) store_status(a.status, item, all_good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
