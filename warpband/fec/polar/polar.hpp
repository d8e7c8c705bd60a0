#pragma once
// Encoder and decoder of the polar codes of polar_code.hpp.
//
// Model: d = u F^(x)n is sent; the decoder gets LLRs ln P(0)/P(1) of d. It is a successive-cancellation list
// (SCL) decoder with L paths [1] on LLRs [2]. A node of the decoding tree with the LLRs (a, b) gives its
// children
//   left    f(a, b) = sign(a) sign(b) min(|a|, |b|)
//   right   g(a, b) = b + (1 - 2 u) a
// where u are the partial sums of the left child. The path metric grows by |LLR| for each bit that is decided
// against its LLR. The L paths of the smallest metrics stay. The result is CRC-aided: the path of the
// smallest metric whose CRC holds. If there is none, it is the path of the smallest metric. L = 1 is
// successive cancellation [3].
//
// Rate-0, rate-1, repetition and single-parity-check (SPC) nodes are decided at once [4, 5]. Except for
// rounding the list is the one of bit-by-bit decoding. Cost: O(L N log N) operations less those of such
// nodes.
//
// [1] I. Tal, A. Vardy, "List decoding of polar codes", IEEE Trans. Inf. Theory, 2015.
// [2] A. Balatsoukas-Stimming, M. Bastani Parizi, A. Burg, "LLR-based successive cancellation list decoding
//     of polar codes", IEEE Trans. Signal Process., 2015.
// [3] E. Arikan, "Channel polarization", IEEE Trans. Inf. Theory, 2009.
// [4] G. Sarkis et al., "Fast polar decoders", IEEE J. Sel. Areas Commun., 2014.
// [5] S. A. Hashemi, C. Condo, W. J. Gross, "Fast and flexible successive-cancellation list decoders for
//     polar codes", IEEE Trans. Signal Process., 2017.
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/format/format.hpp>
#include <warpband/fec/polar/polar_args.hpp>
#include <warpband/fec/polar/polar_code.hpp>
#include <warpband/fec/quantise/quantise.hpp>

namespace wb {

/// Encodes batches of messages: bits [batch, A] to coded [batch, >= E]. Only the lowest bit of an element
/// counts. Elements after the first E become zeros. CPU and CUDA, all instruction sets, batch sizes and
/// numbers of threads give the same bits. Threads: any number may call one object at once, each with an
/// executor of its own.
class polar_encoder {
 public:
  /// Throws argument_error.
  explicit polar_encoder(const polar_config& config) : polar_encoder(polar_code(config)) {}
  /// Of a code that was constructed before.
  explicit polar_encoder(const polar_code& code);
  /// Queues a batch. Throws shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const;
  const polar_code& code() const noexcept { return code_; }

 private:
  struct tables {
    polar_shape shape;
    resident<std::int32_t> information_set, crc_weights, coded_index, c_index, parity_checks;
  };
  polar_code code_;
  std::vector<tables> tables_;  // one per code block
};

enum class polar_algorithm {
  /// f and path metrics as above.
  min_sum,
  /// f(a, b) = 2 artanh(tanh(a / 2) tanh(b / 2)). Each bit adds ln(1 + e^x) to the path metric, with
  /// x = |LLR| if it is decided against its LLR, else -|LLR|. Logarithms are within 0.013. LLRs must be to
  /// scale.
  sum_product,
};

/// Number format of LLRs and path metrics inside the decoder, whatever that of its input is.
enum class polar_precision {
  float32,
  /// 16-bit integers, min-sum. LLRs are in steps (llr_steps): channel LLRs are limited to +-1023 steps, stage
  /// LLRs to +-16382. A vector of a CPU holds twice as many.
  int16,
  /// The same 16-bit integers, with LLRs limited to +-127 steps everywhere.
  int8,
};

struct polar_decoder_config {
  polar_algorithm algorithm = polar_algorithm::min_sum;
  /// L: 1, 2, 4, 8, 16 or 32 paths.
  int list_size = 8;
  /// Decode with one path first, and with L paths only if the CRC fails. Needs a CRC. (B. Li, H. Shen, D.
  /// Tse, "An adaptive successive cancellation list decoder for polar codes with cyclic redundancy check",
  /// IEEE Commun. Lett., 2012.)
  bool adaptive = false;
  /// With `adaptive`: between them decode with 2, 4, ... paths those whose CRC has failed so far, as in that
  /// paper.
  bool growing = false;
  polar_precision precision = polar_precision::float32;
  /// int16, int8: steps in an LLR of 1, 0.25..64. Absent: chosen for each message
  /// (fec/quantise/quantise.hpp).
  std::optional<float> llr_steps = {};
  bool operator==(const polar_decoder_config&) const = default;
};
/// Names, ranges and descriptions of the settings.
const std::vector<setting_of<polar_decoder_config>>& polar_decoder_settings();

struct polar_decoder_output {
  view<std::uint8_t> bits = {};  // [batch, A] the message
  /// [batch] status_erased, status_insufficient, status_stopped. The last one: the CRC holds, of both code
  /// blocks if there are two. A code without a CRC never sets it.
  view<std::uint8_t> status = {};
};

/// Throws argument_error for settings that polar_decoder does not allow.
void check(const polar_config& code, const polar_decoder_config& config);

/// Decodes batches of messages.
///
/// Input LLRs are [batch, E] in the order of sending, float32 or integers with a scale (format.hpp). They are
/// limited to +-1e30. LLRs of repeated bits are summed.
/// With two code blocks and an odd E the last LLR is ignored. A common factor of a power of two changes no
/// decision of min-sum.
///
/// Erasures have zero bits and status_erased; other messages are not affected:
/// - A message with a NaN or infinite LLR.
/// - With status_insufficient: fewer coded bits than message bits have an LLR other than 0.
/// - With status_insufficient: an all-zero message with a zero CRC, if too few LLRs support it. At least 7/8
///   of the coded bits must have an LLR other than 0 and above 1/4096 of the largest.
///
/// int16 and int8: an LLR of 0 steps counts as 0, and any other LLR supports an all-zero message. If
/// llr_steps is a number, LLRs must be to scale. Path metrics are relative to the list's smallest. Metrics of
/// 32767 / (2 L) steps and more compare as equal.
///
/// CPU and CUDA, all instruction sets, batch sizes and numbers of threads give the same bits.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class polar_decoder {
 public:
  /// Throws argument_error.
  polar_decoder(const polar_config& code, const polar_decoder_config& config)
      : polar_decoder(polar_code(code), config) {}
  /// Of a code that was constructed before.
  polar_decoder(const polar_code& code, const polar_decoder_config& config);
  /// Queues a batch. Outputs without data are not written. Throws shape_error.
  void run(executor& exec, const llr_batch& llr, const polar_decoder_output& out) const;
  const polar_code& code() const noexcept { return code_; }
  const polar_decoder_config& config() const noexcept { return config_; }

 private:
  /// Decodes with `list_size` paths. Messages with status_stopped in `prior_status` are kept; it may have no
  /// data.
  void decode(executor& exec, view<const float> llr, const llr_quanta& quanta,
              const polar_decoder_output& out, int list_size, view<const std::uint8_t> prior_status) const;
  struct tables {
    polar_decode_args args;  // without data
    resident<std::int32_t> information_set, crc_weights, program, received_begin, received_index;
  };
  polar_code code_;
  polar_decoder_config config_;
  std::vector<tables> tables_;  // one per code block
  llr_scale scale_;
  float_llrs floats_;
};

}  // namespace wb
