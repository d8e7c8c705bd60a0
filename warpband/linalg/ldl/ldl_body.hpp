#pragma once
// Decomposition of Hermitian positive definite matrices of some size in scratch memory: A = V D V^H with V
// unit upper triangular, D diagonal, by one division a column and no square root. V^-1 comes by the same
// steps. That is a Cholesky decomposition which begins with the last row. A group meets once a column.
#include <warpband/linalg/packed_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// A pivot below this part of the diagonal entry it came from makes A singular: rounding leaves about as much
/// of a zero.
inline constexpr float least_ldl_pivot = 4e-6f;

/// In place of A: W = -V^-1 without its diagonal of ones, W[c][r] (c < r) at row r, column c; `inverse` gets
/// the 1 / D. Returns where no pivot was too small; elsewhere the result means nothing. `diagonal` has that
/// of A. Ends with all threads having met.
template <class T, class G>
WB_HD auto invert_factor(int n, const packed_matrix<T>& m, const T* diagonal, T* inverse, G g) {
  auto regular = mask_from<typename rebind<T>::mask>(true);
  const over_matrix<G> layout(g);
  for (int k = n - 1; k >= 0; k--) {
    const T pivot = m.diagonal(k);
    const auto enough = pivot > T(least_ldl_pivot) * diagonal[k];
    regular = regular & enough;
    const T q = T(1.f) / select(enough, pivot, T(1.f));
    if (g.rank == 0) inverse[k] = q;
    if (k == 0) break;
    // Rows above the pivot's are still A's, those below already V^-1's, each without its factor -1 / D.
    for (int r = layout.y; r < n; r += layout.down) {
      if (r == k) continue;
      const int count = r < k ? r + 1 : k;
      cx<T> factor = r < k ? conj(m.get(k, r)) : m.get(r, k);
      factor = q * factor;
      for (int c = layout.x; c < count; c += layout.across)
        m.put(r, c, fnma(factor, m.get(k, c), m.get(r, c)));
    }
    g.sync();
  }
  g.sync();
  for (int r = layout.y; r < n; r += layout.down) {
    const T q = inverse[r];
    for (int c = layout.x; c < r; c += layout.across) m.put(r, c, q * m.get(r, c));
  }
  g.sync();
  return regular;
}

/// Entry u of the diagonal of A^-1.
template <class T>
WB_HD T inverse_diagonal(const packed_matrix<T>& w, const T* inverse, int u) {
  T sum = inverse[u];
  for (int k = 0; k < u; k++) {
    const cx<T> z = w.get(u, k);
    sum = dot_fma(inverse[k] * z, z, sum);
  }
  return sum;
}

/// Entries k .. k + R - 1 of D^-1 V^-1 b for P right sides that lie `stride` entries apart.
template <int R, int P, class T>
WB_HD void forward(int n, const packed_matrix<T>& w, const T* inverse, const packed_vector<T>& b, int stride,
                   int k, const packed_vector<T>& v) {
  cx<T> s[R][P];
  WB_UNROLL for (int r = 0; r < R; r++) {
    WB_UNROLL for (int p = 0; p < P; p++) s[r][p] = b.get(p * stride + k + r);
  }
  WB_UNROLL for (int u = 1; u < R; u++) {
    WB_UNROLL for (int r = 0; r < u; r++) {
      const cx<T> z = w.get(k + u, k + r);
      WB_UNROLL for (int p = 0; p < P; p++) s[r][p] = fnma(z, b.get(p * stride + k + u), s[r][p]);
    }
  }
  for (int u = k + R; u < n; u++) {
    WB_UNROLL for (int r = 0; r < R; r++) {
      const cx<T> z = w.get(u, k + r);
      WB_UNROLL for (int p = 0; p < P; p++) s[r][p] = fnma(z, b.get(p * stride + u), s[r][p]);
    }
  }
  WB_UNROLL for (int r = 0; r < R; r++) {
    WB_UNROLL for (int p = 0; p < P; p++) v.put(p * stride + k + r, inverse[k + r] * s[r][p]);
  }
}
/// Entries u .. u + R - 1 of V^-H v, which is x of A x = b.
template <int R, int P, class T>
WB_HD void backward(const packed_matrix<T>& w, const packed_vector<T>& v, int stride, int u,
                    const packed_vector<T>& x) {
  cx<T> s[R][P];
  WB_UNROLL for (int r = 0; r < R; r++) {
    WB_UNROLL for (int p = 0; p < P; p++) s[r][p] = v.get(p * stride + u + r);
  }
  for (int k = 0; k < u; k++) {
    WB_UNROLL for (int r = 0; r < R; r++) {
      const cx<T> z = w.get(u + r, k);
      WB_UNROLL for (int p = 0; p < P; p++) s[r][p] = conj_fnma(z, v.get(p * stride + k), s[r][p]);
    }
  }
  WB_UNROLL for (int r = 1; r < R; r++) {
    WB_UNROLL for (int k = 0; k < r; k++) {
      const cx<T> z = w.get(u + r, u + k);
      WB_UNROLL for (int p = 0; p < P; p++) s[r][p] = conj_fnma(z, v.get(p * stride + u + k), s[r][p]);
    }
  }
  WB_UNROLL for (int r = 0; r < R; r++) {
    WB_UNROLL for (int p = 0; p < P; p++) x.put(p * stride + u + r, s[r][p]);
  }
}
/// x of A x = b for P right sides by lanes alone, in tiles of entries and sides that fit registers: 32 of
/// them or 16.
template <int P, class T>
WB_HD void substitute_lanes(int n, const packed_matrix<T>& w, const T* inverse, const packed_vector<T>& b,
                            const packed_vector<T>& t, const packed_vector<T>& x) {
  constexpr int R = width_of<T> == 16 ? (P == 4 ? 2 : 4) : P == 4 ? 1 : 2;
  int u = 0;
  for (; u + R <= n; u += R) forward<R, P>(n, w, inverse, b, n, u, t);
  for (; u < n; u++) forward<1, P>(n, w, inverse, b, n, u, t);
  for (u = 0; u + R <= n; u += R) backward<R, P>(w, t, n, u, x);
  for (; u < n; u++) backward<1, P>(w, t, n, u, x);
}
/// x of A x = b for `sides` right sides; t is memory. Begins with b written and all threads having met, and
/// ends so with x.
template <class T, class G>
WB_HD void substitute(int n, int sides, const packed_matrix<T>& w, const T* inverse,
                      const packed_vector<T>& b, const packed_vector<T>& t, const packed_vector<T>& x, G g) {
  if constexpr (width_of<T> > 1) {
    in_parts(sides, [&]<int P>(int k) WB_INLINE_LAMBDA {
      substitute_lanes<P>(n, w, inverse, b.from(k * n), t.from(k * n), x.from(k * n));
    });
  } else {
    for (int i = g.rank; i < sides * n; i += g.size) {
      const int side = i / n * n;
      forward<1, 1>(n, w, inverse, b.from(side), n, i - side, t.from(side));
    }
    g.sync();
    for (int i = g.rank; i < sides * n; i += g.size) {
      const int side = i / n * n;
      backward<1, 1>(w, t.from(side), n, i - side, x.from(side));
    }
    g.sync();
  }
}

}  // namespace WB_ISA
}  // namespace wb
