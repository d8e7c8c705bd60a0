#pragma once
// Codes of 1 to 11 bits of uplink control information (UCI) in 5G NR: 3GPP TS 38.212 §5.3.3.
//
//   k = 1     the bit
//   k = 2     the two bits and their sum
//   3..11     a linear code of 32 bits, Table 5.3.3.3-1
//
// They are repeated, or cut, to E coded bits (§5.4.3). With k = 1 a symbol of m > 1 bits carries one coded
// bit and then y. With k = 2 a symbol of m > 2 bits carries two coded bits. Its other bits are x. These
// are placeholders: `short_block_x` is sent as 1, and `short_block_y` as the scrambled bit before it (TS
// 38.211 §6.3.1.1). With m up to k there are none.
//
// The decoder is exact maximum likelihood. It adds up the LLRs of a bit, and correlates the sums with all
// words. One fast Hadamard transform of 32 values correlates 64 words [1].
//
// [1] Y. Be'ery, J. Snyders, "Optimal soft decision block decoders based on fast Hadamard transform", IEEE
//     Trans. Inf. Theory, 1986.
#include <cstdint>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/format/format.hpp>
#include <warpband/fec/short_block/short_block_args.hpp>

namespace wb {

struct short_block_config {
  int k = 11;                // bits of a message, 1..11
  int coded_bits = 32;       // E, large enough that all messages differ, up to 16384
  int modulation_order = 2;  // m of k = 1 and 2: 1, 2, 4, 6, 8. It divides E
  bool operator==(const short_block_config&) const = default;
};
/// Names, ranges and descriptions of the settings.
const std::vector<setting_of<short_block_config>>& short_block_settings();
/// Throws argument_error for settings that are not allowed.
void check(const short_block_config& config);

/// Encodes batches of messages: bits [batch, k] to coded [batch, >= E], of which each is 0, 1, short_block_x
/// or short_block_y. Only the lowest bit of an element of `bits` counts. Elements behind the first E become
/// zeros.
///
///   wb::short_block_encoder encoder({.k = 4, .coded_bits = 48});
///   encoder.run(exec, bits, coded);
///
/// CPU and CUDA give the same bits. Threads: any number may call one object at once, each with an executor
/// of its own.
class short_block_encoder {
 public:
  /// Throws argument_error.
  explicit short_block_encoder(const short_block_config& config);
  /// Queues a batch. Throws shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const;
  const short_block_config& config() const noexcept { return config_; }

 private:
  short_block_config config_;
  resident<std::int32_t> rows_;
};

struct short_block_output {
  view<std::uint8_t> bits = {};  // [batch, k] the likeliest message
  /// [batch, 1] status_erased, with status_insufficient where two messages are equally likely.
  view<std::uint8_t> status = {};
  /// [batch, 1] ln(P / P2), P that of the message and P2 that of the next likeliest, if LLRs are to scale.
  view<float> margin = {};
  /// [batch, 1] the share of the LLRs' magnitude that agrees with the message, less the share that does not:
  /// 1 where every sign fits. It does not depend on the scale of LLRs, so a threshold on it tells a message
  /// from silence (DTX).
  view<float> agreement = {};
};

/// Decodes batches of messages from LLRs ln P(0)/P(1), [batch, E], float32 or integers with a scale
/// (format.hpp), limited to +-1e30. LLRs are of bits before scrambling. At a short_block_y the sign of the
/// scrambling is that of the place before. LLRs at a short_block_x are not read.
///
///   wb::short_block_decoder decoder({.k = 4, .coded_bits = 48});
///   decoder.run(exec, llr, {.bits = bits, .margin = margin});
///
/// A message with a NaN or infinite LLR is an erasure: all outputs except the status are zero. So is a
/// message for which two words are equally likely, as without any LLR other than 0.
///
/// CPU and CUDA give the same bits. Threads: any number may call one object at once, each with an executor
/// of its own.
class short_block_decoder {
 public:
  /// Throws argument_error.
  explicit short_block_decoder(const short_block_config& config);
  /// Queues a batch. Outputs without data are not written. Throws shape_error, argument_error ("llr_scale").
  void run(executor& exec, const llr_batch& llr, const short_block_output& out) const;
  const short_block_config& config() const noexcept { return config_; }

 private:
  short_block_config config_;
  short_block_decode_args args_;  // without data
  resident<std::int32_t> places_;
  float_llrs floats_;
};

}  // namespace wb
