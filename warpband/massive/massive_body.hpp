#pragma once
// The scalar rules of the detector and the precoder, over lanes T: which frames and vectors are valid, what
// is added to the diagonal, how estimates are weighed and how much is sent.
#include <warpband/core/cx.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/massive/massive_args.hpp>
#include <warpband/modem/demap/demap_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Of a view of all vectors, vector `symbol` of each frame.
template <class S>
WB_HD view<S> symbol_of(view<S> x, int symbol, int symbols) {
  x.data += static_cast<std::size_t>(symbol) * x.item_stride;
  x.item_stride *= static_cast<std::size_t>(symbols);
  return x;
}

/// Whether A is decomposed, or solved by iterations. Neither with the matched filter.
WB_HD bool decomposes(massive_solver solver) {
  return solver == massive_solver::cholesky || solver == massive_solver::zf;
}
WB_HD bool iterates(massive_solver solver) {
  return solver >= massive_solver::cg && solver <= massive_solver::chebyshev;
}
/// Whether A is scaled to a diagonal of ones first.
WB_HD bool scales(massive_solver solver) { return iterates(solver) && solver != massive_solver::cg; }

/// Frames are valid if N0 is at least `least` and neither it nor |H|^2 is out of all bounds.
template <class T>
WB_HD auto is_valid_noise(T n0, float least) {
  return (n0 >= T(least)) & (n0 <= T(1e12f));
}
template <class T>
WB_HD auto is_valid_trace(T trace) {
  return (trace >= T(1e-12f)) & (trace <= T(1e12f));
}
/// What a solver adds to the diagonal of H^H H.
template <class T>
WB_HD T regularization(const massive_args& a, T n0) {
  return a.solver == massive_solver::zf || a.solver == massive_solver::mf ? T(0.f)
                                                                          : n0 * T(1.f / a.symbol_energy);
}
/// An entry of H^H H; of the unit matrix where a frame is not `good`.
template <class T, class M>
WB_HD cx<T> entry_if(M good, cx<T> z, bool diagonal) {
  return {select(good, z.re, T(diagonal ? 1.f : 0.f)), select(good, z.im, T(0.f))};
}
/// The largest |H^H y|^2 of a vector that is not erased, from |H|^2.
template <class T>
WB_HD T most_matched_energy(T trace) {
  return min(T(1e24f), T(1e10f) * trace * trace);
}
/// Beyond this an estimate counts as this: float32 still tells its distances to points apart.
inline constexpr float most_demapped = 0x1p19f;
/// LLRs of a symbol of 2 B bits from its estimate; zeros where it is not `good`.
template <int B, class T, class M>
WB_HD void estimate_llrs(cx<T> x, T sinr, M good, float clip, T (&llr)[2 * B]) {
  constexpr float scale = qam_scale<B>();
  const float limit = clip < 3e38f ? clip : 3e38f;
  T part[2][B];
  pam_demap<B, false>(saturate(x.re, most_demapped) * T(1.f / scale), T(scale * scale), part[0]);
  pam_demap<B, false>(saturate(x.im, most_demapped) * T(1.f / scale), T(scale * scale), part[1]);
  WB_UNROLL for (int j = 0; j < 2 * B; j++) llr[j] =
      select(good, saturate(part[j % 2][j / 2] * sinr, limit), T(0.f));
}
/// Calls f<B>() with the bits of a real dimension as a compile-time constant.
template <class F>
WB_HD void with_pam_bits(int bits, F f) {
  switch (bits) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    default:
      return f.template operator()<4>();
  }
}

/// What a user's estimate is multiplied with, and the SINR behind it.
template <class T>
struct estimate_weight {
  T gain, sinr;
};
/// Of a user's column of H alone; `power` is its energy.
template <class T>
WB_HD estimate_weight<T> approximate_weight(massive_solver solver, T power, T n0) {
  const T p = max(power, T(1e-30f));
  const T gain = solver == massive_solver::mf   ? T(1.f) / p
                 : solver != massive_solver::zf ? (p + n0) / p
                                                : T(1.f);
  return {gain, min(power / max(n0, T(1e-37f)), T(3e38f))};
}
/// With the exact SINR. For the matched filter `interference(gain)` is the noise and the interference of the
/// others. For ZF and MMSE the mean squared error is N0 times `inverse()`, an entry of the diagonal of A^-1.
template <class T, class F, class D>
WB_HD estimate_weight<T> exact_weight(massive_solver solver, T power, T n0, F interference, D inverse) {
  const T one = T(1.f), least = T(1e-37f);
  if (solver == massive_solver::mf) {
    const T p = max(power, T(1e-30f)), gain = one / p;
    return {gain, min(p / max(interference(gain), least), T(3e38f))};
  }
  const T error = n0 * inverse();
  if (solver == massive_solver::zf) return {one, one / max(error, least)};
  const T left = max(one - error, T(1e-7f));  // rounding must not take it out of (0, 1)
  return {one / left, left / max(error, least)};
}

/// What the precoder's m = H x is multiplied with, from |m|^2.
template <class T>
WB_HD T factor_of_sent(const massive_args& a, T energy) {
  const auto some = energy > T(1e-30f);
  if (a.sent_norm == 0.f) return select(some, T(1.f), T(0.f));
  return select(some, T(a.sent_norm) / sqrt(select(some, energy, T(1.f))), T(0.f));
}
/// Beyond this a vector is erased.
inline constexpr float most_sent_energy = 1e37f;

}  // namespace WB_ISA
}  // namespace wb
