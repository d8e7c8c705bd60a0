#pragma once
#include <warpband/core/llr.hpp>
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

/// x limited to low..high.
template <class I>
WB_HD I limited(I x, int low, int high) {
  return select(x < I(low), I(low), select(I(high) < x, I(high), x));
}
/// The exponent e of |x| in [2^e, 2^(e+1)), from -126 to 126; -126 for smaller x and 126 for larger.
template <class T>
WB_HD typename rebind<T>::i32 exponent_of(T x) {
  using I = typename rebind<T>::i32;
  const I e = ((as_int(x) >> 23) & I(255)) - I(127);
  return limited(e, -126, 126);
}
/// x 2^e for |e| <= 126.
template <class T>
WB_HD T times_power(T x, typename rebind<T>::i32 e) {
  return x * as_float((e + typename rebind<T>::i32(127)) << 23);
}
/// x 2^e for all e, which is limited to -252..252.
template <class T>
WB_HD T times_any_power(T x, typename rebind<T>::i32 e) {
  e = limited(e, -252, 252);
  const typename rebind<T>::i32 half = e >> 1;
  return times_power(times_power(x, half), e - half);
}

/// Beyond this |z| the metrics of `pam_demap` no longer hold the differences of levels.
inline constexpr float far_amplitude = 16384.f;
/// Limits |z| to `far_amplitude`. There a max-log LLR grows as |z|: the factor for g that makes up for it, 1
/// for ordinary z. The LLR is then right within 0.1 %.
template <int B, class T>
WB_HD T limit_far(T& z) {
  constexpr float top = static_cast<float>((1 << B) - 1);
  const T factor = max((abs(z) - T(top)) * T(1.f / (far_amplitude - top)), T(1.f));
  z = saturate(z, far_amplitude);
  return factor;
}

/// LLRs of a symbol of B bits per dimension (B = 0: BPSK), limited to +-3e38. Finite inputs, n0 > 0.
///
/// y, h and N0 are brought to about 1 by powers of two. Their exponents go to z = y / h, to g = |h|^2 / N0
/// and, where a metric would overflow, to the LLRs. All of that is exact: LLRs have the bits that y, h and N0
/// themselves would give, wherever those neither overflow nor underflow.
template <int B, bool Exact, class T>
WB_HD void qam_demap(cx<T> y, cx<T> h, T n0, T (&llr)[B == 0 ? 1 : 2 * B]) {
  using I = typename rebind<T>::i32;
  const float scale = qam_scale<B>();
  const I of_y = exponent_of(max(abs(y.re), abs(y.im))), of_h = exponent_of(max(abs(h.re), abs(h.im))),
          of_n0 = exponent_of(n0);
  y = {times_power(y.re, I(0) - of_y), times_power(y.im, I(0) - of_y)};
  h = {times_power(h.re, I(0) - of_h), times_power(h.im, I(0) - of_h)};
  n0 = times_power(n0, I(0) - of_n0);
  const T power = norm(h);
  const cx<T> m = y * conj(h);  // matched filter
  I rest;
  if constexpr (B == 0) {
    llr[0] = (m.re + m.im) * (T(4.f * scale) / n0);
    rest = of_y + of_h - of_n0;
  } else {
    const auto faded = power > T(0.f);
    const T inverse = T(1.f / scale) / select(faded, power, T(1.f));
    const I of_z = of_y - of_h, of_g = of_h + of_h - of_n0;
    const I near_z = limited(of_z, -252, 40), far_z = limited(of_z - I(40), 0, 252);
    const I near_g = limited(of_g + far_z, -90, 30);
    rest = of_g + far_z - near_g;
    const T g = times_power(power * T(scale * scale) / n0, near_g);
    T z_re = times_any_power(m.re * inverse, near_z), z_im = times_any_power(m.im * inverse, near_z);
    const T g_re = g * limit_far<B>(z_re), g_im = g * limit_far<B>(z_im);
    T re[B], im[B];
    pam_demap<B, Exact>(z_re, g_re, re);
    pam_demap<B, Exact>(z_im, g_im, im);
    // Between the innermost levels the metrics lose a tiny z, but not its sign.
    re[0] = select(re[0] == T(0.f), T(4.f) * g * z_re, re[0]);
    im[0] = select(im[0] == T(0.f), T(4.f) * g * z_im, im[0]);
    WB_UNROLL for (int i = 0; i < B; i++) {
      llr[2 * i] = select(faded, re[i], T(0.f));
      llr[2 * i + 1] = select(faded, im[i], T(0.f));
    }
  }
  constexpr int bits = B == 0 ? 1 : 2 * B;
  WB_UNROLL for (int i = 0; i < bits; i++) llr[i] = saturate(times_any_power(llr[i], rest), 3e38f);
}

}  // namespace WB_ISA
}  // namespace wb
