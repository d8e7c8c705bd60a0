#pragma once
// Gradients of the LLRs of one dimension of Gray QAM. Demapper and MMSE detector share them.
#include <warpband/core/math.hpp>
#include <warpband/modem/qam/qam_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// qam_scale of a number of bits per dimension that is known when a kernel runs.
WB_HD float qam_scale_of(int pam) {
  switch (pam) {
    case 0:
      return qam_scale<0>();
    case 1:
      return qam_scale<1>();
    case 2:
      return qam_scale<2>();
    case 3:
      return qam_scale<3>();
    case 4:
      return qam_scale<4>();
    case 5:
      return qam_scale<5>();
    default:
      return qam_scale<6>();
  }
}
/// The label of level j = 0, 1, ... from the top: b_i is its bit pam - 1 - i.
WB_HD int pam_label(int pam, int j) { return j ^ j >> 1 ^ ((1 << pam) / 2 - 1); }

/// Means of the amplitude and of its square.
template <class T>
struct pam_moments {
  T first, second;
};
/// Over the amplitudes a whose bit i is `value`, with weights e^(-g (z - a)^2). Max-log: of the nearest one.
template <class T>
WB_HD pam_moments<T> moments_of_bit(int pam, int i, int value, bool exact, T z, T g) {
  const int levels = 1 << pam, shift = pam - 1 - i;
  const auto amplitude = [&](int j) WB_INLINE_LAMBDA { return T(static_cast<float>(levels - 1 - 2 * j)); };
  T least = T(3e38f), nearest = T(0.f);
  for (int j = 0; j < levels; j++) {
    if ((pam_label(pam, j) >> shift & 1) != value) continue;
    const T d = z - amplitude(j), square = d * d;
    const auto closer = square < least;
    nearest = select(closer, amplitude(j), nearest);
    least = select(closer, square, least);
  }
  if (!exact) return {nearest, nearest * nearest};
  T sum = T(0.f), first = T(0.f), second = T(0.f);
  for (int j = 0; j < levels; j++) {
    if ((pam_label(pam, j) >> shift & 1) != value) continue;
    const T a = amplitude(j), d = z - a, weight = exp(g * (least - d * d));
    sum = sum + weight;
    first = fma(weight, a, first);
    second = fma(weight, a * a, second);
  }
  const T inverse = T(1.f) / sum;
  return {inverse * first, inverse * second};
}

/// LLRs are L_i = ln sum_{b_i = 0} e^(-g (z - a)^2) minus the same of b_i = 1; max-log has the largest term
/// in place of a sum. With the means m of a and q of a^2 over each side
///   dL/dz = 2 g (m_0 - m_1),  dL/dg = 2 z (m_0 - m_1) + (q_1 - q_0).
/// Calls use(i, m_0 - m_1, q_1 - q_0) for each bit.
template <class T, class F>
WB_HD void for_bits_of_pam(int pam, bool exact, T z, T g, F use) {
  for (int i = 0; i < pam; i++) {
    const auto zero = moments_of_bit(pam, i, 0, exact, z, g), one = moments_of_bit(pam, i, 1, exact, z, g);
    use(i, zero.first - one.first, one.second - zero.second);
  }
}

}  // namespace WB_ISA
}  // namespace wb
