#pragma once
#include <warpband/detect/linear/linear_body.hpp>
#include <warpband/modem/demap/pam_backward_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// The columns of H, y and N0 of a use: their gradients.
template <class S, class T>
struct mmse_use {
  cx<T> h[S::streams::capacity][S::rows::capacity], y[S::rows::capacity];
  T n0;
};

/// (R^H R)^-1 from a triangle R, both halves.
template <class N, class T>
WB_HD void inverse_gram(N n, const triangle<N, cx<T>>& t, cx<T> (&w)[N::capacity][N::capacity]) {
  const cx<T> zero{T(0.f), T(0.f)};
  cx<T> inverse[N::capacity][N::capacity];  // [row][column] of R^-1, which is upper triangular too
  for (int c = 0; c < n; c++) {
    inverse[c][c] = {t.inverse[c], T(0.f)};
    for (int i = c - 1; i >= 0; i--) {
      cx<T> s = zero;
      for (int j = i + 1; j <= c; j++) s = fnma(t.above[i][j], inverse[j][c], s);
      inverse[i][c] = t.inverse[i] * s;
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      cx<T> s = zero;
      for (int k = j; k < n; k++) s = conj_fma(inverse[j][k], inverse[i][k], s);
      w[i][j] = s;
      w[j][i] = conj(s);
    }
}

/// Gradients of a use with columns h, y and n0 (mmse_backward.hpp). Returns where H is regular: every squared
/// pivot is at least `least`. llr_gradient(k, i): that of bit i of stream k. LLRs beyond `clip` have none.
template <class S, class Use, class T, class F>
WB_HD auto mmse_gradient(S s, const Use& use, T least, float clip, F llr_gradient, mmse_use<S, T>& out) {
  using N = typename S::streams;
  constexpr int capacity = N::capacity;
  const int n = s.n, rx = s.rx, pam = s.b;
  const cx<T> zero{T(0.f), T(0.f)};
  triangle<N, cx<T>> t;
  cx<T> q[capacity][S::rows::capacity], reduced[S::rows::capacity];
  for (int r = 0; r < rx; r++) {
    reduced[r] = use.y[r];
    for (int k = 0; k < n; k++) q[k][r] = use.h[k][r];
  }
  const auto regular = gram_schmidt(s.rx, s.n, q, reduced, least, t);
  regularize(s.n, t, sqrt(use.n0));
  cx<T> u[capacity], w[capacity][capacity], p[capacity], v[capacity];
  back_substitute(s.n, t, u);
  inverse_gram(s.n, t, w);

  const T scale = T(qam_scale_of(pam)), square = scale * scale, inverse_scale = T(1.f) / scale;
  T d[capacity], of_error[capacity], of_n0 = T(0.f);
  for (int k = 0; k < n; k++) {
    const T error = use.n0 * w[k][k].re, unlimited = T(1.f) - error, gain = max(unlimited, T(1e-7f));
    const T inverse = T(1.f) / max(error, T(1e-37f)), g = square * (gain * inverse);
    const cx<T> x = (T(1.f) / gain) * u[k];
    // -e^2 dL/de has 1 - e, and e where a limit does not hide it: 1 together.
    const T of_second = square * select(unlimited > T(1e-7f), T(1.f), gain);
    cx<T> sum = zero;
    T slope = T(0.f);
    const auto part = [&](int odd, T along, T of_u, T& sum_of_part) WB_INLINE_LAMBDA {
      const T z = along * inverse_scale;
      for_bits_of_pam(pam, false, z, g, [&](int i, T apart, T second) WB_INLINE_LAMBDA {
        const T llr = g * fma(T(2.f) * z, apart, second);
        const T gradient = select(abs(llr) <= T(clip), llr_gradient(k, 2 * i + odd), T(0.f));
        sum_of_part = fma(gradient, apart, sum_of_part);
        slope = fma(gradient, fma(T(2.f) * scale * of_u, apart, of_second * second), slope);
      });
    };
    part(0, x.re, u[k].re, sum.re);
    part(1, x.im, u[k].im, sum.im);
    p[k] = (T(2.f) * scale * inverse) * sum;
    const T scaled = T(0.f) - slope * inverse;  // e dF/de
    of_error[k] = scaled * inverse;
    d[k] = scaled * (use.n0 * inverse);
  }
  for (int i = 0; i < n; i++) {
    cx<T> sum = zero;
    for (int j = 0; j < n; j++) sum = fma(w[i][j], p[j], sum);
    v[i] = sum;
    of_n0 = of_n0 - fma(u[i].im, sum.im, u[i].re * sum.re);
  }
  for (int r = 0; r < rx; r++) {
    cx<T> hv = zero, residual = use.y[r], hw[capacity];
    for (int k = 0; k < n; k++) {
      hv = fma(use.h[k][r], v[k], hv);
      residual = fnma(use.h[k][r], u[k], residual);
      cx<T> sum = zero;
      for (int j = 0; j < n; j++) sum = fma(use.h[j][r], w[j][k], sum);
      hw[k] = d[k] * sum;
      of_n0 = fma(of_error[k], norm(sum), of_n0);
    }
    out.y[r] = hv;
    for (int k = 0; k < n; k++) {
      cx<T> sum = zero;
      for (int j = 0; j < n; j++) sum = fma(hw[j], w[j][k], sum);
      sum = T(-2.f) * sum;
      sum = conj_fnma(u[k], hv, sum);
      out.h[k][r] = conj_fma(v[k], residual, sum);
    }
  }
  out.n0 = of_n0;
  return regular;
}

}  // namespace WB_ISA
}  // namespace wb
