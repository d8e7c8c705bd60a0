#pragma once
// The turbo code of LTE: encoder and iterative MAP decoder (3GPP TS 36.212 §5.1.3.2; wu2010 ch. 3.3 and 5).
//
// Encoder: two 8-state recursive systematic encoders, g0 = 13 and g1 = 15 (octal), the second behind an
// interleaver, each terminated by three bits. Rate k / (3 k + 12).
//
// Decoder: two MAP decoders exchange extrinsic LLRs. L is ln P(0)/P(1), and the a-priori LLR of the other
// decoder is added to the systematic LLR. Each computes alpha and beta over its trellis (wu2010
// eqs 3.12-3.14) and
//   extrinsic_k = ln sum_{u=0} alpha gamma beta - ln sum_{u=1} alpha gamma beta   without the bit's own LLR.
// A codeword is cut into `windows` that are decoded at once; see `windows` and `overlap` below.
//
// When to use. For LTE. bfloat16 is the fastest log-MAP on a GPU. int16 is max-log-MAP: faster still
// (docs/performance.md), with a loss of 0.13 dB more (docs/wu2010.md). float32 has extrinsic LLRs of coded
// bits.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/quantise/quantise.hpp>
#include <warpband/fec/trellis/map_algorithm.hpp>
#include <warpband/fec/turbo/turbo_args.hpp>

namespace wb {

enum class turbo_precision : int {
  float32,
  bfloat16,  // float32 metrics, weights kept in bfloat16: several times faster, decisions only
  int16,     // max-log-MAP on 8-bit channel LLRs: the fastest, decisions only
};

struct turbo_decoder_config {
  /// Information bits of a codeword. One of the 188 sizes of table 5.1.3-3, or 40..65536 with an own
  /// permutation, as that of UMTS (fec/umts/interleaver.hpp).
  int k = 6144;
  /// log_map_table: float32 only. It loses less than 0.01 dB (docs/algorithms/turbo.md).
  map_algorithm algorithm = map_algorithm::log_map;
  /// Full iterations, 1..64.
  int iterations = 6;
  /// Parallel windows P, 1..k/8; absent: windows of about 32 steps, above rate 0.7 of 4/3 of the overlap.
  /// More windows, more parallelism and less accuracy at the borders.
  std::optional<int> windows = {};
  /// Steps by which a window's recursions start early, in its neighbours: 0..k/windows - 1; absent:
  /// max(24, 10 R / (1 - R)) with R = code_rate, or what the windows allow. 0 relies on border metrics of the
  /// previous iteration alone. Windows and overlap of the automatic choice lose at most 0.05 dB against one
  /// window (docs/lte.md).
  std::optional<int> overlap = {};
  /// Information bits over received LLRs, those that are not 0; above 0, up to 1. Fillers count as neither.
  /// The automatic choice alone needs it: the fewer parity bits are received, the longer a warm-up must be.
  /// A rate that is too low costs error rate, one that is too high speed.
  float code_rate = 1.f / 3;
  /// Factor on extrinsics, (0, 1]; 0.75 is usual for max-log-MAP and wins most of its loss back. log-MAP
  /// takes 1 only. The extrinsics of the last of `iterations` are not scaled; a codeword that stops earlier
  /// has scaled ones.
  float extrinsic_scale = 1.f;
  turbo_early_stop early_stop = turbo_early_stop::none;
  /// Stop rule crc: the generator with its leading term and its degree (see crc.hpp).
  std::uint32_t crc_polynomial = 0;
  int crc_degree = 0;
  /// Stop rule crc: an all-zero word, which satisfies every CRC, is an erasure unless 7/8 of its systematic
  /// LLRs support it: are neither 0 nor below 1/4096 of the largest. false: the caller judges such words.
  bool doubts_zeros = true;
  /// No stop rule ends a codeword before so many iterations, 1..iterations.
  int least_iterations = 1;
  /// bfloat16 and int16: the stop rule is none or crc, and there is no soft or extrinsic output. k is at most
  /// 32768. windows is a power of two up to 128 that divides k; absent: as many, up to 64, as leave them 64
  /// steps or 4/3 of the overlap. overlap is in whole eights; absent: max(8, 10 R / (1 - R)), rounded.
  /// Bits whose numbers agree modulo k / n must be interleaved to such again, for every n that divides
  /// windows: every QPP does that; for another permutation absent windows are 1. int16 in addition:
  /// max_log_map; extrinsic_scale a multiple of 1/8.
  turbo_precision precision = turbo_precision::float32;
  /// int16: float LLRs become integers of +-127 steps, llr_steps for an LLR of 1, 0.25..64; extrinsics are
  /// limited to +-1023 steps. Absent: chosen for each codeword (fec/quantise/quantise.hpp). bfloat16 takes a
  /// caller's integers as steps of 1 / llr_steps, of 1/8 where it is absent.
  std::optional<float> llr_steps = {};
  bool operator==(const turbo_decoder_config&) const = default;
};
/// The configuration with the usual factor on extrinsics: 0.75 for max-log-MAP, 1 for log-MAP.
inline turbo_decoder_config with_usual_scale(turbo_decoder_config c) {
  c.extrinsic_scale = c.algorithm == map_algorithm::max_log_map ? 0.75f : 1.f;
  return c;
}
/// The configuration with windows and overlap chosen. Throws argument_error for what a decoder does not
/// allow, with the interleaver of table 5.1.3-3 or with one's own.
turbo_decoder_config completed(const turbo_decoder_config& config);
turbo_decoder_config completed(const turbo_decoder_config& config,
                               const std::vector<std::int32_t>& permutation);
/// Its settings: names, what is allowed, what they mean. k and the CRC are the code's.
const std::vector<setting_of<turbo_decoder_config>>& turbo_decoder_settings();
/// code_rate, of LLRs that come from elsewhere: a link knows what it sends.
const setting_of<turbo_decoder_config>& turbo_code_rate_setting();

struct turbo_decoder_output {
  view<std::uint8_t> bits = {};        // [batch, k] hard decisions, LLR < 0
  view<float> soft = {};               // [batch, k] a-posteriori LLRs
  view<float> extrinsic = {};          // [batch, k] a-posteriori minus channel LLR
  view<float> coded_extrinsic = {};    // [batch, 3 (k + 4)] the same of all coded bits, as they came in
  view<std::int32_t> iterations = {};  // [batch] iterations done
  view<std::uint8_t> status = {};      // [batch] status_erased, status_insufficient, status_stopped
};

/// Decodes batches of codewords.
///
/// Input LLRs are [batch, 3 (k + 4)]: the streams d0, d1, d2 one after the other, each with its four tail
/// places. They are limited to +-30 (log-MAP), +-11 (log-MAP in bfloat16), +-2^26 = 6.7e7 (max-log-MAP and
/// log-MAP by table) or +-127 steps (int16). In log-MAP extrinsics are limited to +-30, in bfloat16 to +-18,
/// outputs to +-60, and a state metric to 2^-30 of the largest. A codeword with a NaN or infinite LLR is an
/// erasure: its outputs are zero and its status says so; its neighbours are untouched. A codeword
/// with fewer than k usable LLRs is also an erasure, with status_insufficient. An LLR is usable if it is not
/// 0 in the decoder's number format.
///
/// `coded_extrinsic` has the extrinsic LLRs of all coded bits in the order of the input: d0, d1, d2, each
/// with its tail places. Those of the information bits are `extrinsic`. Those of parity and tail bits are
/// what the bit's own constituent decoder says without the bit's LLR. Its a-priori LLRs are the last ones of
/// the other decoder: one half-iteration more for each, so that a call takes the time of one iteration more.
/// In log-MAP they are limited to +-30, those of information bits to +-60. float32 only. In an iterative
/// receiver they are the priors of the detector:
///   decoder.run(exec, llr, {.bits = bits, .coded_extrinsic = prior});   // llr, prior: [batch, 3 (k + 4)]
/// Each call starts with extrinsics of 0 between the two decoders: nothing is kept from the call before.
///
/// Log-MAP decodes a codeword on LLRs, with ln(1 + e^-d) within 0.013, if more than a fourth of its LLRs are
/// beyond +-11, or one beyond +-1000. Such LLRs come from too large a scale, or from a high code rate or SNR.
/// Then it has the limits of max-log-MAP, and takes longer (docs/algorithms/turbo.md). So log-MAP is that of
/// double precision for LLRs of any larger scale: in soft output within 1 + 0.002 |L| in the first
/// iterations; later ones of a codeword that does not converge part further. A known bit, of an LLR of +-1e30
/// or beyond, counts as +-30 unless other LLRs are large. LLRs that are many times too small lose what is
/// below the rounding of probabilities, 1e-7 (docs/algorithms/turbo.md).
///
/// Multiplying all LLRs by a power of two changes no decision of max-log-MAP in float32 and bfloat16.
///
/// CPU and CUDA, any instruction set, batch size and number of threads give the same bits.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class turbo_decoder {
 public:
  /// With the QPP interleaver of table 5.1.3-3 for config.k. Throws argument_error.
  explicit turbo_decoder(const turbo_decoder_config& config);
  /// With an interleaver of the caller's: bit permutation[i] of the block is bit i into the second encoder.
  turbo_decoder(const turbo_decoder_config& config, std::vector<std::int32_t> permutation);

