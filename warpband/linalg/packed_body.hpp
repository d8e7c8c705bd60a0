#pragma once
// Small Hermitian matrices and vectors in scratch memory, and the loops and formulas that ldl/, cg/ and
// splitting/ share.
#include <warpband/core/cx.hpp>
#include <warpband/core/group.hpp>

namespace wb {
inline namespace WB_ISA {

/// Of a Hermitian matrix A the entries A[c][r] with c <= r are at row r, column c: data[2 * (r * ld + c)] and
/// the next.
template <class T>
struct packed_matrix {
  T* data;
  int ld;
  WB_HD cx<T> get(int r, int c) const { return {data[2 * (r * ld + c)], data[2 * (r * ld + c) + 1]}; }
  WB_HD void put(int r, int c, cx<T> z) const {
    data[2 * (r * ld + c)] = z.re;
    data[2 * (r * ld + c) + 1] = z.im;
  }
  WB_HD T diagonal(int r) const { return data[2 * (r * ld + r)]; }
};
template <class T>
struct packed_vector {
  T* data;
  WB_HD packed_vector from(int i) const { return {data + 2 * i}; }
  WB_HD cx<T> get(int i) const { return {data[2 * i], data[2 * i + 1]}; }
  WB_HD void put(int i, cx<T> z) const {
    data[2 * i] = z.re;
    data[2 * i + 1] = z.im;
  }
};

/// How a group lies over a matrix: `across` threads side by side over the columns of a row.
template <class G>
struct over_matrix {
  int x, y, across, down;
  WB_HD explicit over_matrix(G g) {
    across = g.size < 8 ? 1 : 8;
    down = g.size < 8 ? g.size : g.size / 8;
    x = across == 1 ? 0 : g.rank % 8;
    y = across == 1 ? g.rank : g.rank / 8;
  }
};
/// Calls f(r, c) for the entries below the diagonal, c < r, and if Own for those on it too, by a group.
template <bool Own, class G, class F>
WB_HD void for_triangle(int n, G g, F f) {
  const over_matrix<G> layout(g);
  for (int r = layout.y; r < n; r += layout.down)
    for (int c = layout.x; c < r + Own; c += layout.across) f(r, c);
}
/// Calls f<P>(k) for all of `count` in parts of P = 4, if `Two` of 2, and of 1, from number k on.
template <bool Two = true, class F>
WB_HD void in_parts(int count, F f) {
  int k = 0;
  for (; k + 4 <= count; k += 4) f.template operator()<4>(k);
  if constexpr (Two)
    for (; k + 2 <= count; k += 2) f.template operator()<2>(k);
  for (; k < count; k++) f.template operator()<1>(k);
}

/// z + s x and z - s x, s real; sum + Re(x^H y).
template <class T>
WB_HD cx<T> fma(T s, cx<T> x, cx<T> z) {
  return {fma(s, x.re, z.re), fma(s, x.im, z.im)};
}
template <class T>
WB_HD cx<T> fnma(T s, cx<T> x, cx<T> z) {
  return {fnma(s, x.re, z.re), fnma(s, x.im, z.im)};
}
template <class T>
WB_HD T dot_fma(cx<T> x, cx<T> y, T sum) {
  return fma(x.im, y.im, fma(x.re, y.re, sum));
}
/// |v|^2 of n entries, added in order.
template <class T>
WB_HD T energy_of(const packed_vector<T>& v, int n) {
  T sum = T(0.f);
  for (int i = 0; i < n; i++) sum = norm_fma(v.get(i), sum);
  return sum;
}

/// The other half of A: afterwards A[c][r] is at row r, column c for all of them.
template <class T, class G>
WB_HD void mirror(int n, const packed_matrix<T>& m, G g) {
  for_triangle<false>(n, g, [&](int r, int c) WB_INLINE_LAMBDA { m.put(c, r, conj(m.get(r, c))); });
  for (int r = g.rank; r < n; r += g.size) m.data[2 * (r * m.ld + r) + 1] = T(0.f);
  g.sync();
}

/// Entries u .. u + R - 1 of A t for P right sides, given to f: a load of A serves P products, one of t
/// serves R.
template <int R, int P, class T, class F>
WB_HD void multiply_tile(int n, int u, const packed_matrix<T>& a, const packed_vector<T>& t, F f) {
  cx<T> sum[R][P];
  WB_UNROLL for (int r = 0; r < R; r++) {
    WB_UNROLL for (int p = 0; p < P; p++) sum[r][p] = {T(0.f), T(0.f)};
  }
  WB_ROLL for (int c = 0; c < n; c++) {
    cx<T> z[R];
    WB_UNROLL for (int r = 0; r < R; r++) z[r] = a.get(c, u + r);
    WB_UNROLL for (int p = 0; p < P; p++) {
      const cx<T> of_side = t.get(p * n + c);
      WB_UNROLL for (int r = 0; r < R; r++) sum[r][p] = fma(z[r], of_side, sum[r][p]);
    }
  }
  WB_UNROLL for (int p = 0; p < P; p++) {
    WB_UNROLL for (int r = 0; r < R; r++) f(p, p * n + u + r, sum[r][p]);
  }
}
/// Calls f(side, i, entry i of A t) for the right sides of `parts` parts of P; A is whole (`mirror`). Lanes
/// alone take one part at a time, a group has P = 1. f may overwrite what t is not. Threads do not meet.
template <int P, class T, class G, class F>
WB_HD void multiply(int n, int parts, const packed_matrix<T>& a, const packed_vector<T>& t, G g, F f) {
  if constexpr (width_of<T> > 1) {
    constexpr int R = (width_of<T> == 16 ? 8 : 4) / P;  // what 32 registers hold, or 16
    int u = 0;
    for (; u + R <= n; u += R) multiply_tile<R, P>(n, u, a, t, f);
    for (; u < n; u++) multiply_tile<1, P>(n, u, a, t, f);
  } else {
    for (int i = g.rank; i < parts * n; i += g.size) {
      const int side = i / n, first = side * n;
      multiply_tile<1, 1>(n, i - first, a, t.from(first),
                          [&](int, int, cx<T> product) WB_INLINE_LAMBDA { f(side, i, product); });
    }
  }
}

}  // namespace WB_ISA
}  // namespace wb
