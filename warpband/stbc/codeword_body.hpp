#pragma once
// Symbols to the matrix S of a codeword, as stbc.hpp defines the codes.
#include <warpband/core/cx.hpp>
#include <warpband/core/view.hpp>

namespace wb {
inline namespace WB_ISA {

/// Kind: a space_time_kind.
constexpr int symbols_of_kind(int kind) { return kind == 0 ? 2 : 4; }

/// The Alamouti block A(x1, x2): rows are antennas, columns slots.
template <class T>
WB_HD void alamouti_block(cx<T> x1, cx<T> x2, cx<T> (&s)[2][2]) {
  s[0][0] = x1;
  s[0][1] = {-x2.re, x2.im};
  s[1][0] = x2;
  s[1][1] = {x1.re, -x1.im};
}

/// S of symbols x, rows are antennas, columns slots. V of a pair in `v`.
template <int Kind, class T>
WB_HD void codeword_of(const cx<T> (&x)[symbols_of_kind(Kind)], const cx_pair (&v)[4], cx<T> (&s)[2][2]) {
  if constexpr (Kind == 0) {
    alamouti_block(x[0], x[1], s);
  } else if constexpr (Kind == 1) {
    cx<T> first[2][2], second[2][2];
    alamouti_block(x[0], x[1], first);
    alamouti_block(x[2], x[3], second);
    WB_UNROLL for (int r = 0; r < 2; r++) {
      const cx<T> v0 = {T(v[2 * r].re), T(v[2 * r].im)},
                  v1 = {T(v[2 * r + 1].re), T(v[2 * r + 1].im)};
      WB_UNROLL for (int t = 0; t < 2; t++) s[r][t] =
          T(0.707106781f) * fma(v1, second[1][t], fma(v0, second[0][t], first[r][t]));
    }
  } else {
    const cx<T> none = {T(0.f), T(0.f)};
    constexpr double golden = 1.6180339887498948482, root5 = 2.2360679774997896964;
    constexpr float t = static_cast<float>(golden), u = static_cast<float>(1 - golden);
    constexpr float re = static_cast<float>(1 / root5);
    const cx<T> alpha = {T(re), T(static_cast<float>((1 - golden) / root5))},
                beta = {T(re), T(static_cast<float>(golden / root5))};
    const auto sum = [](cx<T> p, float f, cx<T> q)
                         WB_INLINE_LAMBDA { return cx<T>{fma(T(f), q.re, p.re), fma(T(f), q.im, p.im)}; };
    s[0][0] = fma(alpha, sum(x[0], t, x[1]), none);
    s[0][1] = fma(alpha, sum(x[2], t, x[3]), none);
    const cx<T> turned = fma(beta, sum(x[2], u, x[3]), none);
    s[1][0] = {-turned.im, turned.re};
    s[1][1] = fma(beta, sum(x[0], u, x[1]), none);
  }
}

}  // namespace WB_ISA
}  // namespace wb
