#pragma once
// A priori and a posteriori of one real dimension of a user's symbol. Amplitude j of B bits is
// scale (2^B - 1 - 2 j): counted from the top.
#include <warpband/core/llr.hpp>
#include <warpband/core/math.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/size.hpp>
#include <warpband/modem/qam/qam_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// A-priori LLRs beyond this count as this, and a weight or pull beyond the other.
inline constexpr float most_user_prior = 1e6f, most_user_weight = 1e36f;

template <int B>
WB_HD constexpr float user_amplitude(int j) {
  return qam_scale<B>() * static_cast<float>((1 << B) - 1 - 2 * j);
}
/// Bit i of amplitude j.
template <int B>
WB_HD bool user_bit(int j, int i) {
  return ((j ^ j >> 1 ^ ((1 << B) / 2 - 1)) >> (B - 1 - i) & 1) != 0;
}

/// Costs of the amplitudes of a dimension from the a-priori LLRs of its bits: |p| for each that is
/// contradicted. Returns where all are finite.
template <int B, class T>
WB_HD auto user_costs(const view<const float>& prior, std::size_t first, item<T> item, T (&cost)[1 << B]) {
  auto good = mask_from<typename rebind<T>::mask>(true);
  for (int j = 0; j < 1 << B; j++) cost[j] = T(0.f);
  if (prior.data == nullptr) return good;
  WB_UNROLL for (int i = 0; i < B; i++) {
    const T given = load(prior, first + static_cast<std::size_t>(2 * i), item);
    const auto fine = is_finite(given);
    good = good & fine;
    const T p = saturate(select(fine, given, T(0.f)), most_user_prior);
    const T zero = max(T(0.f) - p, T(0.f)), one = max(p, T(0.f));
    WB_UNROLL for (int j = 0; j < 1 << B; j++) cost[j] = cost[j] + (user_bit<B>(j, i) ? one : zero);
  }
  return good;
}
/// Mean of an amplitude with probabilities in proportion to e^-cost; its variance is added to the given one.
template <int B, class T>
WB_HD T user_mean(const T (&cost)[1 << B], T& variance) {
  T least = cost[0], sum = T(0.f), mean = T(0.f), square_sum = T(0.f), weight[1 << B];
  WB_UNROLL for (int j = 1; j < 1 << B; j++) least = min(least, cost[j]);
  WB_UNROLL for (int j = 0; j < 1 << B; j++) {
    weight[j] = exp(least - cost[j]);
    sum = sum + weight[j];
    mean = fma(weight[j], T(user_amplitude<B>(j)), mean);
  }
  const T one = T(1.f) / sum;
  mean = mean * one;
  WB_UNROLL for (int j = 0; j < 1 << B; j++) {
    const T off = T(user_amplitude<B>(j)) - mean;
    square_sum = fma(weight[j] * off, off, square_sum);
  }
  variance = fma(square_sum, one, variance);
  return mean;
}
/// LLRs of a dimension of which an estimate is known as weight w and pull w x: metrics a (a w - 2 w x) +
/// cost.
template <int B, class T>
WB_HD void user_llrs(T weight, T pull, const T (&cost)[1 << B], T (&llr)[B]) {
  T zero[B], one[B];
  WB_UNROLL for (int i = 0; i < B; i++) zero[i] = one[i] = T(3e38f);
  WB_UNROLL for (int j = 0; j < 1 << B; j++) {
    const T a = T(user_amplitude<B>(j)), metric = fma(a, fma(a, weight, T(-2.f) * pull), cost[j]);
    WB_UNROLL for (int i = 0; i < B; i++) {
      T& least = user_bit<B>(j, i) ? one[i] : zero[i];
      least = min(least, metric);
    }
  }
  WB_UNROLL for (int i = 0; i < B; i++) llr[i] = one[i] - zero[i];
}

}  // namespace WB_ISA
}  // namespace wb
