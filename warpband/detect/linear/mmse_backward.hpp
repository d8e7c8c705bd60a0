#pragma once
// Gradients of the LLRs of the MMSE detector: from dF/dL of each LLR to dF/dH, dF/dy and dF/dN0. F is any
// function of the LLRs that has derivatives. With A = H^H H + N0 I, W = A^-1 and u = W H^H y the detector has
//   e_k = N0 W_kk,  x_k = u_k / (1 - e_k),  SINR_k = (1 - e_k) / e_k,
// and LLRs of x_k and SINR_k (modem/demap/demap_backward.hpp). From the gradients p of u and d of the
// diagonal of W follow, with v = W p and D = diag(d),
//   dF/dy  = H v
//   dF/dH  = (y - H u) v^H - (H v) u^H - 2 H W D W
//   dF/dN0 = sum_k dF/de_k |H W|_k^2 - Re u^H v,
// where |H W|_k is the norm of column k. An LLR is L = (2 Re u* (s_0 - s_1) + (1 - e) (|s_1|^2 - |s_0|^2)) /
// e with the nearest points s_0 and s_1 of each side. So p and dL/de need no division by 1 - e. W comes from
// the triangle that the detector has, so that small pivots are not lost.
//
// The gradient of a complex number x is dF/dRe x + i dF/dIm x, as in torch.
#include <warpband/detect/detector.hpp>

namespace wb {

/// Outputs without data are not computed.
struct mmse_gradients {
  view<std::complex<float>> channel = {};   // [uses, rx_antennas * streams], one for each use
  view<std::complex<float>> received = {};  // [uses, rx_antennas]
  view<float> noise_var = {};               // [uses, 1], also where one N0 is shared
  view<std::uint8_t> status = {};           // [uses, 1] status_erased
};

/// A use gets gradients of 0 and status_erased where the detector erases it (detect/detector.hpp), or where
/// `llr_gradient` is not finite. One of the outputs that is not finite is 0, with status_erased; the others
/// stay. An LLR beyond llr_clip has no gradient. The detector limits 1 - e to 1e-7: where it does, L has no
/// derivative through it.
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
