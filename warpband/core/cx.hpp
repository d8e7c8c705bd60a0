#pragma once
// Complex numbers over a lane type. Products and sums are written out: one rounding order on every build.
#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

template <class T>
struct cx {
  T re, im;
};
template <class T>
WB_HD cx<T> operator+(cx<T> a, cx<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
WB_HD cx<T> operator-(cx<T> a, cx<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
WB_HD cx<T> operator*(cx<T> a, cx<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
WB_HD cx<T> operator*(T s, cx<T> b) {
  return {s * b.re, s * b.im};
}
template <class T>
WB_HD cx<T> conj(cx<T> a) {
  return {a.re, T(0.f) - a.im};
}
/// c + a b, c - a b, c + conj(a) b, c - conj(a) b: each part two fused steps.
template <class T>
WB_HD cx<T> fma(cx<T> a, cx<T> b, cx<T> c) {
  return {fnma(a.im, b.im, fma(a.re, b.re, c.re)), fma(a.im, b.re, fma(a.re, b.im, c.im))};
}
template <class T>
WB_HD cx<T> fnma(cx<T> a, cx<T> b, cx<T> c) {
  return {fma(a.im, b.im, fnma(a.re, b.re, c.re)), fnma(a.im, b.re, fnma(a.re, b.im, c.im))};
}
template <class T>
WB_HD cx<T> conj_fma(cx<T> a, cx<T> b, cx<T> c) {
  return {fma(a.im, b.im, fma(a.re, b.re, c.re)), fnma(a.im, b.re, fma(a.re, b.im, c.im))};
}
template <class T>
WB_HD cx<T> conj_fnma(cx<T> a, cx<T> b, cx<T> c) {
  return {fnma(a.im, b.im, fnma(a.re, b.re, c.re)), fma(a.im, b.re, fnma(a.re, b.im, c.im))};
}
/// c + |a|^2, c - |a|^2
template <class T>
WB_HD T norm_fma(cx<T> a, T c) {
  return fma(a.im, a.im, fma(a.re, a.re, c));
}
template <class T>
WB_HD T norm_fnma(cx<T> a, T c) {
  return fnma(a.im, a.im, fnma(a.re, a.re, c));
}
/// |a|^2
template <class T>
WB_HD T norm(cx<T> a) {
  return a.re * a.re + a.im * a.im;
}

/// The same for real matrices, so that a body serves both.
template <class T>
WB_HD T conj_fma(T a, T b, T c) {
  return fma(a, b, c);
}
template <class T>
WB_HD T conj_fnma(T a, T b, T c) {
  return fnma(a, b, c);
}
template <class T>
WB_HD T norm_fma(T a, T c) {
  return fma(a, a, c);
}
template <class T>
WB_HD T norm_fnma(T a, T c) {
  return fnma(a, a, c);
}
/// The real type of a matrix entry, and an entry from its real part.
template <class E>
struct entry {
  using real = E;
  WB_HD static E of(E x) { return x; }
  WB_HD static E real_part(E x) { return x; }
};
template <class T>
struct entry<cx<T>> {
  using real = T;
  WB_HD static cx<T> of(T x) { return {x, T(0.f)}; }
  WB_HD static T real_part(cx<T> x) { return x.re; }
};
template <class E>
using real_of = typename entry<E>::real;

}  // namespace WB_ISA
}  // namespace wb
