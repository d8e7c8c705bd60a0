#pragma once
// Soft-output decoding of convolutional codes: the BCJR algorithm (L. R. Bahl, J. Cocke, F. Jelinek, J.
// Raviv, "Optimal decoding of linear codes for minimizing symbol error rate", IEEE Trans. Inf. Theory, 1974).
//
//   alpha_{t+1}(s') = sum over s -> s' of alpha_t(s) gamma,  beta_t(s) = sum over s -> s' of gamma
//   beta_{t+1}(s') L_t = ln sum_{u=0} alpha_t gamma beta_{t+1} - ln sum_{u=1} alpha_t gamma beta_{t+1}
//
// over the whole codeword. max-log-MAP takes the largest term of each sum; log-MAP is exact, computed on
// probabilities, but for tail-biting codes (bcjr_config::overlap). log-MAP by table computes the sums on
// LLRs:
//
//   ln(e^a + e^b) = max(a, b) + c(|a - b|)     c: ln(1 + e^-d) at 8 values of d
//   (fec/trellis/max_star_table.hpp)
//
// When to use. If LLRs of the bits are needed, for a loop or an outer code; for decided bits viterbi is
// faster (docs/viterbi.md).
#include <optional>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/bcjr/bcjr_args.hpp>
#include <warpband/fec/bcjr/bcjr_short_args.hpp>
#include <warpband/fec/conv/conv.hpp>
#include <warpband/fec/conv/conv_precision.hpp>
#include <warpband/fec/quantise/quantise.hpp>
#include <warpband/fec/trellis/map_algorithm.hpp>

