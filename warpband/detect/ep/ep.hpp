#pragma once
// Expectation propagation (J. Cespedes, P. M. Olmos, M. Sanchez-Fernandez, F. Perez-Cruz, "Expectation
// propagation detection for high-order high-dimensional MIMO systems", IEEE Transactions on Communications
// 62(8), 2014).
//
// Each real dimension of a symbol has a Gaussian with precision lambda and mean gamma / lambda in place of
// the probabilities of its amplitudes. An iteration
//   1. estimates each dimension from y and the Gaussians of the others (eq. 31, 32 there): x with variance v;
//   2. takes mean and variance (at least 1e-6) of its amplitudes under that and their a-priori probabilities;
//   3. chooses lambda and gamma so that the product of both Gaussians has that mean and variance
//      (eq. 35, 36),
//      lambda = 1 / variance - 1 / v, gamma = mean / variance - x / v. A lambda that is negative, or at most
//      1e-4 / v, is not taken;
//   4. keeps the share `damping` of the old ones.
// LLRs come from x and v of the last iteration, whose steps 2 to 4 are left out, and from the a-priori LLRs.
// They are a-posteriori.
//
// At the start the Gaussians have the a-priori mean and `start_variance` times the a-priori variance: one
// iteration is MMSE detection with that variance. An iteration costs about as much as three of the linear
// detector, and with many streams error rates are far lower. At high SNR wrong LLRs are too large, which
// `damping` and `llr_clip` mitigate. Up to 16 streams.
#include <optional>

#include <warpband/detect/detector_kind.hpp>
#include <warpband/modem/demap/demap.hpp>

namespace wb {

struct ep_settings {
  int iterations = 10;   // 1..100
  float damping = 0.9f;  // share of the old parameters, 0..0.999
  /// Variance of the symbols at the start, in units of that of the a-priori probabilities, 0.1..10. Nothing:
  /// P / (P - 1) with P = sqrt(qam) amplitudes of a dimension, their sample variance.
  std::optional<float> start_variance = {};
  demap_algorithm demapper = demap_algorithm::max_log;  // LLRs of a symbol from its estimate
  bool operator==(const ep_settings&) const = default;
};

/// "ep". Takes a prior.
detector_kind ep_kind();

}  // namespace wb
