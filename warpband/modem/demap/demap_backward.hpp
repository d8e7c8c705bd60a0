#pragma once
// Gradients of the LLRs of `demapper`: from dF/dL of each LLR to dF/dy, dF/dh and dF/dN0. F is any function
// of the LLRs that has derivatives. With z = y / h and g = |h|^2 / N0 each dimension has
//   dL/dz = 2 g (m_0 - m_1),  dL/dg = 2 z (m_0 - m_1) - (q_0 - q_1),
// where m_b and q_b are means of a and a^2 over the amplitudes a whose bit is b: with weights
// e^(-g (z - a)^2), or for max-log those of the nearest amplitude. At a tie it is the larger of two.
//
// The gradient of a complex number x is dF/dRe x + i dF/dIm x, as in torch.
#include <warpband/modem/demap/demap.hpp>

namespace wb {

/// Outputs without data are not computed.
struct demap_gradients {
  view<std::complex<float>> received = {};  // [symbols, 1]
  view<std::complex<float>> channel = {};   // [symbols, 1], also without channel
  view<float> noise_var = {};               // [symbols, 1], also where one N0 is shared
  view<std::uint8_t> status = {};           // [symbols, 1] status_erased
};

/// A symbol gets gradients of 0 and status_erased where an input is not finite, or N0 is outside 1e-30..1e30.
/// The same holds where |y|^2 or |h|^2 is above 1e30. Except for BPSK it also holds where |h|^2 is below
/// 1e-30 or above 1e20 N0, or |y|^2 is above 1e10 |h|^2. `demapper` erases fewer: h = 0 has LLRs of 0 there.
/// One of the outputs that is not finite is 0, with status_erased; the others stay.
/// Threads: any number may call one object at once, each with an executor of its own.
class demapper_backward {
 public:
  /// Throws argument_error ("qam", "algorithm").
  explicit demapper_backward(const demapper_config& config);
  /// Queues: `llr_gradient` [symbols, bits] holds dF/dL. Throws shape_error.
  void run(executor& exec, const demap_input& in, view<const float> llr_gradient,
           const demap_gradients& out) const;
  int bits() const noexcept { return bits_; }
  const demapper_config& config() const noexcept { return config_; }

 private:
  demapper_config config_;
  int bits_;
};

}  // namespace wb
