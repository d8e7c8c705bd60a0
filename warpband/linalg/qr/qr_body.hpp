#pragma once
// QR decomposition by modified Gram-Schmidt (M. Wu, B. Yin, J. R. Cavallaro, "Flexible N-way MIMO detector on
// GPU", 2012, algorithm 1), of real or complex matrices with full column rank.
#include <warpband/core/cx.hpp>
#include <warpband/core/fixed_point.hpp>
#include <warpband/core/size.hpp>

namespace wb {
inline namespace WB_ISA {

/// An upper triangular R with real positive diagonal, and z = Q^H y.
template <class N, class E>
struct triangle {
  real_of<E> diagonal[N::capacity], inverse[N::capacity];  // of R, and one over it
  E above[N::capacity][N::capacity];                       // R[i][j], i < j
  E z[N::capacity];
};

/// Columns h[0..n) of `rows` entries become those of Q, and y what of it is orthogonal to them. Returns where
/// every squared pivot was at least `least`; elsewhere the result is finite and means nothing. `word`: the
/// rule for what is stored (core/fixed_point.hpp).
template <class R, class N, class E, class Rule = floating_point>
WB_HD auto gram_schmidt(R rows, N n, E (&h)[N::capacity][R::capacity], E (&y)[R::capacity], real_of<E> least,
                        triangle<N, E>& t, Rule word = {}) {
  using T = real_of<E>;
  auto regular = mask_from<typename rebind<T>::mask>(true);
  const auto project = [&](int i, E(&v)[R::capacity]) WB_INLINE_LAMBDA {
    E s = entry<E>::of(T(0.f));
    loop(rows, [&](int r) WB_INLINE_LAMBDA { s = conj_fma(h[i][r], v[r], s); });
    s = word(s);
    loop(rows, [&](int r) WB_INLINE_LAMBDA { v[r] = word(fnma(s, h[i][r], v[r])); });
    return s;
  };
  loop(n, [&](int i) WB_INLINE_LAMBDA {
    T square = T(0.f);
    loop(rows, [&](int r) WB_INLINE_LAMBDA { square = norm_fma(h[i][r], square); });
    const auto enough = square >= least;
    regular = regular & enough;
    t.diagonal[i] = word(sqrt(select(enough, square, T(1.f))));
    t.inverse[i] = T(1.f) / t.diagonal[i];
    const T unit = select(enough, t.inverse[i], T(0.f));  // what is too short could grow without bound
    loop(rows, [&](int r) WB_INLINE_LAMBDA { h[i][r] = word.ratio(h[i][r], t.diagonal[i], unit); });
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j > i) t.above[i][j] = project(i, h[j]);
    });
    t.z[i] = project(i, y);
  });
  return regular;
}

}  // namespace WB_ISA
}  // namespace wb
