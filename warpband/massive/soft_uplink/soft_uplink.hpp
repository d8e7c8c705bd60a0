#pragma once
// Massive-MIMO uplink detection with a-priori LLRs: y = H x + n as in massive/uplink, MMSE with parallel
// interference cancellation. The a-priori LLRs give each user's symbol a mean m_u and a variance E_u. With
// G = H^H H, D = diag(sqrt E_u), B = D G D + N0 I and e = H^H y - G m
//
//   p_u = N0 [B^-1]_uu, q_u = (1 - p_u) / E_u, r_u = [B^-1 D e]_u / sqrt E_u
//
// and the estimate of x_u from y and the other users alone has the SINR w_u and the value x'_u,
//
//   w_u = q_u / p_u,  w_u x'_u = (r_u + q_u m_u) / p_u.
//
// So one inverse serves all users (C. Studer, S. Fateh, D. Seethaler, "ASIC implementation of soft-input
// soft-output MIMO detection using MMSE parallel interference cancellation", IEEE JSSC 46(7), 2011, §II, here
// with a Hermitian matrix). LLRs are max-log ln P(b = 0) - ln P(b = 1) of x'_u and the priors of the symbol.
// Without priors m = 0 and E = 1: the MMSE detector of massive/uplink.
//
// When to use. As the detector of an iterative receiver (docs/iterative.md); without priors massive/uplink is
// faster.
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/massive/massive.hpp>

namespace wb {

struct soft_uplink_config {
  int antennas = 128;  // users..512
  int users = 16;      // 1..64
  int qam = 16;        // 4, 16, 64, 256
  /// LLRs are limited to +-llr_clip: above 0 and at most 1e6. Absent: no limit.
  std::optional<float> llr_clip = {};
  bool extrinsic = false;  // the prior is taken off the LLRs again
};
/// Throws argument_error for what is not allowed.
void check(const soft_uplink_config& config);
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<soft_uplink_config>>& soft_uplink_settings();

struct soft_uplink_input {
  view<const std::complex<float>> channel = {};   // H: [frames, antennas * users], element b * users + u
  view<const std::complex<float>> received = {};  // y: [frames * symbols, antennas]
  view<const float> noise_var = {};  // N0 per complex entry: [frames, 1], item_stride 0 to share one
  int symbols = 1;                   // consecutive vectors that share an H, 1..2^20
  /// A-priori LLRs [frames * symbols, bits_per_vector]; no data for none. Those beyond +-1e6 count as +-1e6.
  view<const float> prior = {};
};
/// Outputs without data are not computed. Bits of a vector lie user after user, each symbol's in 3GPP order.
struct soft_uplink_output {
  view<float> llr = {};            // [frames * symbols, bits_per_vector]
  view<std::uint8_t> bits = {};    // the same, 1 where the LLR is negative
  view<std::uint8_t> status = {};  // [frames * symbols, 1] status_erased
};

/// Safe to use from several threads.
///
/// A frame is erased, with LLRs of 0, bits of 0 and status_erased, where H has NaN or Inf, |H|^2 is outside
/// 1e-12..1e12 or N0 outside 1e-30..1e12. A vector is erased if y or its prior has NaN or Inf, or |H^H y|^2
/// is above 1e24 or above 1e10 |H|^4. It is also erased if B is singular (a pivot below 4e-6 of its diagonal
/// entry). What an LLR has below about 1e-7 SINR (|x'|^2 + 1) is lost in float32.
class soft_uplink_detector {
 public:
  /// Throws argument_error as `check` does.
  explicit soft_uplink_detector(const soft_uplink_config& config);
  /// Queues the frames of in.channel. Throws argument_error and shape_error.
  void run(executor& exec, const soft_uplink_input& in, const soft_uplink_output& out) const;
  const soft_uplink_config& config() const noexcept { return config_; }
  /// LLRs of a vector.
  std::size_t bits_per_vector() const noexcept;

 private:
  soft_uplink_config config_;
};

}  // namespace wb
