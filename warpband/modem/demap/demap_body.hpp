#pragma once
#include <warpband/core/math.hpp>
#include <warpband/modem/qam/qam_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// LLRs of the B bits of one dimension: x = a * amplitude + real noise, metric g (x / a - amplitude)^2.
/// z is x / a, g the weight of a squared distance of amplitudes.
template <int B, bool Exact, class T>
WB_HD void pam_demap(T z, T g, T (&llr)[B]) {
  constexpr int L = 1 << B;
  T metric[L];
  WB_UNROLL for (int l = 0; l < L; l++) {
    const T d = z - T(static_cast<float>(pam_amplitude<B>(l)));
    metric[l] = d * d * g;
  }
  WB_UNROLL_ON_DEVICE for (int i = 0; i < B; i++) {
    T best[2];
    bool seen[2] = {false, false};
    WB_UNROLL for (int l = 0; l < L; l++) {
      const int b = l >> (B - 1 - i) & 1;
      best[b] = seen[b] ? min(best[b], metric[l]) : metric[l];
      seen[b] = true;
    }
    llr[i] = best[1] - best[0];
    if constexpr (Exact) {
      T sum[2] = {T(0.f), T(0.f)};
      WB_UNROLL_ON_DEVICE for (int l = 0; l < L; l++) {
        const int b = l >> (B - 1 - i) & 1;
        sum[b] = sum[b] + exp(best[b] - metric[l]);
      }
      llr[i] = llr[i] + (log(sum[0]) - log(sum[1]));
    }
  }
}

/// LLRs of a symbol of B bits per dimension (B = 0: BPSK). Finite inputs, n0 > 0.
template <int B, bool Exact, class T>
WB_HD void qam_demap(cx<T> y, cx<T> h, T n0, T (&llr)[B == 0 ? 1 : 2 * B]) {
  const float scale = qam_scale<B>();
  const T power = norm(h);
  const cx<T> m = y * conj(h);  // matched filter
  if constexpr (B == 0) {
    llr[0] = (m.re + m.im) * (T(4.f * scale) / n0);
  } else {
    const auto faded = power > T(1e-30f);
    const T inverse = T(1.f / scale) / select(faded, power, T(1.f));
    const T g = power * T(scale * scale) / n0;
    T re[B], im[B];
    pam_demap<B, Exact>(m.re * inverse, g, re);
    pam_demap<B, Exact>(m.im * inverse, g, im);
    WB_UNROLL for (int i = 0; i < B; i++) {
      llr[2 * i] = select(faded, re[i], T(0.f));
      llr[2 * i + 1] = select(faded, im[i], T(0.f));
    }
  }
}

}  // namespace WB_ISA
}  // namespace wb