namespace wb {

struct bcjr_config {
  conv_code code = {};
  /// Information bits of a codeword, 1..65536; tail-biting at least K - 1.
  int k = 1024;
  /// log_map_table: float32 only.
  map_algorithm algorithm = map_algorithm::log_map;
  /// Tail-biting: both recursions start with all states alike and go `overlap` steps around the circle before
  /// the codeword. 0..4096; -1 chooses conv_frame::usual_overlap(). Paths that end in another state than they
  /// began with count too, so that LLRs are not the exact ones, of short blocks by far: of K = 7, (133, 171),
  /// rate 1/2, at Es/N0 = -1.07 dB, 300 codewords of each size, LLRs whose exact value is within +-15,
  ///
  ///     k                              8       12      16      24      32      40      64
  ///     bit errors, exact log-MAP      0.037   0.022   0.020   0.013   0.012   0.010   0.009
  ///     bit errors of this decoder     0.078   0.049   0.030   0.020   0.012   0.012   0.009
  ///     error of an LLR, rms           10.7    8.8     6.9     5.5     3.5     2.0     0.5
  ///     error of an LLR, largest       27      21      20      16      12      11      5
  ///
  /// Most of these are LLRs too sure of a bit, as each time around the circle counts the same channel LLRs
  /// again.
  std::optional<int> overlap = {};
  /// int16: max-log-map of codes without feedback; bits, soft and status only.
  conv_precision precision = conv_precision::float32;
  /// int16: float LLRs become integers of +-127 steps, llr_steps for an LLR of 1, 0.25..64.
  /// Absent: chosen for each codeword (fec/quantise/quantise.hpp).
  std::optional<float> llr_steps = {};
  /// int16: windows of a codeword that are decoded in parallel. Both recursions of each begin `overlap` steps
  /// outside of it, with all states alike; overlap is 0 of one window of a code that is not tail-biting.
  /// 1 to as many as are no shorter than the overlap; absent: the power of two that leaves them at least
  /// 256 steps and 5 overlaps.
  std::optional<int> windows = {};
};
/// The configuration with overlap and windows chosen. Throws argument_error for what a decoder does not
/// allow.
bcjr_config completed(const bcjr_config& config);
/// Its settings but the code.
const std::vector<setting_of<bcjr_config>>& bcjr_settings();

struct bcjr_output {
  view<std::uint8_t> bits = {};  // [batch, k] hard decisions, LLR < 0
  view<float> soft = {};         // [batch, k] a-posteriori LLRs
  view<float> extrinsic = {};    // [batch, k] a-posteriori minus prior and, where it was sent, systematic LLR
  view<float> coded_extrinsic = {};  // [batch, n] a-posteriori minus channel LLR of the coded bits
  view<std::uint8_t> status = {};    // [batch] status_erased, status_insufficient
};

/// Decodes batches of codewords.
///
/// Input LLRs are [batch, n] in the order of the code's bits, the optional a-priori LLRs of the information
/// bits [batch, k]; both are limited to +-2^26 = 6.7e7. Log-MAP limits outputs to +-60, and the extrinsic LLR
/// to what the inputs leave of it. It limits the weight of a branch to 2^-60 of the largest of its step, and
/// a state metric to about 2^-63 of the largest. A codeword with a NaN or infinite LLR is an erasure: its
/// outputs are zero and its status says so; its neighbours are untouched. A codeword with fewer than k LLRs
/// other than 0, a-priori ones included, is an erasure too, with status_insufficient.
///
/// `coded_extrinsic` has the extrinsic LLRs of the n coded bits that are sent, in the order of the input,
/// those of the tail too; a punctured bit has no place there. With c_j coded bit j of step t,
///   L(c_j) = ln sum_{c_j=0} alpha_t gamma beta_{t+1} - ln sum_{c_j=1} alpha_t gamma beta_{t+1},
/// less the bit's channel LLR; priors of information bits count in it. Max-log-MAP and log-MAP by table limit
/// L to +-1e30. A bit that the code determines gets this value. In an iterative receiver they are the priors
/// of the detector:
///   decoder.run(exec, llr, {.bits = bits, .coded_extrinsic = prior});   // llr, prior: [batch, n]
///
/// A codeword of which more than a fourth of the LLRs and priors are beyond +-15, or one is beyond +-30, is
/// decoded by log-MAP on LLRs, with ln(1 + e^-d) within 0.013: it has none of the limits of log-MAP, and its
/// soft outputs are exact within 0.5 + 0.001 |L|. It takes longer (docs/algorithms/bcjr.md). A known bit, of
/// an LLR of +-1e30 or beyond, counts as +-30 unless other LLRs are large.
///
/// A codeword of which all LLRs and priors are within +-1.25, or +-2.5 with fewer than two LLRs a step (a
/// rate above 1/2), is decoded by log-MAP on transforms of the metrics (bcjr_dual_body.hpp): small soft
/// outputs keep their digits. They are limited to +-17. It takes longer still.
///
/// On a CUDA device (133, 171) and (133, 171, 165) have a kernel of their own, unless `coded_extrinsic` is
/// wanted or the algorithm is log_map_table. It is many times as fast, and decodes all codewords but those of
/// large and small LLRs.
///
/// With precision int16 and llr_steps LLRs are rounded to the nearest of 1 / llr_steps, ties to even, and
/// what rounds to 0 counts as 0. Soft outputs are multiples of one step: of one window, those of max-log-MAP
/// in float32 on the rounded LLRs. Without llr_steps soft outputs of a caller's integers have
/// their unit.
///
/// CPU and CUDA, any instruction set, batch size and number of threads give the same bits.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class bcjr_decoder {
 public:
  /// Throws argument_error.
  explicit bcjr_decoder(const bcjr_config& config);
  /// Queues the decoding of a batch. Outputs without data are not computed. Throws shape_error.
  void run(executor& exec, view<const float> llr, const bcjr_output& out) const { run(exec, llr, {}, out); }
  void run(executor& exec, view<const float> llr, view<const float> prior, const bcjr_output& out) const;
  /// LLRs as integers, which stay as they are; -128 as -127. Throws argument_error with precision float32.
  void run(executor& exec, view<const std::int8_t> llr, const bcjr_output& out) const;

  /// The configuration in force: overlap and windows as chosen.
  const bcjr_config& config() const noexcept { return config_; }
  const conv_frame& frame() const noexcept { return frame_; }

 private:
  bcjr_config config_;
  conv_frame frame_;
  conv_work work_;
  double systematic_ = 0;
  llr_scale scale_;

  void run_short(executor& exec, bcjr_short_args& a, std::size_t items, const bcjr_output& out) const;
};

}  // namespace wb
