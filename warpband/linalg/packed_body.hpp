#pragma once
// Small Hermitian matrices and vectors in scratch memory, and the loops and formulas that ldl/ and cg/ share.
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

}  // namespace WB_ISA
}  // namespace wb
