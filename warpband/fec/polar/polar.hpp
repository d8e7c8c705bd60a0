#pragma once
// Encoder and decoder of the polar codes of polar_code.hpp.
//
// The decoder is successive cancellation of a list of L paths (I. Tal, A. Vardy, "List decoding of polar
// codes", IEEE Trans. Inf. Theory, 2015), on LLRs L = ln P(0)/P(1) (A. Balatsoukas-Stimming, M. Bastani
// Parizi, A. Burg, "LLR-based successive cancellation list decoding of polar codes", IEEE Trans. Signal
// Process., 2015). A node of the code's tree gives its children
//   left    f(a, b) = sign(a) sign(b) min(|a|, |b|)
//   right   g(a, b) = b + (1 - 2 u) a, with u the left child's coded bit
// and a path's metric grows by |L| for each bit that it decides against its LLR L. The L paths of the
// smallest metrics stay. Of those at the end the likeliest whose CRC holds is the result; where none does,
// the likeliest of all. L = 1 is successive cancellation (E. Arikan, 2009).
//
// Nodes whose bits are all frozen, all information, all the same, or of even parity are decided at once
// (G. Sarkis et al., "Fast polar decoders", IEEE J. Sel. Areas Commun., 2014; for lists S. A. Hashemi, C.
// Condo, W. J. Gross, "Fast and flexible successive-cancellation list decoders for polar codes", IEEE Trans.
// Signal Process., 2017). The list is the same as bit by bit, but for rounding.
#include <cstdint>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/polar/polar_args.hpp>
#include <warpband/fec/polar/polar_code.hpp>
#include <warpband/fec/quantise/quantise.hpp>

namespace wb {

/// Encodes batches of messages: bits [batch, A] of 0 or 1 (only the lowest bit counts) to coded [batch, >=
/// E], zeros behind the first E. CPU and CUDA, any instruction set, batch size and number of threads give the
/// same bits.
/// Threads: any number may call one object at once, each with an executor of its own.
class polar_encoder {
 public:
  /// Throws argument_error.
  explicit polar_encoder(const polar_config& config);
  /// Queues a batch. Throws shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const;
  const polar_code& code() const noexcept { return code_; }

 private:
  struct tables {
    polar_shape shape;
    resident<std::int32_t> place, crc_weights, sent, carries, parity_checks;
  };
  polar_code code_;
  std::vector<tables> tables_;  // of each code block
};

enum class polar_algorithm {
  /// f and metrics as above.
  min_sum,
  /// f(a, b) = 2 artanh(tanh(a / 2) tanh(b / 2)), and a penalty ln(1 + e^|L|) or ln(1 + e^-|L|) for each bit,
  /// each logarithm within 0.013. LLRs must be to scale.
  sum_product,
};

/// In what LLRs and metrics are computed. LLRs go in as float32.
enum class polar_precision {
  float32,
  /// Integers of 16 bits, min-sum: LLRs in steps (llr_steps), received ones limited to +-1023 steps, those in
  /// the tree to +-16382. Twice as many in a vector of a CPU.
  int16,
  /// The same with LLRs limited to +-127 steps everywhere.
  int8,
};

struct polar_decoder_config {
  polar_algorithm algorithm = polar_algorithm::min_sum;
  /// L, paths: 1, 2, 4, 8, 16 or 32.
  int list_size = 8;
  /// Decode with one path first, and with L only where the CRC then fails (B. Li, H. Shen, D. Tse, "An
  /// adaptive successive cancellation list decoder for polar codes with cyclic redundancy check", IEEE
  /// Commun. Lett., 2012). Needs a CRC.
  bool adaptive = false;
  polar_precision precision = polar_precision::float32;
  /// int16, int8: steps in an LLR of 1, 0.25..64. automatic_steps chooses the number for
  /// each message (fec/quantise/quantise.hpp).
  float llr_steps = automatic_steps;
  bool operator==(const polar_decoder_config&) const = default;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<polar_decoder_config>>& polar_decoder_settings();

struct polar_decoder_output {
  view<std::uint8_t> bits = {};  // [batch, A] the message
  /// [batch] status_erased, status_insufficient, status_stopped: the CRC holds (of both code blocks where
  /// there are two). A code without a CRC never says so.
  view<std::uint8_t> status = {};
};

/// Throws argument_error for what polar_decoder does not allow.
void check(const polar_config& code, const polar_decoder_config& config);

/// Decodes batches of messages.
///
/// Input LLRs are [batch, E] in the order in which the bits are sent, limited to +-1e30; those of a bit that
/// is sent several times add up. With two code blocks and an odd E the last LLR is ignored.
/// Multiplying all of them by a power of two changes no decision of min-sum. A message with a NaN or infinite
/// LLR is an erasure: its bits are zero and its status says so; its neighbours are untouched. So is one, with
/// status_insufficient, where fewer coded bits have an LLR that is not 0 than the message has bits, and one
/// that is decided as all zeros, whose CRC is zero too, where an eighth of the coded bits or more have LLRs
/// of 0 or below 1/4096 of the largest.
///
/// With int16 and int8 an LLR that is 0 in steps tells nothing: such LLRs are not usable, and those that are
/// not 0 support an all-zero word. With llr_steps LLRs must be to scale. Metrics are those above the smallest
/// of the list: paths that are 32767 / (2 L) steps above it are as good as lost.
///
/// CPU and CUDA, any instruction set, batch size and number of threads give the same bits.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class polar_decoder {
 public:
  /// Throws argument_error.
  polar_decoder(const polar_config& code, const polar_decoder_config& config);
  /// Queues a batch. Outputs without data are not computed. Throws shape_error.
  void run(executor& exec, view<const float> llr, const polar_decoder_output& out) const;
  const polar_code& code() const noexcept { return code_; }
  const polar_decoder_config& config() const noexcept { return config_; }

 private:
  /// With `list_size` paths what is not settled, where `settled` has data.
  void decode(executor& exec, view<const float> llr, const llr_quanta& quanta,
              const polar_decoder_output& out, int list_size, view<const std::uint8_t> settled) const;
  struct tables {
    polar_decode_args fixed;  // without data
    resident<std::int32_t> place, crc_weights, program, first, received;
  };
  polar_code code_;
  polar_decoder_config config_;
  std::vector<tables> tables_;  // of each code block
  llr_scale scale_;
};

}  // namespace wb
