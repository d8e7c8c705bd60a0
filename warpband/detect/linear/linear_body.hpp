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

/// x_k = h_k^H y / |h_k|^2; the other streams and the noise remain.
template <class R, class N, class T>
WB_HD auto matched_filter(R rows, N n, const cx<T> (&h)[N::most][R::most], const cx<T> (&y)[R::most], T n0,
                          T least, equalized<N, T>& e) {
  cx<T> a[N::most][N::most], b[N::most];
  gram(rows, n, h, y, a, b);
  auto regular = mask_from<typename rebind<T>::mask>(true);
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    const auto enough = a[k][k].re >= least;
    regular = regular & enough;
    const T power = select(enough, a[k][k].re, T(1.f));
    T others = n0 * power;
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j != k) others = norm_fma(j < k ? a[j][k] : a[k][j], others);
    });
    e.x[k] = (T(1.f) / power) * b[k];
    e.sinr[k] = power * power / others;
  });
  return regular;
}

/// x = (H^H H)^-1 H^H y by QR; SINR 1 / (N0 [(H^H H)^-1]_kk).
template <class R, class N, class T>
WB_HD auto zero_forcing(R rows, N n, cx<T> (&h)[N::most][R::most], cx<T> (&y)[R::most], T n0, T least,
                        equalized<N, T>& e) {
  triangle<N, cx<T>> t;
  const auto regular = gram_schmidt(rows, n, h, y, least, t);
  T d[N::most];
  back_substitute(n, t, e.x);
  inverse_gram_diagonal(n, t, d);
  loop(n, [&](int k) WB_INLINE_LAMBDA { e.sinr[k] = T(1.f) / (n0 * d[k]); });
  return regular;
}

/// A = H^H H + N0 I, x = A^-1 H^H y without its bias, SINR 1 / (N0 [A^-1]_kk) - 1; by Cholesky.
template <class R, class N, class T>
WB_HD auto mmse(R rows, N n, const cx<T> (&h)[N::most][R::most], const cx<T> (&y)[R::most], T n0, T least,
                equalized<N, T>& e) {
  cx<T> a[N::most][N::most], b[N::most];
  gram(rows, n, h, y, a, b);
  loop(n, [&](int k) WB_INLINE_LAMBDA { a[k][k].re = a[k][k].re + n0; });
  triangle<N, cx<T>> t;
  const auto regular = cholesky(n, a, b, least, t);
  T d[N::most];
  back_substitute(n, t, e.x);
  inverse_gram_diagonal(n, t, d);
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    const T error = n0 * d[k];  // mean square error; rounding must not take it out of (0, 1)
    const T gain = max(T(1.f) - error, T(1e-7f));
    e.x[k] = (T(1.f) / gain) * e.x[k];
    e.sinr[k] = gain / error;
  });
  return regular;
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
