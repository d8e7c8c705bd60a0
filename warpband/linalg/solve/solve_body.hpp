#pragma once
// Triangular systems over the R of a QR or Cholesky decomposition.
#include <warpband/linalg/qr/qr_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// x of R x = z.
template <class N, class E, class Rule = floating_point>
WB_HD void back_substitute(N n, const triangle<N, E>& t, E (&x)[N::capacity], Rule word = {}) {
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    const int i = n - 1 - k;
    E s = t.z[i];
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j > i) s = fnma(t.above[i][j], x[j], s);
    });
    x[i] = word.ratio(s, t.diagonal[i], t.inverse[i]);
  });
}

/// The diagonal of (R^H R)^-1: squared norms of the rows of R^-1, which is not kept.
template <class N, class E>
WB_HD void inverse_gram_diagonal(N n, const triangle<N, E>& t, real_of<E> (&d)[N::capacity]) {
  using T = real_of<E>;
  loop(n, [&](int c) WB_INLINE_LAMBDA {
    E w[N::capacity];  // column c of R^-1
    w[c] = entry<E>::of(t.inverse[c]);
    d[c] = t.inverse[c] * t.inverse[c];
    loop(n, [&](int k) WB_INLINE_LAMBDA {
      const int i = c - 1 - k;
      if (i < 0) return;
      E s = entry<E>::of(T(0.f));
      loop(n, [&](int j) WB_INLINE_LAMBDA {
        if (j > i && j <= c) s = fnma(t.above[i][j], w[j], s);
      });
      w[i] = t.inverse[i] * s;
      d[i] = norm_fma(w[i], d[i]);
    });
  });
}

}  // namespace WB_ISA
}  // namespace wb
