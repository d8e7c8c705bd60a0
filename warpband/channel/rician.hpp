#pragma once
// Rician fading: h = sqrt(K / (K + 1)) exp(i phi) + sqrt(1 / (K + 1)) g with g ~ CN(0, 1), so that mean |h|^2
// is 1. phi is uniform: a new one for each h, and another one for each pair of antennas, as in channel/tdl.
// K is the power of the fixed part over that of the scattered one.
#include <cmath>

#include <warpband/channel/rician_args.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {

/// Of K in decibels: -100..100, or -infinity for Rayleigh fading. Throws argument_error ("rician_k_db").
inline rician_amplitudes rician_of_db(double k_db) {
  if (std::isinf(k_db) && k_db < 0) return {};
  check_number("rician_k_db", k_db, -100, 100);
  const double k = std::pow(10, k_db / 10);
  return {static_cast<float>(std::sqrt(k / (k + 1))), static_cast<float>(std::sqrt(1 / (k + 1)))};
}

}  // namespace wb
