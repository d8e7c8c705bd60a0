#pragma once
// Gradients of the LLRs of the MMSE detector: from dF/dL of each LLR to dF/dH, dF/dy and dF/dN0. F is any
// function of the LLRs that has derivatives. With A = H^H H + N0 I, W = A^-1 and u = W H^H y the detector has
//   e_k = N0 W_kk,  x_k = u_k / (1 - e_k),  SINR_k = (1 - e_k) / e_k,
// and LLRs of x_k and SINR_k (modem/demap/demap_backward.hpp). From the gradients p of u and d of the
// diagonal of W follow, with v = W p and D = diag(d),
//   dF/dy  = H v
//   dF/dH  = (y - H u) v^H - (H v) u^H - 2 H W D W
//   dF/dN0 = sum_k dF/de_k W_kk - Re u^H v - tr(W D W).
// W comes from the triangle that the detector has, so that small pivots are not lost.
//
// The gradient of a complex number x is dF/dRe x + i dF/dIm x, as in torch.
#include <warpband/detect/detector.hpp>

namespace wb {

/// Outputs without data are not computed.
struct mmse_gradients {
  view<std::complex<float>> channel = {};   // [uses, rx_antennas * streams], for each use alone
  view<std::complex<float>> received = {};  // [uses, rx_antennas]
  view<float> noise_var = {};               // [uses, 1], also where one N0 is shared
  view<std::uint8_t> status = {};           // [uses, 1] status_erased
};

/// A use gets gradients of 0 and status_erased where the detector erases it (detect/detector.hpp), or where
/// a gradient is not finite. An LLR beyond llr_clip has no gradient.
/// Threads: any number may call one object at once, each with an executor of its own.
class mmse_backward {
 public:
  /// Throws argument_error: of another type than "mmse", with words of fixed point, or as `make_detector`.
  explicit mmse_backward(const detector_config& config);
  /// Queues: `llr_gradient` [uses, bits_per_use] holds dF/dL. Throws shape_error, and argument_error for a
  /// prior.
  void run(executor& exec, const detector_input& in, view<const float> llr_gradient,
           const mmse_gradients& out) const;
  int streams() const noexcept { return streams_; }
  int rx_antennas() const noexcept { return rx_antennas_; }
  std::size_t bits_per_use() const noexcept { return static_cast<std::size_t>(2 * pam_bits_ * streams_); }

 private:
  int streams_ = 0, rx_antennas_ = 0, pam_bits_ = 0;
  float clip_ = 0;
};

}  // namespace wb
