#pragma once
#include <warpband/detect/lattice_body.hpp>
#include <warpband/linalg/cholesky/cholesky_body.hpp>
#include <warpband/linalg/solve/solve_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Estimates x of the symbols without bias, x = s + noise, and one over the variance of that noise: the SINR.
template <class N, class T>
struct equalized {
  cx<T> x[N::most];
  T sinr[N::most];
};

/// H^H H and H^H y from R and z.
template <class N, class T>
WB_HD void gram_of(N n, const triangle<N, cx<T>>& t, cx<T> (&a)[N::most][N::most], cx<T> (&b)[N::most]) {
  loop(n, [&](int i) WB_INLINE_LAMBDA {
    T square = t.diagonal[i] * t.diagonal[i];
    b[i] = t.diagonal[i] * t.z[i];
    loop(n, [&](int k) WB_INLINE_LAMBDA {
      if (k >= i) return;
      square = norm_fma(t.above[k][i], square);
      b[i] = conj_fma(t.above[k][i], t.z[k], b[i]);
    });
    a[i][i] = {square, T(0.f)};
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j <= i) return;
      cx<T> s = t.diagonal[i] * t.above[i][j];
      loop(n, [&](int k) WB_INLINE_LAMBDA {
        if (k < i) s = conj_fma(t.above[k][i], t.above[k][j], s);
      });
      a[i][j] = s;
    });
  });
}

/// x_k = h_k^H y / |h_k|^2; the other streams and the noise remain.
template <class N, class T>
WB_HD void matched_filter(N n, const triangle<N, cx<T>>& t, T n0, equalized<N, T>& e) {
  cx<T> a[N::most][N::most], b[N::most];
  gram_of(n, t, a, b);
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    const T power = a[k][k].re;
    T others = n0 * power;
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j != k) others = norm_fma(j < k ? a[j][k] : a[k][j], others);
    });
    e.x[k] = (T(1.f) / power) * b[k];
    e.sinr[k] = power * power / others;
  });
}

/// x = R^-1 z; SINR 1 / (N0 [(H^H H)^-1]_kk).
template <class N, class T>
WB_HD void zero_forcing(N n, const triangle<N, cx<T>>& t, T n0, equalized<N, T>& e) {
  T d[N::most];
  back_substitute(n, t, e.x);
  inverse_gram_diagonal(n, t, d);
  loop(n, [&](int k) WB_INLINE_LAMBDA { e.sinr[k] = T(1.f) / (n0 * d[k]); });
}

/// A = H^H H + N0 I, x = A^-1 H^H y without its bias, SINR 1 / (N0 [A^-1]_kk) - 1; by Cholesky.
template <class N, class T>
WB_HD void mmse(N n, const triangle<N, cx<T>>& t, T n0, equalized<N, T>& e) {
  cx<T> a[N::most][N::most], b[N::most];
  gram_of(n, t, a, b);
  loop(n, [&](int k) WB_INLINE_LAMBDA { a[k][k].re = a[k][k].re + n0; });
  triangle<N, cx<T>> regular;
  cholesky(n, a, b, T(0.f), regular);
  T d[N::most];
  back_substitute(n, regular, e.x);
  inverse_gram_diagonal(n, regular, d);
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    const T error = n0 * d[k];  // mean square error; rounding must not take it out of (0, 1)
    const T gain = max(T(1.f) - error, T(1e-7f));
    e.x[k] = (T(1.f) / gain) * e.x[k];
    e.sinr[k] = gain / error;
  });
}

/// Max-log distances of each bit of symbol x in noise of variance 1 / sinr, times 1.
template <class N, class B, class T>
WB_HD void demap_symbol(B pam, int k, cx<T> x, T sinr, minima<N, B, T>& found) {
  const float scale = scale_of(pam), top = static_cast<float>((1 << pam) - 1);
  const auto levels = [&]() WB_INLINE_LAMBDA {
    if constexpr (B::known)
      return fixed<(1 << B::most)>{};
    else
      return upto<(1 << B::most)>{1 << pam};
  }();
  loop(levels, [&](int j) WB_INLINE_LAMBDA {
    const T s = T(scale * (top - 2.f * static_cast<float>(j)));
    const T re = x.re - s, im = x.im - s;
    const int gray = j ^ j >> 1;
    found.add(pam, k, pam, gray, re * re * sinr);
    found.add(pam, k, 0, gray, im * im * sinr);
  });
}

}  // namespace WB_ISA
}  // namespace wb
