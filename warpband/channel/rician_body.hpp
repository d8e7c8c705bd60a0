#pragma once
#include <warpband/channel/rician_args.hpp>
#include <warpband/core/cx.hpp>
#include <warpband/core/math.hpp>

namespace wb {
inline namespace WB_ISA {

/// A Rician gain from a Rayleigh one and a random word for the phase of the fixed part.
template <class T>
WB_HD cx<T> rician_gain(const rician_amplitudes& r, cx<T> g, typename rebind<T>::u32 phase) {
  T s, c;
  sincos_turn(phase, s, c);
  return {fma(T(r.scattered), g.re, T(r.fixed) * c), fma(T(r.scattered), g.im, T(r.fixed) * s)};
}
inline constexpr double rician_gain_flops = 16;

}  // namespace WB_ISA
}  // namespace wb
