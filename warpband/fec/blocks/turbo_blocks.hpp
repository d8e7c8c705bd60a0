#pragma once
// Code blocks of LTE as an accelerator takes them, each with a description of its own: turbo decoder behind
// the circular buffer, encoder with CRC and rate matching (3GPP TS 36.212 §5.1.1, §5.1.3.2, §5.1.4.1).
#include <memory>
#include <optional>
#include <span>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/blocks/block_llrs.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/turbo/turbo.hpp>

namespace wb {

/// How the 3 K_pi LLRs of a block lie, K_pi = 32 ceil((K + 4) / 32), NULLs included.
enum class turbo_order {
  circular_buffer,  // w_k of §5.1.4.1.2, behind the sub-block interleaver
  streams,          // d0, d1, d2, each of K_pi places with its tail at K..K+3
};
struct turbo_decode_block {
  int k = 6144;         // one of the 188 sizes
  block_llrs llr = {};  // 3 K_pi, received transmissions already added up; NULLs are not read
  turbo_order order = turbo_order::circular_buffer;
  int least_iterations = 1, iterations = 8;  // 1..64
  /// Once the CRC holds. Without a CRC once both constituent decoders agree on every bit, in float32 alone:
  /// int16 and bfloat16 then do all iterations.
  bool early_stop = true;
  std::optional<crc_polynomial> crc = {};  // what the K bits end with
  bool drop_crc = false;
  packed_bits bits = {};  // K bits, less the CRC where it is dropped
  /// 3 (K + 4) a-posteriori LLRs in steps of 2^-llr.decimals, limited to +-127: d0, d1, d2 of each step, with
  /// the signs of the codeword of the decided bits. Null: not wanted. It takes a decoder in float32, on a CPU
  /// many times slower.
  std::int8_t* soft = nullptr;
  std::size_t soft_length = 0;
  bool negative_soft = false;  // ln P(1)/P(0) instead
};

/// Blocks of one batch may differ. Those of equal size, CRC, iterations and nearly equal code rate are
/// decoded together. CPU and CUDA, any instruction set, batch and order give the same bits, iterations and
/// soft values.
///
/// The code rate is K over the LLRs that are not 0, rounded up to a twentieth. Windows and overlap of the
/// decoder are chosen for it, unless the configuration has some.
///
/// A block whose bits satisfy the CRC is a success, also with all bits zero. A block with fewer than K LLRs
/// that are not 0 is not decoded: its bits and soft values are 0, its iterations too, and its status is
/// block_crc, or block_syndrome without a CRC.
///
///   turbo_block_decoder decoder;
///   decoder.start(exec, blocks);     // reads the LLRs, queues
///   decoder.finish(results);         // waits, writes bits and soft values
///
/// On a CPU start() decodes, and finish() copies.
///
/// Threads: one at a time.
class turbo_block_decoder {
 public:
  /// turbo: algorithm, precision, windows and scale; k, iterations and early stop are those of the blocks.
  /// Blocks with soft output take float32 whatever the precision. Throws argument_error.
  explicit turbo_block_decoder(const turbo_decoder_config& turbo = default_turbo());
  ~turbo_block_decoder();
  turbo_block_decoder(turbo_block_decoder&&) noexcept;
  turbo_block_decoder& operator=(turbo_block_decoder&&) noexcept;
  /// max-log-MAP in int16, scale 0.75.
  static turbo_decoder_config default_turbo();
  /// Throws argument_error that names the field; shape_error for a length that does not fit.
  static void check(const turbo_decode_block& block);

  /// Reads all inputs and queues the batch. A block that `check` refuses becomes block_refused, and its
  /// outputs stay as they are. Throws argument_error where a batch is under way, or where the configuration's
  /// windows do not suit a block's k; then nothing is queued. After a first batch of the same kinds of
  /// blocks nothing is allocated, up to 256 kinds. The executor and all outputs stay until finish().
  void start(executor& exec, std::span<const turbo_decode_block> blocks);
  /// Whether finish() need not wait.
  bool done() const;
  /// Waits and writes outputs. results: one for each block, in order. Throws shape_error; argument_error
  /// where no batch is under way.
  void finish(std::span<block_result> results);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

struct turbo_encode_block {
  int k = 6144;
  packed_input bits = {};                  // K bits, less the CRC where one is attached
  std::optional<crc_polynomial> crc = {};  // attached behind them
  /// Rate matching: E bits from place `first` (k0) of a buffer of N_cb places (0: K_w = 3 K_pi). 0: none, d0,
  /// d1 and d2 follow each other, 3 K + 12 bits.
  int sent_bits = 0;
  int buffer = 0, first = 0;
  packed_bits out = {};  // the last byte is filled with zeros
};
/// k0 of redundancy version rv (0..3), §5.1.4.1.2. buffer: N_cb, 0: K_w. Throws argument_error.
int lte_first_place(int k, int buffer, int rv);

/// The reverse: CRC, turbo code, rate matching. Blocks of one batch may differ; those of equal size and CRC
/// are encoded together. CPU and CUDA, any instruction set, batch and order give the same bits. Threads: one
/// at a time.
class turbo_block_encoder {
 public:
  turbo_block_encoder();
  ~turbo_block_encoder();
  turbo_block_encoder(turbo_block_encoder&&) noexcept;
  turbo_block_encoder& operator=(turbo_block_encoder&&) noexcept;
  /// Throws argument_error that names the field; shape_error for a length that does not fit.
  static void check(const turbo_encode_block& block);
  /// As those of turbo_block_decoder.
  void start(executor& exec, std::span<const turbo_encode_block> blocks);
  bool done() const;
  void finish(std::span<block_result> results);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace wb
