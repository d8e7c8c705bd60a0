#pragma once
#include <warpband/detect/linear/linear_body.hpp>
#include <warpband/modem/demap/pam_backward_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// The columns of H, y and N0 of a use, or their gradients.
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

/// Gradients of a use (mmse_backward.hpp). Returns where H is regular: every squared pivot is at least
/// `least`. llr_gradient(k, i): that of bit i of stream k. LLRs beyond `clip` have none.
template <class S, class T, class F>
WB_HD auto mmse_gradient(S s, const mmse_use<S, T>& use, T least, float clip, F llr_gradient,
                         mmse_use<S, T>& out) {
  using N = typename S::streams;
  constexpr int capacity = N::capacity;
  const int n = s.n, rx = s.rx, pam = s.b;
  const cx<T> zero{T(0.f), T(0.f)};
  triangle<N, cx<T>> t;
  mmse_use<S, T> q = use;
  const auto regular = gram_schmidt(s.rx, s.n, q.h, q.y, least, t);
  regularize(s.n, t, sqrt(use.n0));
  cx<T> u[capacity], w[capacity][capacity], p[capacity], v[capacity];
  back_substitute(s.n, t, u);
  inverse_gram(s.n, t, w);

  const T scale = T(qam_scale_of(pam)), square = scale * scale, inverse_scale = T(1.f) / scale;
  T d[capacity], of_n0 = T(0.f);
  for (int k = 0; k < n; k++) {
    const T error = use.n0 * w[k][k].re, gain = max(T(1.f) - error, T(1e-7f));
    const T bounded = max(error, T(1e-37f)), sinr = gain / bounded;
    const cx<T> x = (T(1.f) / gain) * u[k];
    cx<T> of_z = zero;
    T of_g = T(0.f);
    const auto part = [&](int odd, T z, T& of_part) WB_INLINE_LAMBDA {
      const auto given = [&](int i, T llr) WB_INLINE_LAMBDA {
        return select(abs(llr) <= T(clip), llr_gradient(k, 2 * i + odd), T(0.f));
      };
      pam_backward(pam, false, z * inverse_scale, square * sinr, given, of_part, of_g);
    };
    part(0, x.re, of_z.re);
    part(1, x.im, of_z.im);
    const cx<T> of_x = inverse_scale * of_z;
    const T of_sinr = square * of_g;
    p[k] = (T(1.f) / gain) * of_x;
    const T through_x = fma(of_x.im, x.im, of_x.re * x.re) / gain;
    const T of_error = through_x - of_sinr / bounded / bounded;
    d[k] = use.n0 * of_error;
    of_n0 = fma(of_error, w[k][k].re, of_n0);
  }
  for (int i = 0; i < n; i++) {
    cx<T> sum = zero;
    for (int j = 0; j < n; j++) sum = fma(w[i][j], p[j], sum);
    v[i] = sum;
    of_n0 = of_n0 - fma(u[i].im, sum.im, u[i].re * sum.re);
  }
  cx<T> m[capacity][capacity];  // W D W
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      cx<T> sum = zero;
      for (int k = 0; k < n; k++) sum = fma(d[k] * w[i][k], w[k][j], sum);
      m[i][j] = sum;
    }
  for (int i = 0; i < n; i++) of_n0 = of_n0 - m[i][i].re;
  out.n0 = of_n0;
  for (int r = 0; r < rx; r++) {
    cx<T> hv = zero, rest = use.y[r];
    for (int k = 0; k < n; k++) {
      hv = fma(use.h[k][r], v[k], hv);
      rest = fnma(use.h[k][r], u[k], rest);
    }
    out.y[r] = hv;
    for (int k = 0; k < n; k++) {
      cx<T> sum = zero;
      for (int j = 0; j < n; j++) sum = fma(use.h[j][r], m[j][k], sum);
      sum = T(-2.f) * sum;
      sum = conj_fnma(u[k], hv, sum);
      out.h[k][r] = conj_fma(v[k], rest, sum);
    }
  }
  return regular;
}

}  // namespace WB_ISA
}  // namespace wb
