#pragma once
// Ordered-statistics decoding (OSD) behind belief propagation (BP), for any sparse parity-check matrix.
//
// Let s be a syndrome and p_v the probability of an error in bit v. BP and OSD look for a likely e with
// H e = s. OSD works on words that BP does not decode:
//
//   1. Order columns by their a-posteriori LLR after BP, likeliest errors first. Equal LLRs: in order of
//      columns.
//   2. The first independent columns are pivots. Elimination expresses their bits by the others.
//   3. OSD-0: all other bits are 0, and the pivots follow from s.
//   4. A higher order w tries errors in other columns too, in the order of step 1. The least cost wins.
//      OSD-E tries all 2^w patterns of the first w. OSD-CS tries each single column, and each pair of the
//      first w. Equal costs: the first wins. In OSD-E the first column is bit 0 of a pattern's number.
//
// The cost of e is the sum over its ones of ln(1 / p_v), or of ln((1 - p_v) / p_v). The second one makes the
// least cost the greatest likelihood. Without a syndrome the LLRs are those of a codeword. Then e is the
// difference from the channel's hard decisions, and p_v the probability that such a decision is wrong.
//
// M. P. C. Fossorier, S. Lin, "Soft-decision decoding of linear block codes based on ordered statistics",
// 1995; P. Panteleev, G. Kalachev, "Degenerate quantum LDPC codes with good finite length performance", 2021;
// J. Roffe, D. R. White, S. Burton, E. Campbell, "Decoding across the quantum low-density parity-check code
// landscape", 2020 (OSD-CS).
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/osd/osd_args.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc.hpp>

namespace wb {

enum class osd_method { off, osd_0, osd_e, osd_cs };
enum class osd_cost { probability, ratio };

/// Names are those of the Python package `ldpc`.
struct bp_osd_config {
  /// Iterations of BP at most, 1..10000; 0: n, at most 10000.
  int max_iter = 30;
  /// sum_product, or normalised_min_sum.
  ldpc_algorithm bp_method = ldpc_algorithm::normalised_min_sum;
  /// Factor of min-sum, (0, 1].
  float ms_scaling_factor = 0.625f;
  ldpc_schedule schedule = ldpc_schedule::flooding;
  wb::osd_method osd_method = wb::osd_method::osd_0;
  /// 0..1000, with OSD-E at most 20; more than n - rank counts as n - rank. OSD-E and OSD-CS of order 0 are
  /// OSD-0.
  int osd_order = 0;
  wb::osd_cost osd_cost = wb::osd_cost::probability;
  bool operator==(const bp_osd_config&) const = default;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<bp_osd_config>>& bp_osd_settings();

/// Outputs without data are not computed.
struct bp_osd_output {
  view<std::uint8_t> bits = {};        // [batch, n] error pattern, or codeword
  view<float> soft = {};               // [batch, n] a-posteriori LLRs of BP
  view<std::int32_t> iterations = {};  // [batch] iterations of BP
  // [batch] status_stopped: BP found the word. status_osd: OSD found it. 0: neither did, with osd_method off,
  // and bits are BP's decisions. status_erased: bits are 0. It stands alone for a NaN or infinite LLR. With
  // status_insufficient fewer than k LLRs are not 0. With status_inconsistent no word has the syndrome.
  view<std::uint8_t> status = {};
};

/// Decodes batches of syndromes or codewords of any sparse H: belief propagation, then OSD.
///
/// Where status has status_stopped or status_osd, all checks hold. Rows and columns may be empty or equal,
/// and rows dependent. BP is sparse_ldpc_decoder's, with its rules for LLRs of any size.
///
/// Costs are integers of 2^-32, and their sums exact. That of one bit is limited to +-1024.
///
/// CPU and CUDA, any instruction set, batch size and number of threads give the same bits.
///
/// Cost: OSD of a word takes about r m^2 / 32 operations on words of 32 bits, for m checks and r pivots, a
/// vector at a time. OSD-0 ends at the pivot that solves the syndrome. A candidate of a higher order takes
/// about m / 4 operations. A CPU thread uses m^2 / 8 + 44 n bytes at most, a block of a GPU 32 m more, and
/// order w another w m / 8. Beyond shared memory a GPU allocates this for 8 blocks a multiprocessor, or for
/// each word of a smaller batch.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class bp_osd {
 public:
  /// `error_channel`: the probability of an error in each of n bits, or one for all, above 0 and below 1; may
  /// be empty. Throws argument_error, also for a matrix with unsent columns or more than 46340 checks.
  explicit bp_osd(const parity_check_matrix& matrix, const bp_osd_config& config = {},
                  const std::vector<double>& error_channel = {});
  /// Queues decoding of syndromes [batch, checks] of 0 or 1, of which the lowest bit counts. The LLRs are
  /// those of `error_channel`. Throws shape_error, and argument_error without an error_channel.
  void run(executor& exec, view<const std::uint8_t> syndrome, const bp_osd_output& out) const;
  /// Queues decoding of LLRs [batch, n]. With a syndrome they are ln((1 - p) / p) of errors, without one
  /// those of a codeword. The view of LLRs may have item_stride 0. Throws shape_error.
  void run(executor& exec, const llr_batch& llr, const bp_osd_output& out,
           view<const std::uint8_t> syndrome = {}) const;

  const parity_check_matrix& matrix() const noexcept { return bp_.matrix(); }
  const bp_osd_config& config() const noexcept { return config_; }
  /// ln((1 - p) / p) of `error_channel`; empty without one.
  const std::vector<float>& priors() const noexcept { return priors_.host(); }

 private:
  bp_osd_config config_;
  sparse_ldpc_decoder bp_;
  osd_args fixed_;  // without data
  bool has_priors_;
  resident<float> priors_;
  resident<std::int32_t> columns_, rows_;
  float_llrs floats_;
  kept_workspace memory_;
};

}  // namespace wb
