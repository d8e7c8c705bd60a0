#pragma once
// Symbols to the matrix S of a codeword, as stbc.hpp defines the codes.
#include <warpband/core/cx.hpp>
#include <warpband/core/view.hpp>

namespace wb {
inline namespace WB_ISA {

/// Kind: a space_time_kind.
template <int Kind>
inline constexpr int symbols_of_kind = Kind == 0 || Kind == 3 ? 2 : 4;
/// Transmit antennas, and uses of the channel that a codeword takes.
template <int Kind>
inline constexpr int size_of_kind = Kind == 4 ? 4 : 2;

/// The Alamouti block A(x1, x2): rows are antennas, columns slots.
template <class T>
WB_HD void alamouti_block(cx<T> x1, cx<T> x2, cx<T> (&s)[2][2]) {
  s[0][0] = x1;
  s[0][1] = {-x2.re, x2.im};
  s[1][0] = x2;
  s[1][1] = {x1.re, -x1.im};
}

/// S of symbols x, rows are antennas, columns slots or subcarriers. V of a pair in `v`.
template <int Kind, class T>
WB_HD void codeword_of(const cx<T> (&x)[symbols_of_kind<Kind>], const cx_pair (&v)[4],
                       cx<T> (&s)[size_of_kind<Kind>][size_of_kind<Kind>]) {
  if constexpr (Kind == 0) {
    alamouti_block(x[0], x[1], s);
  } else if constexpr (Kind == 3) {
    s[0][0] = x[0];
    s[0][1] = x[1];
    s[1][0] = {-x[1].re, x[1].im};
    s[1][1] = {x[0].re, -x[0].im};
  } else if constexpr (Kind == 4) {
    WB_UNROLL for (int r = 0; r < 4; r++) {
      WB_UNROLL for (int t = 0; t < 4; t++) s[r][t] = {T(0.f), T(0.f)};
    }
    WB_UNROLL for (int p = 0; p < 2; p++) {  // antennas p and p + 2 in subcarriers 2 p and 2 p + 1
      const cx<T> one = T(1.41421356f) * x[2 * p], two = T(1.41421356f) * x[2 * p + 1];
      s[p][2 * p] = one;
      s[p][2 * p + 1] = two;
      s[p + 2][2 * p] = {-two.re, two.im};
      s[p + 2][2 * p + 1] = {one.re, -one.im};
    }
  } else if constexpr (Kind == 1) {
    cx<T> first[2][2], second[2][2];
    alamouti_block(x[0], x[1], first);
    alamouti_block(x[2], x[3], second);
    WB_UNROLL for (int r = 0; r < 2; r++) {
      const cx<T> v0 = {T(v[2 * r].re), T(v[2 * r].im)}, v1 = {T(v[2 * r + 1].re), T(v[2 * r + 1].im)};
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
