#pragma once
// Massive-MIMO downlink precoding: the users receive y = H^H x' + n with the H of the uplink
// (docs/li-thesis.md, §2.2.1). x' is m = H A^-1 s, A = H^H H + (N0 / Es) I (eq. 2.10), normalised. Mode zf
// leaves N0 out, mf sends m = H s. The downlink of a calibrated antenna array is H^T rather: then pass
// conj(H).
//
// N0 is the variance of n, and Es the energy that is sent for one user. A vector x' of energy 1 serves U
// users: then Es = 1 / U, the default, and A = H^H H + U N0 I. This regularisation minimises the mean square
// error of the U symbols for this energy (C. B. Peel, B. M. Hochwald, A. L. Swindlehurst, IEEE Trans.
// Communications 53(1), 2005). Who sends sqrt(P) x' with another energy P sets Es = P / U.
//
// When to use. cholesky, or conjugate gradients if a new H comes with each vector, where they are faster
// (docs/li-thesis.md). The matched filter has the error floors of figure 3.8 there.
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/core/half.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/massive/massive.hpp>

namespace wb {

enum class massive_normalization {
  as_printed,  // x' = Es m / |m| (eq. 2.3): of norm Es
  unit_power,  // x' = m / |m|
  unscaled,    // x' = m, for who has another factor, such as one for all vectors of a channel
};

struct downlink_config {
  int antennas = 128;  // B: users..512
  int users = 16;      // U: 1..64
  massive_solver solver = massive_solver::cholesky;
  std::optional<int> iterations = {};       // of solvers that have them: 1..64
  float residual = least_massive_residual;  // cg, jacobi_cg: iterations of a vector stop there; 1e-7..0.9
  /// Es: 1e-6..1e6. Left out: 1 / users, or 1 with as_printed.
  std::optional<float> symbol_energy = {};
  massive_normalization normalization = massive_normalization::unit_power;
};

/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<downlink_config>>& downlink_settings();
/// Throws argument_error for what is not allowed.
void check(const downlink_config& config);
/// Es of a configuration, and |x'|: 1 or Es; 0 where x' = m.
float symbol_energy_of(const downlink_config& config) noexcept;
float sent_norm_of(const downlink_config& config) noexcept;

template <class Sample>
struct downlink_input_of {
  view<const Sample> channel = {};            // H: [frames, B * U], element b * U + u
  view<const std::complex<float>> sent = {};  // s: [frames * symbols, U]
  view<const float> noise_var = {};           // N0 of n: [frames, 1], item_stride 0 to share one
  int symbols = 1;                            // consecutive vectors that share an H
};
using downlink_input = downlink_input_of<std::complex<float>>;
/// The same with H as pairs of halves (core/half.hpp); all is computed in float32.
using downlink_half_input = downlink_input_of<half_complex>;

/// Safe to use from several threads.
///
/// A frame is erased, with zeros and status_erased, as `uplink_detector` has it, except that N0 may be
/// 0..1e12. A vector is erased if s has NaN or Inf or |s|^2 is above 1e24. A vector of zeros, or one whose
/// |m|^2 is below 1e-30, gives zeros and no erasure. mf has no Gram matrix: instead of |H|^2 it asks that
/// |m|^2 is at most 1e37.
class downlink_precoder {
 public:
  /// Throws argument_error as `check` does.
  explicit downlink_precoder(const downlink_config& config);
  /// Queues the frames of in.channel; x' to `precoded` [frames * symbols, B]. Throws argument_error and
  /// shape_error.
  void run(executor& exec, const downlink_input& in, view<std::complex<float>> precoded,
           view<std::uint8_t> status = {}) const;
  void run(executor& exec, const downlink_half_input& in, view<std::complex<float>> precoded,
           view<std::uint8_t> status = {}) const;

  const downlink_config& config() const noexcept { return config_; }

 private:
  downlink_config config_;
};

}  // namespace wb
