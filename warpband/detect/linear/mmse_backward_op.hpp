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
  /// About, and not counted by a test: QR decomposition, the inverse, products with H, and the levels of each
  /// bit.
  double flops() const {
    const double n = a.streams, rows = a.rx_antennas, levels = 1 << a.pam_bits;
    return triangle_flops(a) + 8 * n * n * n + rows * n * (28 + 16 * n) +
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
    mmse_use<S, T> found{};
    const float clip = a.clip < 3e38f ? a.clip : 3e38f;
    good = good & mmse_gradient(s, loaded, loaded.least_pivot(), clip, given, found);
    auto of_y = good, of_h = good, of_n0 = good;  // each output by itself
    for (int r = 0; r < a.rx_antennas; r++) {
      of_y = of_y & is_finite(found.y[r].re) & is_finite(found.y[r].im);
      for (int k = 0; k < a.streams; k++)
        of_h = of_h & is_finite(found.h[k][r].re) & is_finite(found.h[k][r].im);
    }
    of_n0 = of_n0 & is_finite(found.n0);
    if (a.received_gradient.data) {
      good = good & of_y;
      for (int r = 0; r < a.rx_antennas; r++)
        store_cx(a.received_gradient, static_cast<std::size_t>(r), item, or_zero(of_y, found.y[r]));
    }
    if (a.channel_gradient.data) {
      good = good & of_h;
      for (int r = 0; r < a.rx_antennas; r++)
        for (int k = 0; k < a.streams; k++)
          store_cx(a.channel_gradient, static_cast<std::size_t>(r * a.streams + k), item,
                   or_zero(of_h, found.h[k][r]));
    }
    if (a.noise_var_gradient.data) {
      good = good & of_n0;
      store(a.noise_var_gradient, 0, item, or_zero(of_n0, found.n0));
    }
    if (a.status.data) store_status(a.status, item, good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
