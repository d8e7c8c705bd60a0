#pragma once
#include <warpband/modem/demap/pam_backward_body.hpp>

namespace wb {
inline namespace WB_ISA {

template <class T>
struct symbol_gradient {
  cx<T> y, h;
  T n0;
};

/// Of a symbol of 1, 2, 4, ... bits. h is not 0, except for BPSK. llr_gradient(i): the gradient of bit i.
template <class T, class F>
WB_HD symbol_gradient<T> demap_backward(int bits, bool exact, cx<T> y, cx<T> h, T n0, F llr_gradient) {
  const int pam = bits / 2;
  const T scale = T(qam_scale_of(pam)), inverse_n0 = T(1.f) / n0;
  if (pam == 0) {  // L = 4 scale (Re m + Im m) / N0 with m = y conj(h)
    const cx<T> m = y * conj(h);
    const T gradient = llr_gradient(0), of_m = T(4.f) * scale * inverse_n0 * gradient;
    const cx<T> both{of_m, of_m};
    return {both * h, conj(both) * y, (T(0.f) - of_m * inverse_n0) * (m.re + m.im)};
  }
  const T power = norm(h), inverse = T(1.f) / power;
  const cx<T> z = (T(1.f) / scale) * (inverse * (y * conj(h)));
  const T weight = scale * scale * inverse_n0, g = weight * power;
  cx<T> of_z{T(0.f), T(0.f)};
  T of_g = T(0.f);
  const auto part = [&](int odd, T along, T& of_part) WB_INLINE_LAMBDA {
    for_bits_of_pam(pam, exact, along, g, [&](int i, T apart, T second) WB_INLINE_LAMBDA {
      const T gradient = llr_gradient(2 * i + odd);
      of_part = fma(gradient, T(2.f) * g * apart, of_part);
      of_g = fma(gradient, fma(T(2.f) * along, apart, second), of_g);
    });
  };
  part(0, z.re, of_z.re);
  part(1, z.im, of_z.im);
  const cx<T> unit = inverse * h;  // 1 / conj(h)
  const cx<T> of_y = (T(1.f) / scale) * (of_z * unit), through_z = conj(z) * (of_z * unit);
  const T through_g = T(2.f) * weight * of_g;
  return {of_y,
          {fma(through_g, h.re, T(0.f) - through_z.re), fma(through_g, h.im, T(0.f) - through_z.im)},
          (T(0.f) - of_g * g) * inverse_n0};
}

}  // namespace WB_ISA
}  // namespace wb
