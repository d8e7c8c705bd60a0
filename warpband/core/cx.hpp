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
/// |a|^2
template <class T>
WB_HD T norm(cx<T> a) {
  return a.re * a.re + a.im * a.im;
}

}  // namespace WB_ISA
}  // namespace wb
