#pragma once
#include <warpband/core/erased.hpp>
#include <warpband/detect/detect_op.hpp>
#include <warpband/detect/linear/mmse_backward_args.hpp>
#include <warpband/detect/linear/mmse_backward_body.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class S>
struct mmse_backward_op : thread_op<mmse_backward_args> {
  /// About: QR decomposition, products of n x n matrices, two products with H, and the levels of each bit.
  double flops() const {
    const double n = a.streams, rows = a.rx_antennas, levels = 1 << a.pam_bits;
    return triangle_flops(a) + 8 * n * n * n * 2 + rows * n * (24 + 8 * n) +
           2 * n * a.pam_bits * (2 * levels + 12);
  }
  double bytes() const {
    const double entries = 8.0 * a.rx_antennas;
    return detect_bytes(a) + 8.0 * a.pam_bits * a.streams +
           (a.channel_gradient.data ? entries * a.streams : 0) + (a.received_gradient.data ? entries : 0) +
           (a.noise_var_gradient.data ? 4 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    const S s(a);
    use_of_channel<S, T> loaded(a, s, item, as_they_come{});
    auto good = loaded.good;
    const int bits = 2 * a.pam_bits, llrs = bits * a.streams;
    for (int i = 0; i < llrs; i++)
      good = good & is_finite(load(a.llr_gradient, static_cast<std::size_t>(i), item));
    const auto given = [&](int k, int i) WB_INLINE_LAMBDA {
      return or_zero(good, load(a.llr_gradient, static_cast<std::size_t>(k * bits + i), item));
    };
    mmse_use<S, T> use, found;
    use.n0 = loaded.n0;
    for (int r = 0; r < a.rx_antennas; r++) {
      use.y[r] = loaded.y[r];
      for (int k = 0; k < a.streams; k++) use.h[k][r] = loaded.h[k][r];
    }
    const float clip = a.clip < 3e38f ? a.clip : 3e38f;
    good = good & mmse_gradient(s, use, loaded.least_pivot(), clip, given, found);
    good = good & is_finite(found.n0);
    for (int r = 0; r < a.rx_antennas; r++) {
      good = good & is_finite(found.y[r].re) & is_finite(found.y[r].im);
      for (int k = 0; k < a.streams; k++)
        good = good & is_finite(found.h[k][r].re) & is_finite(found.h[k][r].im);
    }
    for (int r = 0; r < a.rx_antennas; r++) {
      if (a.received_gradient.data)
        store_cx(a.received_gradient, static_cast<std::size_t>(r), item, or_zero(good, found.y[r]));
      if (a.channel_gradient.data) {
        for (int k = 0; k < a.streams; k++)
          store_cx(a.channel_gradient, static_cast<std::size_t>(r * a.streams + k), item,
                   or_zero(good, found.h[k][r]));
      }
    }
    if (a.noise_var_gradient.data) store(a.noise_var_gradient, 0, item, or_zero(good, found.n0));
    if (a.status.data) store_status(a.status, item, good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
