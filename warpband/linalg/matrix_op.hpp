#pragma once
// What ops over small matrices share: the sizes that serve a call, and entries to and from memory.
#include <warpband/core/erased.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/size.hpp>
#include <warpband/linalg/flops.hpp>
#include <warpband/linalg/qr/qr_body.hpp>

namespace wb {
inline namespace WB_ISA {

template <int N>
struct square_matrix {
  using rows = fixed<N>;
  using columns = fixed<N>;
  WB_HD square_matrix(int, int) {}
  static constexpr rows m{};
  static constexpr columns n{};
};
template <int Rows, int Columns>
struct any_matrix {
  using rows = upto<Rows>;
  using columns = upto<Columns>;
  WB_HD any_matrix(int r, int c) : m{r}, n{c} {}
  rows m;
  columns n;
};
/// Calls f with the sizes that serve a matrix: those of 2x2, 4x4 and 8x8, or any up to Rows x Columns.
template <int Rows, int Columns, class F>
auto with_matrix_sizes(int rows, int columns, F f) {
  switch (rows == columns ? columns : 0) {
    case 2:
      return f.template operator()<square_matrix<2>>();
    case 4:
      return f.template operator()<square_matrix<4>>();
    case 8:
      return f.template operator()<square_matrix<8>>();
    default:
      return f.template operator()<any_matrix<Rows, Columns>>();
  }
}

/// An entry of lanes T that memory holds as P, float or cx_pair.
template <class P, class T>
struct entry_in_memory {
  using type = T;
  static constexpr int parts = 1;
};
template <class T>
struct entry_in_memory<cx_pair, T> {
  using type = cx<T>;
  static constexpr int parts = 2;
};
template <class P, class T>
using entry_as = typename entry_in_memory<P, T>::type;
template <class P>
inline constexpr int parts_of = entry_in_memory<P, float>::parts;

template <class T>
WB_HD T load_entry(const view<const float>& v, std::size_t element, item<T> b) {
  return load(v, element, b);
}
template <class T>
WB_HD cx<T> load_entry(const view<const cx_pair>& v, std::size_t element, item<T> b) {
  return load_cx(v, element, b);
}
template <class T>
WB_HD void store_entry(const view<float>& v, std::size_t element, item<T> b, T x) {
  store(v, element, b, x);
}
template <class T>
WB_HD void store_entry(const view<cx_pair>& v, std::size_t element, item<T> b, cx<T> x) {
  store_cx(v, element, b, x);
}

/// Stores R, with zeros below its diagonal; zeros alone unless `good`.
template <class P, class T, class N, class E>
WB_HD void store_triangle(const view<P>& v, item<T> b, N n, const triangle<N, E>& t,
                          typename rebind<T>::mask good) {
  loop(n, [&](int i) WB_INLINE_LAMBDA {
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      E x = entry<E>::of(T(0.f));
      if (j == i) x = entry<E>::of(or_zero(good, t.diagonal[i]));
      if (j > i) x = or_zero(good, t.above[i][j]);
      store_entry(v, static_cast<std::size_t>(i * n + j), b, x);
    });
  });
}

/// A squared pivot below this part of the trace of H^H H makes H singular. The pivots of a Gram matrix, and
/// of any matrix that Cholesky decomposes, carry errors of about 2^-24 of its trace: smaller ones say
/// nothing.
inline constexpr float least_pivot = 1e-12f, least_gram_pivot = 1e-7f;

}  // namespace WB_ISA
}  // namespace wb
