#pragma once
// Massive MIMO with the antennas of the base station in C clusters. Each has B / C neighbouring antennas and
// its own part H_c, y_c of H and y. What the clusters exchange, of U users, is much less than what B antennas
// receive. Methods:
//
//   exact       every cluster makes H_c^H H_c and H_c^H y_c, whose sums over c are H^H H and H^H y; then one
//               detector: the central one (massive/uplink) up to rounding. "Partially decentralised" in [1]
//   local_mmse  every cluster detects alone; its estimates without bias are added, weighted by their SINRs,
//               w x' = sum of w_c x'_c, w = sum of w_c: optimal as long as the clusters' errors are
//               independent. "Fully decentralised" in [1]. Downlink: every cluster precodes alone, with the
//               Es of all, and sends 1 / C of the power
//   cg          conjugate gradients: in an iteration every cluster multiplies H_c^H H_c with the same vector,
//               and the products, U values, are added: [2]
//
// [1] C. Jeon, K. Li, J. R. Cavallaro, C. Studer, "Decentralized equalization with feedforward architectures
//     for massive MU-MIMO", IEEE Trans. Signal Processing 67(17), 2019
// [2] K. Li, R. R. Sharan, Y. Chen, T. Goldstein, J. R. Cavallaro, C. Studer, "Decentralized baseband
//     processing for massive MU-MIMO systems", IEEE J. Emerg. Sel. Topics Circuits Syst. 7(4), 2017
//
// Sums over a cluster's antennas have the order of linalg/gram_body.hpp. Those over clusters are made in
// pairs of neighbours, pairs of pairs, and so on: ((0 + 1) + (2 + 3)) + (4 + 5). Against the central detector
// the estimates of `exact` differ by at most 2e-6 of their norm (well conditioned H, B >= 2 U).
#include <cstdint>
#include <vector>

#include <warpband/exec/group/group.hpp>
#include <warpband/massive/downlink/downlink.hpp>
#include <warpband/massive/uplink/uplink.hpp>

namespace wb {

enum class massive_cluster_method { exact, local_mmse, cg };
/// "exact", "local-mmse", "cg".
const char* name_of(massive_cluster_method method) noexcept;

struct clustered_uplink_config {
  /// Of all antennas: up to 512 for each cluster. local_mmse needs the solver cholesky, cg the solver cg.
  /// Else than with local_mmse sums are float32.
  uplink_config detector = {};
  int clusters =
      1;  // C: 1..64, divides the antennas; with local_mmse at least as many antennas as users each
  massive_cluster_method cluster_method = massive_cluster_method::exact;
};
struct clustered_downlink_config {
  downlink_config precoder = {};
  int clusters = 1;
  massive_cluster_method cluster_method = massive_cluster_method::exact;
};

/// Their settings: names, what is allowed, what they mean.
const std::vector<setting_of<clustered_uplink_config>>& clustered_uplink_settings();
const std::vector<setting_of<clustered_downlink_config>>& clustered_downlink_settings();
/// Throw argument_error for what is not allowed.
void check(const clustered_uplink_config& config);
void check(const clustered_downlink_config& config);

/// Safe to use from several threads.
///
/// A frame or a vector is erased as `uplink_detector` has it; with local_mmse where any cluster's is. With
/// one cluster all but cg give the bits of `uplink_detector` with float32 sums, which with local_mmse holds
/// for SINRs up to 1e36.
class clustered_uplink_detector {
 public:
  /// Throws argument_error as `check` does.
  explicit clustered_uplink_detector(const clustered_uplink_config& config);
  /// Queues the frames of in.channel, as uplink_detector::run.
  void run(executor& exec, const uplink_input& in, const uplink_output& out) const;
  /// Of halves, with the bits of complex64 that holds the same.
  void run(executor& exec, const uplink_half_input& in, const uplink_output& out) const;
  /// The clusters spread over the D members of a group, C / D each in their order; D divides C. in[i] and
  /// out[i] are of member group.first() + i: H and y of its B / D antennas and all frames, and outputs of its
  /// share of the frames, group.share. With `exact` and `cg` and a power of two of clusters in each member
  /// results have the bits of one executor. Queues on CUDA devices that exchange by NCCL, else waits. The
  /// values that a frame's sums have, of S vectors that share an H:
  ///   exact       U^2 + 2 U S, of which a member sends what is not of its own frames
  ///   local_mmse  3 U S and S bytes, likewise
  ///   cg          U + 2 U S, then 2 U S in each iteration, all-reduced
  void run(executor_group& group, const std::vector<uplink_input>& in,
           const std::vector<uplink_output>& out) const;
  /// Bytes that a member sends then, where D divides the frames: the least that makes these sums.
  double bytes_sent(int members, std::size_t frames, int symbols) const;

  const clustered_uplink_config& config() const noexcept { return config_; }
  /// LLRs of a vector.
  std::size_t bits_per_vector() const noexcept;

 private:
  template <class Input>
  void run_as(executor& exec, const Input& in, const uplink_output& out) const;

  clustered_uplink_config config_;
  uplink_detector local_;  // of a cluster, with local_mmse
  kept_workspace workspace_;
};

/// Safe to use from several threads. What is sent has the norm that downlink_config says; with local_mmse
/// each cluster has 1 / sqrt(C) of it.
///
/// A frame or a vector is erased as `downlink_precoder` has it; with local_mmse where any cluster's is. With
/// one cluster all but cg give the bits of `downlink_precoder`.
class clustered_downlink_precoder {
 public:
  /// Throws argument_error as `check` does.
  explicit clustered_downlink_precoder(const clustered_downlink_config& config);
  /// Queues the frames of in.channel, as downlink_precoder::run.
  void run(executor& exec, const downlink_input& in, view<std::complex<float>> precoded,
           view<std::uint8_t> status = {}) const;
  /// With H of halves, and the bits of complex64 that holds the same.
  void run(executor& exec, const downlink_half_input& in, view<std::complex<float>> precoded,
           view<std::uint8_t> status = {}) const;
  /// The clusters spread over the D members of a group, as those of the detector. Each member has at least as
  /// many antennas as there are users. in[i]: H of the member's antennas, and the symbols of all users, of
  /// all frames; precoded[i] and status[i] likewise. The norm of a vector comes from its Gram matrix, so that
  /// results differ from those of one executor by rounding. Exchanged are, for each frame: exact U^2 sums,
  /// then 2 U S values of the solutions. cg U, then 2 U S in each iteration. Both then S norms. local_mmse C
  /// S bytes.
  void run(executor_group& group, const std::vector<downlink_input>& in,
           const std::vector<view<std::complex<float>>>& precoded,
           const std::vector<view<std::uint8_t>>& status = {}) const;

  const clustered_downlink_config& config() const noexcept { return config_; }

 private:
  template <class Input>
  void run_as(executor& exec, const Input& in, view<std::complex<float>> precoded,
              view<std::uint8_t> status) const;

  clustered_downlink_config config_;
  downlink_precoder local_;   // of a cluster, with local_mmse
  downlink_precoder sender_;  // H z, normalised
  kept_workspace workspace_;
};

}  // namespace wb
