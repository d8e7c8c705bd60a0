#pragma once
// Reliability of the bits of u by Gaussian approximation.
//
// The LLRs of all bits are taken as Gaussian, with variance 2 m for a mean m. With the means (a, b) of a
// node's LLRs its children have
//   left    m with 1 - phi(m) = (1 - phi(a)) (1 - phi(b)) [1]
//   right   a + b
// where phi(m) = 1 - E[tanh(L / 2)]. A coded bit has m = 4 Es/N0, an unsent one 0 or infinity. A bit of u
// with the mean m is wrong with probability Q(sqrt(m / 2)) if the bits before it are right.
//
// phi has the formulas of [2] up to m = 5.81. Beyond, it has its asymptotic form with a fitted remainder:
//   ln phi(m) = ln(pi / m) / 2 - m / 4 - (pi^2 / 4) / (m + 4.6 - 8.2 / m)
// Each has an inverse, so that only ln phi is computed and no mean underflows. ln phi is within 0.007.
// Cost: O(N log N), and O(N) if all bits are sent.
//
// [1] S.-Y. Chung, T. J. Richardson, R. L. Urbanke, "Analysis of sum-product decoding of low-density
//     parity-check codes using a Gaussian approximation", IEEE Trans. Inf. Theory, 2001.
// [2] J. Dai et al., "Does Gaussian approximation work well for the long-length polar code construction?",
//     IEEE Access, 2017.
#include <vector>

namespace wb {

/// Range of a design Es/N0 in dB.
inline constexpr double polar_least_design_db = -20, polar_most_design_db = 40;

/// ln phi(m) of a mean m >= 0, infinity included, and its inverse.
double polar_log_phi(double mean);
double polar_inverse_log_phi(double log_phi);

/// The means of the bits of u. Threads: any number may read one object at once.
class polar_gaussian {
 public:
  /// Coded bits of BPSK at an Es/N0 in dB; `unsent` ones [N] have LLRs of mean `unsent_mean`. N is a power of
  /// two.
  polar_gaussian(const std::vector<bool>& unsent, double unsent_mean, double esn0_db);
  const std::vector<double>& means() const noexcept { return means_; }
  /// Indices of u from the least to the most reliable. Of equal ones, those whose row of the transform has
  /// the smaller weight come first, then the smaller index.
  std::vector<int> order() const;
  /// Union bound for successive cancellation with this information set.
  double frame_error_rate(const std::vector<int>& information_set) const;

 private:
  std::vector<double> means_;
};

}  // namespace wb
