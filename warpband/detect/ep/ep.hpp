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
#include <warpband/detect/detector.hpp>

namespace wb {

struct ep_config {
  int streams = 2;       // 1..16
  int rx_antennas = 2;   // streams..16
  int qam = 4;           // 4, 16, 64, 256
  int iterations = 10;   // 1..100
  float damping = 0.9f;  // 0..0.999
  /// 0.1..10. Nothing: P / (P - 1) with P = sqrt(qam), the sample variance of the amplitudes.
  std::optional<float> start_variance = {};
  float llr_clip = no_clip;  // above 0, at most 1e6 where finite
  bool extrinsic = false;    // the prior is taken off the output again
  demap_algorithm demapper = demap_algorithm::max_log;
};

/// Threads: any number may call one object at once, each with an executor of its own.
class ep final : public detector {
 public:
  /// Throws argument_error for what is not allowed.
  explicit ep(const ep_config& config);
  bool takes_prior() const noexcept override { return true; }

 private:
  void start(executor& exec, std::size_t uses, detect_args& args) const override;
  int iterations_;
  float damping_, start_variance_, clip_;
  bool extrinsic_, exact_;
};

}  // namespace wb
