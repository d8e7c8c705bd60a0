#pragma once
// LDPC codes of any sparse parity-check matrix: encoder and belief-propagation decoder.
//
// L_v = ln P(0)/P(1) is the channel's LLR of bit v, A_v its a-posteriori LLR, and R_cv the message of check c
// to it. A check takes q_v = A_v - R_cv from each of its bits. It returns R_cv:
//
//   sum-product         R_cv = 2 artanh prod_{u != v} tanh(q_u / 2)
//   min-sum             R_cv = prod_{u != v} sign(q_u) * min_{u != v} |q_u|
//   normalised, offset  the same with the minimum m replaced by max(scale * m - offset, 0);
//                       `factors` or `offsets` have scale or offset for each iteration
//
// Then A_v = q_v + R_cv (layered), or A_v = L_v + sum_c R_cv after all checks (flooding).
//
// Layers. Each row of H, in order, joins the first layer in which no row shares a bit with it. An iteration
// takes the layers one after the other. Rows of a layer may be computed in any order or at once. So the
// result does not depend on how many threads share a codeword. Where the rows of a matrix come in such
// layers, as those of 802.3an do, this is the order of the file.
//
// Syndromes. With a syndrome s, check c asks that its bits sum to s_c, not 0: R_cv changes its sign where s_c
// is 1. If the LLRs are priors of errors, ln((1 - p) / p), the decisions are an error pattern of that
// syndrome. Source coding and quantum codes use this form.
//
// R. G. Gallager, "Low-density parity-check codes", 1962; D. J. C. MacKay, "Good error-correcting codes based
// on very sparse matrices", 1999; D. E. Hocevar, "A reduced complexity decoder architecture via layered
// decoding of LDPC codes", 2004.
//
// Quasi-cyclic codes of the standards have faster kernels: fec/ldpc/ldpc.hpp.
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/format/format.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/sparse_ldpc/parity_check_matrix.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc_args.hpp>

namespace wb {

/// Messages are float32.
struct sparse_ldpc_config {
  ldpc_algorithm algorithm = ldpc_algorithm::normalised_min_sum;
  /// Factor of normalised min-sum, (0, 1].
  float scale = 0.75f;
  /// Of offset min-sum, in units of LLRs, 0..8.
  float offset = 0.5f;
  /// Iterations, 1..10000; the most where the decoder stops early.
  int iterations = 30;
  ldpc_schedule schedule = ldpc_schedule::layered;
  /// Whether a codeword leaves after the first iteration whose decisions satisfy all checks.
  bool early_stop = true;
  /// As in ldpc_decoder_config, in place of scale or offset.
  std::vector<double> factors = {}, offsets = {};
  bool operator==(const sparse_ldpc_config&) const = default;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<sparse_ldpc_config>>& sparse_ldpc_settings();

/// Outputs without data are not computed.
struct sparse_ldpc_output {
  view<std::uint8_t> bits = {};        // [batch, k] information bits, LLR < 0; or [batch, n] all columns of H
  view<float> soft = {};               // [batch, k] or [batch, n] a-posteriori LLRs
  view<float> extrinsic = {};          // [batch, sent] a-posteriori minus channel LLR
  view<std::int32_t> iterations = {};  // [batch] iterations done
  view<std::uint8_t> status = {};      // [batch] status_erased, status_insufficient, status_stopped: at the
                                       // end all checks hold, also without early_stop
  view<std::int32_t> undecided = {};   // [batch] information bits whose a-posteriori LLR is 0
};

/// Decodes batches of codewords of any sparse code.
///
/// Input LLRs are [batch, sent], float32 or integers with a scale (format.hpp). They are limited to +-1e30. A
/// codeword with a NaN or infinite LLR is an erasure: its outputs are zero and its status says so; its
/// neighbours are untouched. So is one with fewer than k LLRs that are not 0, with status_insufficient.
///
/// An a-posteriori LLR of 0 decides 0, but the bit counts as undecided: a check with such a bit does not
/// hold. So a codeword of which bits are still erased does not stop. A column without ones keeps its channel
/// LLR. A row without ones holds unless its syndrome bit is 1, and then no codeword stops. A row with a
/// single one determines its bit, with an LLR of up to +-1e30.
///
/// Sum-product is exact except for rounding, if at most one other magnitude of a check exceeds 40. A larger
/// message lies between m - ln(weight - 1) and m, for the least other magnitude m. Outputs are finite for
/// finite LLRs of any size.
///
/// CPU and CUDA, any instruction set, batch size and number of threads give the same bits.
///
/// Cost: an iteration reads and writes each message once. On a CPU each lane has a codeword. The lanes of an
/// instruction iterate until the slowest codeword stops. A codeword uses 4 (2 n + ones) bytes, with flooding
/// 4 (3 n + ones). On a GPU a block of threads has a codeword, in shared memory if that is large enough.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class sparse_ldpc_decoder {
 public:
  /// Throws argument_error.
  explicit sparse_ldpc_decoder(const parity_check_matrix& matrix, const sparse_ldpc_config& config = {});
  /// Queues the decoding of a batch on the executor. `syndrome`: [batch, checks] of 0 or 1, of which the
  /// lowest bit counts; without data zeros. The view of LLRs may have item_stride 0: the same priors for each
  /// item. Throws shape_error.
  void run(executor& exec, const llr_batch& llr, const sparse_ldpc_output& out,
           view<const std::uint8_t> syndrome = {}) const;

  const parity_check_matrix& matrix() const noexcept { return matrix_; }
  const sparse_ldpc_config& config() const noexcept { return config_; }
  /// Layers of rows in an iteration; 1 with flooding.
  int layers() const noexcept { return fixed_.layers; }

 private:
  parity_check_matrix matrix_;
  sparse_ldpc_config config_;
  sparse_ldpc_args fixed_;  // without data
  resident<std::int32_t> sent_, shortened_, information_, layer_firsts_, place_columns_, column_places_;
  resident<sparse_ldpc_row> rows_;
  resident<ldpc_correction> corrections_;  // may be empty
  float_llrs floats_;
};

/// Encodes batches of blocks: bits [batch, k] of 0 or 1 (only the lowest bit counts) to coded [batch, >=
/// sent]: the sent columns in order, then zeros. The information bits are those of
/// parity_check_matrix::information_columns.
///
/// Cost: a parity bit that elimination found in its phase 1 is the sum of the other bits of its row. The
/// others, p of them, are sums of all information bits: p k / 8 bytes of memory, and p k / 32 operations a
/// codeword in each lane. Accumulators, as of DVB-S2, have p = 0: their time is linear in n. On a GPU the
/// threads of a block share the sums of an accumulator. Parity bits that wait for others in another way cost
/// a barrier for each step.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class sparse_ldpc_encoder {
 public:
  /// Throws argument_error for a matrix with p k > 2^31.
  explicit sparse_ldpc_encoder(const parity_check_matrix& matrix);
  /// Throws shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const;
  const parity_check_matrix& matrix() const noexcept { return matrix_; }

 private:
  parity_check_matrix matrix_;
  sparse_ldpc_encode_args fixed_;  // without data
  resident<std::uint32_t> parity_;
  resident<std::int32_t> parity_columns_, information_, sent_, first_, summed_;
  resident<sparse_ldpc_step> steps_;
};

}  // namespace wb
