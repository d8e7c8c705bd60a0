#pragma once
// Code blocks of 5G NR as an accelerator takes them, each with a description of its own: LDPC decoder with
// rate recovery and HARQ combining, encoder with CRC and rate matching (3GPP TS 38.212 §5.2.2, §5.3.2,
// §5.4.2).
//
// nr_transport_decoder is for batches of equal transport blocks with float LLRs. This is for 1 to 64 blocks
// that differ, int8 LLRs and packed bits.
#include <memory>
#include <optional>
#include <span>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/blocks/block_llrs.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>

namespace wb {

/// What a block's code is.
struct ldpc_block_shape {
  int base_graph = 1;
  int lifting_size = 384;
  int fillers = 0;           // F of the K = 22 Z or 10 Z bits, at their end
  int buffer = 0;            // N_cb, 0: N = 66 Z or 50 Z
  int first = 0;             // k0: place of the buffer, fillers included, that is sent first
  int sent_bits = 0;         // E
  int modulation_order = 2;  // Q_m of the bit interleaver, 1, 2, 4, 6, 8 or 10, divides E; 1: not interleaved
};
/// k0 of redundancy version rv (0..3), table 5.4.2.1-2. buffer: N_cb, 0: N. Throws argument_error.
int nr_first_place(int base_graph, int lifting_size, int buffer, int rv);

struct ldpc_decode_block {
  ldpc_block_shape shape;
  block_llrs llr;  // E of them
  int iterations = 8;
  bool early_stop = true;                  // on the syndrome, or once the CRC holds
  std::optional<crc_polynomial> crc = {};  // what the K - F bits end with
  bool drop_crc = false;                   // leave it out of the output
  /// Of both HARQ buffers. int8: LLRs in steps of 2^-llr.decimals; float16: LLRs, as the bits of halves.
  harq_format harq = harq_format::int8;
  const void* harq_in = nullptr;    // LLRs received before
  std::size_t harq_in_length = 0;   // of the buffer without fillers, from its first place on
  void* harq_out = nullptr;         // may be harq_in
  std::size_t harq_out_length = 0;  // places that fit: N_cb - F is enough
  packed_bits bits;                 // K - F bits, less the CRC where it is dropped
};

/// Decodes blocks. Sums of repetitions and of harq_in are limited to +-127 steps; with HARQ buffers in
/// float16 they are rounded to halves and limited to +-65504. The first 2 Z bits of a codeword are never
/// sent, fillers are known zeros. A float32 LLR that is no number is 0. A block of few or no LLRs
/// is decoded like any other: there are no erasures, and status says whether the result fits.
///
/// Status. A block whose bits satisfy the CRC is a success, also with all bits zero. block_syndrome and
/// block_crc are independent without early stop. With it a CRC that holds ends the iterations, and
/// block_syndrome is not set then.
///
/// HARQ buffers. harq_length is up to where this transmission or harq_in ends in the buffer. Zeros at the end
/// of harq_in cost nothing: the decoder does the rows that the last LLR which is not 0 needs.
///
/// Limits: E up to 2^23 and 250 times the bits of the buffer, 1 to 1000 iterations, decimals 0..7.
///
/// Blocks of one batch may differ. Those of equal code, rows and settings are decoded together. CPU and CUDA,
/// any instruction set, batch and order give the same bits, iterations and HARQ buffers.
///
///   ldpc_block_decoder decoder;
///   decoder.start(exec, blocks);     // copies the LLRs, queues
///   decoder.finish(results);         // waits, writes bits and HARQ buffers
///
/// Threads: one at a time.
class ldpc_block_decoder {
 public:
  /// ldpc: algorithm, precision and scale; iterations and early stop are those of the blocks. int8 in steps
  /// of the blocks' LLRs is the default. Throws argument_error.
  explicit ldpc_block_decoder(const ldpc_decoder_config& ldpc = default_ldpc());
  ~ldpc_block_decoder();
  ldpc_block_decoder(ldpc_block_decoder&&) noexcept;
  ldpc_block_decoder& operator=(ldpc_block_decoder&&) noexcept;

  static ldpc_decoder_config default_ldpc();
  /// Throws argument_error that names the field; shape_error for a length that does not fit.
  static void check(const ldpc_decode_block& block);

  /// Reads all inputs and queues the batch. A block that `check` refuses becomes block_refused. No batch may
  /// be under way. After a first batch of the same sizes nothing is allocated.
  void start(executor& exec, std::span<const ldpc_decode_block> blocks);
  /// Whether finish() need not wait.
  bool done() const;
  /// Waits and writes outputs. results: one for each block, in order. Throws shape_error.
  void finish(std::span<block_result> results);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

struct ldpc_encode_block {
  ldpc_block_shape shape;
  packed_input bits;                       // K - F bits, less the CRC where one is attached
  std::optional<crc_polynomial> crc = {};  // attached behind them
  packed_bits out;                         // E bits; the last byte is filled with zeros
};
/// The reverse. As ldpc_block_decoder in all else.
/// Threads: one at a time.
class ldpc_block_encoder {
 public:
  ldpc_block_encoder();
  ~ldpc_block_encoder();
  ldpc_block_encoder(ldpc_block_encoder&&) noexcept;
  ldpc_block_encoder& operator=(ldpc_block_encoder&&) noexcept;
  static void check(const ldpc_encode_block& block);
  void start(executor& exec, std::span<const ldpc_encode_block> blocks);
  bool done() const;
  void finish(std::span<block_result> results);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace wb