  /// Queues the decoding of a batch on the executor. Outputs without data are not computed. Throws
  /// shape_error.
  void run(executor& exec, view<const float> llr, const turbo_decoder_output& out) const;
  /// LLRs as integers, which int16 takes as they are, -128 as -127. Throws argument_error with precision
  /// float32.
  void run(executor& exec, view<const std::int8_t> llr, const turbo_decoder_output& out) const;

  /// The configuration in force: windows and overlap as chosen.
  const turbo_decoder_config& config() const noexcept { return config_; }
  /// An LLR up to this magnitude says nothing in the decoder's numbers.
  float least_llr() const noexcept;

 private:
  turbo_decoder_config config_;
  int pad_ = 0;
  resident<std::int32_t> interleaved_, crc_weights_;
  /// Of precisions bfloat16 and int16: the tables by the lanes of a vector, each made when it is first
  /// needed.
  struct windows_tables;
  std::shared_ptr<windows_tables> tables_;
  llr_scale scale_;

  void run_windows(executor& exec, turbo_windows_args& a, std::size_t items,
                   const turbo_decoder_output& out) const;
};

/// Encodes batches of blocks: bits [batch, k] of 0 or 1 (only the lowest bit counts) to coded [batch, n] with
/// n >= 3 (k + 4): d0, d1, d2, then zeros.
/// Threads: any number may call one object at once, each with an executor of its own.
class turbo_encoder {
 public:
  explicit turbo_encoder(int k);
  explicit turbo_encoder(std::vector<std::int32_t> permutation);
  void run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const;
  int k() const noexcept { return static_cast<int>(permutation_.host().size()); }

 private:
  resident<std::int32_t> permutation_;
};

}  // namespace wb
