#pragma once
#include <warpband/core/llr.hpp>
#include <warpband/detect/lattice_body.hpp>
#include <warpband/linalg/solve/solve_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Estimates x of the symbols without bias, x = s + noise, and one over the variance of that noise: the SINR.
template <class N, class T>
struct equalized {
  cx<T> x[N::capacity];
  T sinr[N::capacity];
};

/// H^H H and H^H y from R and z.
template <class N, class T>
WB_HD void gram_of(N n, const triangle<N, cx<T>>& t, cx<T> (&a)[N::capacity][N::capacity],
                   cx<T> (&b)[N::capacity]) {
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
  cx<T> a[N::capacity][N::capacity], b[N::capacity];
  gram_of(n, t, a, b);
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    const T power = a[k][k].re, inverse = T(1.f) / power;
    T others = n0;
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j == k) return;
      const cx<T> h = j < k ? a[j][k] : a[k][j], part = inverse * h;  // scaled before it is squared
      others = fma(part.im, h.im, fma(part.re, h.re, others));
    });
    e.x[k] = inverse * b[k];
    e.sinr[k] = power / others;
  });
}

/// x = R^-1 z; SINR 1 / (N0 [(H^H H)^-1]_kk).
template <class N, class T>
WB_HD void zero_forcing(N n, const triangle<N, cx<T>>& t, T n0, equalized<N, T>& e) {
  T d[N::capacity];
  back_substitute(n, t, e.x);
  inverse_gram_diagonal(n, t, d);
  loop(n, [&](int k) WB_INLINE_LAMBDA { e.sinr[k] = T(1.f) / max(n0 * d[k], T(1e-37f)); });
}

/// Two entries of a column: of R, and of what stands below it.
template <class T>
struct stacked {
  cx<T> r, i;
};
/// The triangle of [R; sigma I] and [z; 0] in place of R's and z's, by Gram-Schmidt. Column k of either part
/// has nothing below row k, and stays so.
template <class N, class T>
WB_HD void regularize(N n, triangle<N, cx<T>>& t, T sigma) {
  stacked<T> h[N::capacity][N::capacity], y[N::capacity];
  const cx<T> zero = {T(0.f), T(0.f)};
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    loop(n, [&](int r) WB_INLINE_LAMBDA {
      if (r < k) h[k][r] = {t.above[r][k], zero};
    });
    h[k][k] = {{t.diagonal[k], T(0.f)}, {sigma, T(0.f)}};
    y[k] = {t.z[k], zero};
  });
  loop(n, [&](int i) WB_INLINE_LAMBDA {
    const auto project = [&](stacked<T>(&v)[N::capacity]) WB_INLINE_LAMBDA {
      cx<T> s = zero;
      loop(n, [&](int r) WB_INLINE_LAMBDA {
        if (r <= i) s = conj_fma(h[i][r].i, v[r].i, conj_fma(h[i][r].r, v[r].r, s));
      });
      loop(n, [&](int r) WB_INLINE_LAMBDA {
        if (r <= i) v[r] = {fnma(s, h[i][r].r, v[r].r), fnma(s, h[i][r].i, v[r].i)};
      });
      return s;
    };
    T square = T(0.f);
    loop(n, [&](int r) WB_INLINE_LAMBDA {
      if (r <= i) square = norm_fma(h[i][r].i, norm_fma(h[i][r].r, square));
    });
    t.diagonal[i] = sqrt(square);
    t.inverse[i] = T(1.f) / t.diagonal[i];
    loop(n, [&](int r) WB_INLINE_LAMBDA {
      if (r <= i) h[i][r] = {t.inverse[i] * h[i][r].r, t.inverse[i] * h[i][r].i};
    });
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j > i) t.above[i][j] = project(h[j]);
    });
    t.z[i] = project(y);
  });
}

/// A = H^H H + N0 I, x = A^-1 H^H y without its bias, SINR 1 / (N0 [A^-1]_kk) - 1. A = R'^H R' with the R' of
/// [R; sqrt(N0) I]: the Gram matrix itself would lose small pivots.
template <class N, class T>
WB_HD void mmse(N n, triangle<N, cx<T>>& t, T n0, equalized<N, T>& e) {
  regularize(n, t, sqrt(n0));
  T d[N::capacity];
  back_substitute(n, t, e.x);
  inverse_gram_diagonal(n, t, d);
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    const T error = n0 * d[k];  // mean square error; rounding must not take it out of (0, 1)
    const T gain = max(T(1.f) - error, T(1e-7f));
    e.x[k] = (T(1.f) / gain) * e.x[k];
    e.sinr[k] = gain / max(error, T(1e-37f));
  });
}

/// Squared distances of x to the nearest points scale * (L - 1 - 2 j) for each value of each bit.
template <class N, class B, class T>
WB_HD void demap_symbol(B pam, float scale, int k, cx<T> x, minima<N, B, T>& found) {
  const float top = static_cast<float>((1 << pam) - 1);
  const auto levels = [&]() WB_INLINE_LAMBDA {
    if constexpr (B::known)
      return fixed<(1 << B::capacity)>{};
    else
      return upto<(1 << B::capacity)>{1 << pam};
  }();
  x = {saturate(x.re, 1e15f), saturate(x.im, 1e15f)};  // squares stay finite
  loop(levels, [&](int j) WB_INLINE_LAMBDA {
    const T s = T(scale * (top - 2.f * static_cast<float>(j)));
    const T re = x.re - s, im = x.im - s;
    const int gray = j ^ j >> 1;
    found.add(pam, k, pam, gray, re * re);
    found.add(pam, k, 0, gray, im * im);
  });
}

}  // namespace WB_ISA
}  // namespace wb
