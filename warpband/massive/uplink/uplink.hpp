#pragma once
// Massive-MIMO uplink detection: y = H x + n with n ~ CN(0, N0) in each of B antennas. x has the symbols of U
// users, Gray QAM with Es = 1 (TS 38.211 §5.1). MMSE estimates x' = A^-1 H^H y with A = H^H H + N0 I
// (docs/li-thesis.md, eq. 2.5), freed of their bias. Max-log LLRs ln P(b = 0) - ln P(b = 1) follow from the
// SINR behind the equaliser.
//
// When to use. cholesky is exact, and needs fewer operations than I conjugate-gradient iterations if S
// vectors share an H with S (I - 1) > U / 3. With a new H for each vector cg saves time (docs/li-thesis.md).
// With nearly as many users as antennas a loop with soft_uplink gains much (docs/iterative.md).
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <warpband/core/half.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/massive/massive.hpp>

namespace wb {

enum class massive_sinr {
  exact,  // from the diagonal of A^-1: SINR = 1 / (N0 [A^-1]_uu) - 1; zf: 1 / (N0 [A^-1]_uu); mf: G_uu^2 over
          // the other users' sum |G_uj|^2 and N0 G_uu. Not for solvers with iterations, which have no A^-1
  approximate,  // from the Gram matrix: SINR = G_uu / N0, gain SINR / (1 + SINR) (eqs 3.3 and 3.4). It knows
                // nothing of the interference that too few iterations leave
};

/// How sums over antennas are made: the Gram matrix H^H H and the matched filters H^H y.
enum class massive_sums {
  float32,    // the same bits on every backend
  split_f16,  // on the tensor cores of a CUDA device: users' columns of H, and vectors, are scaled by powers
              // of two, and factors are two halves of 11 significant bits each. The error of H^H H of
              // Rayleigh channels is <= 1e-6 of its diagonal (measured). That is for calls which the kernels
              // of uplink/mapping.hpp take: 16 or 32 users, data that lie one after the other, an even number
              // of antennas (of halves a multiple of 4). Of the solvers with iterations only cg and
              // jacobi_cg, and these with 32 users from 128 antennas on. Else as float32. Bits depend on the
              // device, and on whether vectors share an H. A vector whose sum of squares is above what a
              // float32 can be may be erased
};
/// "float32", "split_f16".
const char* name_of(massive_sums sums) noexcept;

struct uplink_config {
  int antennas = 128;  // B: users..512
  int users = 16;      // U: 1..64
  int qam = 16;        // 4, 16, 64, 256
  massive_solver solver = massive_solver::cholesky;
  std::optional<int> iterations = {};       // of solvers that have them: 1..64
  float residual = least_massive_residual;  // cg, jacobi_cg: iterations of a vector stop there; 1e-7..0.9
  massive_sinr sinr = massive_sinr::exact;
  massive_sums sums = massive_sums::float32;
  /// LLRs are limited to +-llr_clip: above 0 and at most 1e6. Absent: no limit.
  std::optional<float> llr_clip = {};
  /// 8-bit LLRs: steps in an LLR of 1, 0.25..64, as of turbo_decoder_config. They are limited to +-127 steps.
  float llr_steps = 8.f;
};

/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<uplink_config>>& uplink_settings();
/// Throws argument_error for what is not allowed.
void check(const uplink_config& config);

template <class Sample>
struct uplink_input_of {
  view<const Sample> channel = {};   // H: [frames, B * U], element b * U + u
  view<const Sample> received = {};  // y: [frames * symbols, B]
  view<const float> noise_var = {};  // N0 per complex entry: [frames, 1], item_stride 0 to share one
  int symbols = 1;                   // consecutive vectors that share an H
};
using uplink_input = uplink_input_of<std::complex<float>>;
/// The same with H and y as pairs of halves (core/half.hpp), 4 bytes for a complex value. All is computed in
/// float32. Entries must lie in the range of a half: a common factor of H and y, and its square of N0,
/// changes no LLR.
using uplink_half_input = uplink_input_of<half_complex>;
/// Outputs without data are not computed. LLRs of a vector lie user after user, each symbol's in 3GPP order.
struct uplink_output {
  view<float> llr = {};                      // [frames * symbols, U * log2(qam)]
  view<std::int8_t> llr_int8 = {};           // the same in steps (llr_steps), the nearest, ties to even
  view<std::complex<float>> equalized = {};  // [frames * symbols, U]: estimates without bias
  view<float> sinr = {};                     // [frames * symbols, U]: of those, linear
  view<std::uint8_t> status = {};            // [frames * symbols, 1] status_erased
};

/// Safe to use from several threads.
///
/// A frame is erased, with zeros for all its outputs and status_erased, if H has NaN or Inf or |H|^2 is
/// outside 1e-12..1e12. It is also erased if N0 is not in 1e-30..1e12 or A is singular (cholesky and zf: a
/// pivot below 4e-6 of its diagonal entry). A vector is erased where y has NaN or Inf, or |H^H y|^2 is above
/// 1e24 or above 1e10 |H|^4.
///
/// LLRs are differences of float32 distances SINR |x' - s|^2: what one has below about 1e-7 SINR (|x'|^2 + 1)
/// is lost. A part of x' beyond 2^19, as a weak user may have, counts as 2^19. The LLR of a sign may be 0
/// where its part of x' is below about 1e-7.
class uplink_detector {
 public:
  /// Throws argument_error as `check` does.
  explicit uplink_detector(const uplink_config& config);
  /// Queues the frames of in.channel. Throws argument_error and shape_error.
  void run(executor& exec, const uplink_input& in, const uplink_output& out) const;
  void run(executor& exec, const uplink_half_input& in, const uplink_output& out) const;

  const uplink_config& config() const noexcept { return config_; }
  /// LLRs of a vector.
  std::size_t bits_per_vector() const noexcept;
  /// float32 operations (exec/kernel.hpp) of a frame of `symbols` vectors, from H and y to the LLRs. Throws
  /// argument_error.
  double flops(int symbols) const;

 private:
  uplink_config config_;
};

}  // namespace wb
