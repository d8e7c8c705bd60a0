#pragma once
// LDPC codes: encoder and belief-propagation decoder for every quasi-cyclic code of ldpc_code.hpp.
//
// Decoder. With L = ln P(0)/P(1), A_v the a-posteriori LLR of bit v and R_cv the message of check c to it, a
// check takes q_v = A_v - R_cv from each of its bits and returns
//   sum-product         R_cv = 2 artanh prod_{u != v} tanh(q_u / 2)     (exact, computed on probabilities)
//   min-sum             R_cv = prod_{u != v} sign(q_u) * min_{u != v} |q_u|
//   normalised, offset  the same with the minimum m replaced by max(scale * m - offset, 0);
//                       `factors` or `offsets` have scale or offset for each iteration
// and A_v becomes q_v + R_cv. `layered` takes the block rows one after the other within an iteration, each
// with what those before it found (D. E. Hocevar, "A reduced complexity decoder architecture via layered
// decoding of LDPC codes", 2004); `flooding` computes all checks of an iteration from the A of the last one.
//
// Iterative receiver. Detector and decoder exchange extrinsic LLRs of all n coded bits: `extrinsic` of width
// n is A - L with L the channel LLR. The messages R are cleared at each call, or kept (`messages`):
//   layered   a call begins with A_v = L_v + sum_c R_cv of its new L and the kept R
//   flooding  the first checks take the kept q_v = A_v - R_cv; the new L enters where A is next summed up
// Example of outer iterations, with `detect` and `decoder` of the caller:
//   auto kept = exec.make_zeros<float>(batch, decoder.message_values());   // zeros: each codeword starts
//   for (int outer = 0; outer < 4; outer++) {
//     detect(prior, llr);                                      // llr, prior: [batch, n]
//     decoder.run(exec, llr, {.bits = bits, .extrinsic = prior, .messages = kept});
//   }
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/format/format.hpp>
#include <warpband/fec/ldpc/ldpc_args.hpp>
#include <warpband/fec/ldpc/ldpc_code.hpp>
#include <warpband/fec/quantise/quantise.hpp>

