#pragma once
// Rate matching of LDPC-coded channels in 5G NR, 3GPP TS 38.212 §5.4.2, for code blocks; transport.hpp has it
// for transport blocks.
//
// A codeword without its first 2 Z bits lies in a circular buffer of which the first N_cb places are kept. A
// transmission of redundancy version rv selects E bits from place k0(rv) on, around as often as need be, and
// passes over fillers. Bit p of them is then sent as bit i + j Q_m, with i = p / (E / Q_m) and
// j = p mod (E / Q_m): the first bits come to the most reliable places of symbols.
//
// Codewords are those of nr_code_block::code(): `systematic` columns, with the fillers of the last of them,
// then all parity columns.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/format/format.hpp>
#include <warpband/fec/nr/code_block.hpp>
#include <warpband/fec/nr/nr_args.hpp>

namespace wb {

/// A circular buffer without its fillers.
struct nr_circular_buffer {
  int size = 0;                   // N_cb, fillers included
  int length = 0;                 // bits that are no fillers
  std::array<int, 4> first = {};  // k0 by rv (table 5.4.2.1-2)
  std::array<int, 4> start = {};  // number among the `length` of the first bit sent, by rv
};
/// soft_buffer: N_ref of §5.4.2.1, places that are kept; 0, or more than N, is N. Throws argument_error
/// ("soft_buffer").
nr_circular_buffer make_nr_circular_buffer(const nr_code_block& block, std::optional<int> soft_buffer = {});
/// Bits before a place of the circular buffer that are no fillers.
int nr_ring_number(const nr_code_block& block, int place);

/// N_ref of limited-buffer rate matching, §5.4.2.1: floor(TBS_LBRM / (C 2/3)). Throws argument_error.
int nr_limited_buffer(int lbrm_transport_bits, int blocks);

/// Rows of the base graph that tell something of a transmission of sent_bits from the ring's number `start`
/// on: up to that of the last parity column sent, and the four core rows.
int nr_rows_sent(const nr_code_block& block, const nr_circular_buffer& buffer, int start, int sent_bits);

struct nr_rate_matching_config {
  int base_graph = 1;                    // 1 or 2
  int k = 8448;                          // K', bits of a code block, CRC included
  std::optional<int> lifting_size = {};  // Z; absent: the least for k, make_nr_code_block
  int sent_bits = 0;                     // E, a multiple of modulation_order
  int modulation_order = 2;              // Q_m: 1, 2, 4, 6, 8 or 10
  std::optional<int> soft_buffer = {};   // N_ref; absent: the whole buffer
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<nr_rate_matching_config>>& nr_rate_matching_settings();

/// Rate matching and bit interleaving of single code blocks. Every call queues one batch on an executor. CPU
/// and CUDA, any instruction set, batch size and number of threads give the same bits.
///
///   nr_rate_matcher matcher({.base_graph = 2, .k = 1024, .sent_bits = 2048});
///   ldpc_encoder encoder(matcher.block().code());
///   encoder.run(exec, padded, coded);       // [batch, padded()] -> [batch, codeword()]
///   matcher.match(exec, coded, 0, sent);    // [batch, E]
///
/// Threads: any number may call one object at once, each with an executor of its own.
class nr_rate_matcher {
 public:
  /// Throws argument_error.
  explicit nr_rate_matcher(const nr_rate_matching_config& config);
  const nr_rate_matching_config& config() const noexcept { return config_; }
  const nr_code_block& block() const noexcept { return block_; }
  const nr_circular_buffer& buffer() const noexcept { return buffer_; }
  /// Rows of the base graph that a transmission needs, nr_rows_sent. Throws argument_error.
  int rows(int rv) const;

  /// Codewords [batch, block().codeword()] to what is sent of them [batch, E]. rv: 0..3. Throws
  /// argument_error, shape_error.
  void match(executor& exec, view<const std::uint8_t> coded, int rv, view<std::uint8_t> out) const;

  /// Adds the LLRs [batch, E] of a transmission, float32 or integers with a scale, to those of the codewords,
  /// soft [batch, block().codeword()].
  /// `first` overwrites soft instead: 0 where nothing was received, nr_filler_llr at fillers. Sums are
  /// limited to +-1e30. A transmission with a NaN or infinite LLR, or of which repetitions overflow, adds
  /// nothing. marks [batch], if wanted: status_erased after such a one, until the next `first`, else 0.
  /// Throws argument_error, shape_error.
  void combine(executor& exec, const llr_batch& llr, int rv, bool first, view<float> soft,
               view<std::uint8_t> marks = {}) const;
  /// What is known of each sent bit but for its own LLR, prior [batch, E]: extrinsic + (soft - llr) of the
  /// codewords' extrinsic LLRs and soft buffers [batch, up to block().codeword(), as many as rows(rv) need].
  /// 0 where `status` [batch], if given, has status_erased. `marks` [batch], if given, are those of the
  /// `combine` of these LLRs: a transmission that was not added is not subtracted. Throws argument_error,
  /// shape_error.
  void feed_back(executor& exec, view<const float> extrinsic, view<const float> soft, view<const float> llr,
                 int rv, view<float> prior, view<const std::uint8_t> status = {},
                 view<const std::uint8_t> marks = {}) const;

 private:
  nr_rate_matching_config config_;
  nr_code_block block_;
  nr_circular_buffer buffer_;
  float_llrs floats_;
};

}  // namespace wb
