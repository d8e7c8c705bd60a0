#pragma once
// Cholesky decomposition A = R^H R of small Hermitian positive definite matrices, and the Gram matrices it is
// taken of. R is the R of H's QR decomposition where A = H^H H; its error grows with the squared condition of
// H.
#include <warpband/linalg/qr/qr_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// a[i][j] = h_i^H h_j for i <= j, b[i] = h_i^H y.
template <class R, class N, class E>
WB_HD void gram(R rows, N n, const E (&h)[N::capacity][R::capacity], const E (&y)[R::capacity],
                E (&a)[N::capacity][N::capacity], E (&b)[N::capacity]) {
  using T = real_of<E>;
  const auto product = [&](int i, const E(&v)[R::capacity]) WB_INLINE_LAMBDA {
    E s = entry<E>::of(T(0.f));
    loop(rows, [&](int r) WB_INLINE_LAMBDA { s = conj_fma(h[i][r], v[r], s); });
    return s;
  };
  loop(n, [&](int i) WB_INLINE_LAMBDA {
    T square = T(0.f);
    loop(rows, [&](int r) WB_INLINE_LAMBDA { square = norm_fma(h[i][r], square); });
    a[i][i] = entry<E>::of(square);
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j > i) a[i][j] = product(i, h[j]);
    });
    b[i] = product(i, y);
  });
}

/// R of A = R^H R and z with R^H z = b, from the upper triangle of A. Returns where every pivot was at least
/// `least`; elsewhere the result is finite and means nothing.
template <class N, class E>
WB_HD auto cholesky(N n, const E (&a)[N::capacity][N::capacity], const E (&b)[N::capacity], real_of<E> least,
                    triangle<N, E>& t) {
  using T = real_of<E>;
  auto regular = mask_from<typename rebind<T>::mask>(true);
  loop(n, [&](int i) WB_INLINE_LAMBDA {
    T square = entry<E>::real_part(a[i][i]);
    E right = b[i];
    loop(n, [&](int k) WB_INLINE_LAMBDA {
      if (k >= i) return;
      square = norm_fnma(t.above[k][i], square);
      right = conj_fnma(t.above[k][i], t.z[k], right);
    });
    const auto enough = square >= least;
    regular = regular & enough;
    t.diagonal[i] = sqrt(select(enough, square, T(1.f)));
    t.inverse[i] = T(1.f) / t.diagonal[i];
    const T unit = select(enough, t.inverse[i], T(0.f));
    t.z[i] = unit * right;
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j <= i) return;
      E s = a[i][j];
      loop(n, [&](int k) WB_INLINE_LAMBDA {
        if (k < i) s = conj_fnma(t.above[k][i], t.above[k][j], s);
      });
      t.above[i][j] = unit * s;
    });
  });
  return regular;
}

}  // namespace WB_ISA
}  // namespace wb