namespace wb {

enum class ldpc_algorithm { min_sum, normalised_min_sum, offset_min_sum, sum_product };
enum class ldpc_schedule { layered, flooding };
/// When a codeword leaves the iterations early.
enum class ldpc_early_stop {
  none,
  syndrome,  // after the first iteration whose decisions satisfy all checks
  crc,       // then, or once its CRC holds (ldpc_crc) and its bits are not all zeros, which satisfy every CRC
};
/// In what the messages are computed. LLRs go in and out as float32.
enum class ldpc_precision {
  float32,
  /// Half precision, for codes with at most 63 blocks in a column; on a GPU two codewords at once. A CPU
  /// computes the same bits, but slowly.
  float16,
  /// Fixed point, saturating at -128 and 127 steps (llr_steps); on a CPU the fastest.
  int8,
};

struct ldpc_decoder_config {
  ldpc_algorithm algorithm = ldpc_algorithm::normalised_min_sum;
  /// Factor of normalised min-sum, (0, 1]; with int8 a multiple of 1/8.
  float scale = 0.75f;
  /// Of offset min-sum, in units of LLRs, 0..8; with int8 rounded to its steps, four in an LLR of 1 where
  /// llr_steps is automatic.
  float offset = 0.5f;
  /// Iterations, 1..1000; the most where the decoder stops early.
  int iterations = 15;
  ldpc_schedule schedule = ldpc_schedule::layered;
  ldpc_precision precision = ldpc_precision::float32;      // sum-product takes float32 only
  ldpc_early_stop early_stop = ldpc_early_stop::syndrome;  // crc: of codewords with a CRC only
  /// int8: steps in an LLR of 1, 0.25..64. Finer steps clip earlier, so that the error rate rises again with
  /// the SNR. Absent: chosen for each codeword (fec/quantise/quantise.hpp).
  std::optional<float> llr_steps = {};
  /// In place of scale, a factor for each iteration, 0..1; with int8 multiples of 1/8. The last one holds for
  /// all further iterations. Every call begins with the first one.
  std::vector<double> factors = {};
  /// In place of offset, one for each iteration in the same way, 0..8.
  std::vector<double> offsets = {};
  bool operator==(const ldpc_decoder_config&) const = default;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<ldpc_decoder_config>>& ldpc_decoder_settings();
/// Which words of finite LLRs a decoder does not decode.
enum class ldpc_erasures {
  insufficient,  // those with fewer than k usable LLRs; and an all-zero word satisfies no CRC
  none,          // every word is decoded, and a CRC that holds is enough: what an accelerator does
};
/// The CRC that the first `bits` bits of a codeword end with; 0: all k.
struct ldpc_crc {
  crc_polynomial polynomial;
  int bits = 0;
};
inline std::optional<ldpc_crc> as_ldpc_crc(const std::optional<crc_polynomial>& crc, int bits = 0) {
  return crc ? std::optional<ldpc_crc>({*crc, bits}) : std::nullopt;
}
/// Throws argument_error for what a decoder of the code does not allow; has_crc: it is given an ldpc_crc.
void check(const ldpc_code& code, const ldpc_decoder_config& config, bool has_crc = false);

struct ldpc_decoder_output {
  view<std::uint8_t> bits = {};  // [batch, k] hard decisions of the systematic bits, LLR < 0; or [batch, n]
  view<float> soft = {};         // [batch, n] or [batch, k] a-posteriori LLRs
  view<float> extrinsic = {};    // [batch, n] or [batch, k] a-posteriori minus channel LLR
  /// [batch, message_values()] read and written, so that a call goes on where the last one ended; without
  /// data each call starts anew. See ldpc_decoder.
  view<float> messages = {};
  /// In place of `messages`, [batch, state_values()]: the same in a format of the decoder's own, a row's
  /// values side by side. With float16 it takes half the memory and far less time. Only decoders with the
  /// same settings of the same code go on from it, on any backend.
  view<float> state = {};
  /// Whether `messages` or `state` are read. Without, for the first call, every codeword starts.
  bool reads_messages = true;
  /// Whether they are written. Without, for the last call, they are only read.
  bool writes_messages = true;
  view<std::int32_t> iterations = {};  // [batch] iterations done
  view<std::uint8_t> status = {};  // [batch] status_erased, status_insufficient, status_stopped: at the end
                                   // all checks hold, also without early_stop, or the CRC that stops it
};

/// Decodes batches of codewords.
///
/// Input LLRs are [batch, n], float32 or integers with a scale (format.hpp); punctured bits are 0. They and
/// the messages are limited to +-1e30 (float32; what a sum-product check takes to +-30), +-1000 (float16), or
/// the LLRs to +-127 and the messages to +-42 steps (int8). A codeword with a NaN or infinite LLR is an
/// erasure: its outputs are zero and its status says so; its neighbours are untouched. A codeword with fewer
/// than k usable LLRs is also an erasure, with status_insufficient, unless ldpc_erasures::none is asked for.
/// An LLR is usable if it is not 0 in the decoder's number format.
///
/// `messages` has four parts for each codeword, in LLRs:
/// - the message to each bit of each check, [block][row]: the non-zero blocks of H in order of rows, then
///   columns, and z rows in each
/// - the n a-posteriori LLRs
/// - the n channel LLRs of the last call, limited as above
/// - the iterations done since the start; if this is 0 or less the codeword starts, and the rest is not read
///
/// Calls with a and b iterations on the same LLRs give the bits of one call with a + b, if none of the
/// codewords stops early and one factor or offset serves all iterations. Another decoder of the same code may
/// go on with them, with another schedule, algorithm or precision. A codeword that is an erasure leaves
/// zeros. A codeword with a NaN or infinite value in `messages` is an erasure. A codeword that stopped early
/// does one iteration or more in each further call.
///
/// The LLR of a bit may have changed since the last call. Its first a-posteriori LLR in layered order is then
/// the new LLR plus the kept messages. With float16 it is the kept a-posteriori LLR plus the difference of
/// the two LLRs, limited to +-32000.
///
/// Sum-product of a codeword of which more than a fourth of the LLRs are beyond +-20, or one is beyond
/// +-1000, is computed on LLRs, with ln(1 + e^-d) within 0.013: without the limit of +-30, and exact within
/// 0.5 + 0.001 |L| in the first iterations. A known bit, of an LLR of +-1e30 or beyond, alone changes
/// nothing.
///
/// Multiplying all LLRs by a power of two changes no decision of min-sum and normalised min-sum in float32,
/// as long as messages stay within their limit. An offset is in units of LLRs, float16 and int8 want LLRs to
/// scale.
///
/// CPU and CUDA, any instruction set, batch size and number of threads give the same bits.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class ldpc_decoder {
 public:
  /// `crc` is looked at for early_stop crc alone. Throws argument_error.
  ldpc_decoder(const ldpc_code& code, const ldpc_decoder_config& config,
               const std::optional<ldpc_crc>& crc = std::nullopt,
               ldpc_erasures erasures = ldpc_erasures::insufficient);
  /// Queues the decoding of a batch on the executor. Outputs without data are not computed. Throws
  /// shape_error, and argument_error for `state` beside `messages`, or whose values are not side by side.
  void run(executor& exec, const llr_batch& llr, const ldpc_decoder_output& out) const;

  /// Values of ldpc_decoder_output::messages for a codeword: a value for each edge, 2 n and 1.
  std::size_t message_values() const noexcept;
  /// Values of ldpc_decoder_output::state for a codeword.
  std::size_t state_values() const noexcept;

  const ldpc_code& code() const noexcept { return code_; }
  const ldpc_decoder_config& config() const noexcept { return config_; }

 private:
  ldpc_code code_;
  ldpc_decoder_config config_;
  ldpc_decode_args fixed_;  // without data
  resident<ldpc_edge> edges_;
  resident<ldpc_row> rows_;
  resident<ldpc_column> columns_;
  resident<std::int32_t> column_edges_, crc_weights_;  // the latter may be empty
  resident<std::uint32_t> addresses_;                  // may be empty
  resident<ldpc_correction> corrections_;              // may be empty
  /// ldpc_decode_args::reads by the number of values in a vector, each made when it is first needed.
  struct reads_by_vector;
  std::shared_ptr<reads_by_vector> reads_;
  llr_scale scale_;
  float_llrs floats_;
};

/// Encodes batches of blocks: bits [batch, k] of 0 or 1 (only the lowest bit counts) to coded [batch, >= n]:
/// the k bits, the parity bits, then zeros. Time is linear in the number of edges where the inverse of the
/// core is sparse, as in 802.16e, 802.11n and TS 38.212.
///
/// The parity part of H must be triangular but for a core: up to four of its block columns are solved for by
/// the inverse of a core matrix, the others follow one by one. A code without that structure, or with a
/// singular core, is refused with an argument_error that names row and column; it can still be decoded.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class ldpc_encoder {
 public:
  explicit ldpc_encoder(const ldpc_code& code);
  /// Throws shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const;
  int k() const noexcept { return k_; }
  int n() const noexcept { return n_; }
  /// For ops that encode on their own.
  ldpc_encode_tables tables_on(executor& exec) const;

 private:
  int k_, n_, z_, blocks_;
  resident<ldpc_sum> sums_;
  resident<ldpc_term> terms_;
};

}  // namespace wb
