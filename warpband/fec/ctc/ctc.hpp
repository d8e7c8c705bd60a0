#pragma once
// Encoder and iterative MAP decoder of convolutional turbo codes (CTC) over couples of bits: IEEE 802.16
// §8.4.9.2.3 and DVB-RCS, ETSI EN 301 790 §8.5.2. ctc_code.hpp has the codes.
//
// Decoder: two MAP decoders exchange extrinsic weights of symbols, three ratios of the four values u of a
// couple (A, B). With alpha and beta over the 8 states, and gamma of the step's LLRs:
//
//   alpha_{i+1}(s') = sum over s, u of alpha_i(s) gamma_i(s, u)
//   beta_i(s)       = sum over u of gamma_i(s, u) beta_{i+1}(s')
//   extrinsic_i(u)  = sum over s of alpha_i(s) gamma'_i(s, u) beta_{i+1}(s')
//
// gamma' is gamma without the couple's own LLRs and its a-priori weight.
// The trellis is a circle. A recursion starts with metrics of the previous iteration, in the first one with
// equal ones, `overlap` steps before the steps whose output it gives.
//
// When to use. For WiMAX and DVB-RCS. log_map is exact. max_log_map with a scale of 0.75 loses 0.02
// to 0.1 dB (docs/ctc.md).
//
// Cost: for each couple and half-iteration three passes (alpha, beta, output) over 32 branches. Source: C.
// Berrou, C. Douillard, M. Jezequel, "Multiple parallel concatenation of circular recursive systematic
// convolutional codes", 1999.
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/ctc/ctc_args.hpp>
#include <warpband/fec/ctc/ctc_code.hpp>
#include <warpband/fec/format/format.hpp>

namespace wb {

struct ctc_decoder_config {
  map_algorithm algorithm = map_algorithm::log_map;
  /// Full iterations, 1..64.
  int iterations = 8;
  /// Parallel windows, 1..N/8; absent: windows of about 32 couples, which with the overlap of 16 lose less
  /// than 0.01 dB at rate 1/2 (docs/ctc.md).
  std::optional<int> windows = {};
  /// Couples by which a window's recursions start early, on the circle: 0..N/windows - 1; absent: 16, or what
  /// the windows allow. 0 relies on metrics of the previous iteration alone.
  std::optional<int> overlap = {};
  /// Factor on extrinsics of max-log-MAP, (0, 1]; 0.75 is usual. The others take 1 only. Those of the last
  /// iteration are not scaled.
  float extrinsic_scale = 1.f;
  ctc_early_stop early_stop = ctc_early_stop::none;
  bool operator==(const ctc_decoder_config&) const = default;
};
/// The configuration with windows and overlap chosen. Throws argument_error.
ctc_decoder_config completed(const ctc_config& code, const ctc_decoder_config& config);
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<ctc_decoder_config>>& ctc_decoder_settings();

struct ctc_decoder_output {
  view<std::uint8_t> bits = {};        // [batch, k] hard decisions, LLR < 0
  view<float> soft = {};               // [batch, k] a-posteriori LLRs
  view<float> coded_extrinsic = {};    // [batch, n] extrinsic LLRs of the bits that were sent
  view<std::int32_t> iterations = {};  // [batch] iterations done
  view<std::uint8_t> status = {};      // [batch] status_erased, status_insufficient, status_stopped
};

/// Decodes batches of codewords.
///
/// Input LLRs are [batch, n], ln P(0)/P(1), in the order of ctc_sent_places: float32, or integers with a
/// scale (format.hpp). They are limited to +-30 (log-MAP) or +-2^26 (max-log-MAP, log-MAP by table). In
/// log-MAP a state metric and the extrinsic weight of a symbol are at least 2^-30 of the largest, and outputs
/// are limited to +-60. A codeword with a NaN or infinite LLR is an erasure: its outputs are zero and its
/// status says so; its neighbours are untouched. A codeword with fewer than k usable LLRs is also an erasure,
/// with status_insufficient. An LLR is usable if it is not 0 in the decoder's number format.
///
/// `coded_extrinsic` has the extrinsic LLR of each sent bit, in the order of the input. For an information
/// bit it is the sum of both decoders. For a parity bit it comes from its own decoder, with the a-priori
/// weights of the other. In log-MAP those of information bits are limited to +-60 and those of parity bits
/// to about +-20. In an iterative receiver they are the priors of the detector:
///   decoder.run(exec, llr, {.bits = bits, .coded_extrinsic = prior});   // llr, prior: [batch, n]
/// It costs about an iteration more.
///
/// Log-MAP decodes a codeword on LLRs, with ln(1 + e^-d) within 0.013, if more than a fourth of its LLRs are
/// beyond +-11, or one beyond +-1000: so LLRs may have any larger scale. Multiplying all LLRs by a power of
/// two changes no decision of max-log-MAP.
///
/// Any instruction set, batch size and number of threads, and CUDA, give the same bits.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class ctc_decoder {
 public:
  /// Throws argument_error.
  ctc_decoder(const ctc_config& code, const ctc_decoder_config& config);

  /// Queues the decoding of a batch on the executor. Outputs without data are not computed. Throws
  /// shape_error.
  void run(executor& exec, const llr_batch& llr, const ctc_decoder_output& out) const;

  const ctc_config& code() const noexcept { return code_; }
  std::size_t k() const noexcept { return static_cast<std::size_t>(code_.k); }
  std::size_t n() const noexcept { return static_cast<std::size_t>(ctc_sent_bits(code_)); }
  /// The configuration in force: windows and overlap as chosen.
  const ctc_decoder_config& config() const noexcept { return config_; }
  /// An LLR up to this magnitude is 0 in the decoder's numbers.
  float least_llr() const noexcept;

 private:
  ctc_config code_;
  ctc_decoder_config config_;
  resident<std::int32_t> received_, interleaved_;
  float_llrs floats_;
};

/// Encodes batches of blocks: bits [batch, k] of 0 or 1 (only the lowest bit counts) to coded [batch, >= n],
/// in the order of ctc_sent_places, then zeros.
/// Threads: any number may call one object at once, each with an executor of its own.
class ctc_encoder {
 public:
  /// Throws argument_error.
  explicit ctc_encoder(const ctc_config& code);
  /// Throws shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const;
  const ctc_config& code() const noexcept { return code_; }
  std::size_t k() const noexcept { return static_cast<std::size_t>(code_.k); }
  std::size_t n() const noexcept { return static_cast<std::size_t>(ctc_sent_bits(code_)); }

 private:
  ctc_config code_;
  resident<std::int32_t> received_, permutation_;
};

}  // namespace wb
