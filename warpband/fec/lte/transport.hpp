#pragma once
// The turbo-coded transport channels of LTE, 3GPP TS 36.212 §5.1.1 to §5.1.4: DL-SCH, UL-SCH, PCH, MCH.
//
//   A bits -> CRC-24A -> code blocks, each with a CRC-24B -> turbo code -> rate matching -> G bits
//
// and back, with HARQ: the LLRs of several transmissions of a transport block add up in a soft buffer before
// the turbo decoder. Each transmission has its own redundancy version. LLRs are ln P(0)/P(1).
#include <array>
#include <cstdint>
#include <optional>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/lte/rate_matching.hpp>
#include <warpband/fec/lte/segmentation.hpp>
#include <warpband/fec/transport/transport.hpp>
#include <warpband/fec/turbo/turbo.hpp>

namespace wb {

struct lte_transport_config {
  int transport_bits = 0;    // A, 1..2^20
  int coded_bits = 0;        // G, bits of a transmission: a multiple of layers * modulation_order, and at
                             // least that for each code block
  int modulation_order = 2;  // Q_m, bits of a symbol: 1, 2, 4, 6, 8 or 10
  int layers = 1;            // N_L, layers that the transport block is mapped to, 1..4; transmit diversity: 2
  /// N_cb, places that are kept of each code block's circular buffer: for DL-SCH and PCH floor(N_IR / C).
  /// Absent, or more than a block has: all.
  std::optional<int> soft_buffer = {};
  /// Of the decoder. Its k, code_rate, crc_polynomial and crc_degree are not looked at. With the stop rule
  /// crc a code block's iterations end once its CRC holds. Windows and overlap are chosen for the code rate
  /// of the first transmission. If a block needs several transmissions to be decodable at all, the rate is
  /// that of all these: later ones only lower it.
  turbo_decoder_config turbo = {.early_stop = turbo_early_stop::crc};
};
/// Throws argument_error for what lte_transport_decoder does not allow.
void check(const lte_transport_config& config);
/// Its settings but those of `turbo`.
const std::vector<setting_of<lte_transport_config>>& lte_transport_config_settings();

/// How a transport block is cut and what each code block sends.
/// Threads: any number may read one object at once; an encoder or decoder serves one at a time.
class lte_transport_plan : public transport_plan<lte_blocks> {
 public:
  /// Throws argument_error.
  explicit lte_transport_plan(const lte_transport_config& config);
  const lte_transport_config& config() const noexcept { return config_; }
  const lte_segmentation& segmentation() const noexcept { return segmentation_; }
  /// What decodes code blocks of a size: 0 of K-, 1 of K+.
  turbo_decoder_config turbo_of(int kind) const;

 protected:
  lte_transport_config config_;
  lte_segmentation segmentation_;
  std::array<lte_ring_tables, 3> rings_;  // of block 0, of K-, of K+
  bool has_ring(std::size_t i) const noexcept { return i != 1 || segmentation_.c_minus > 0; }
  /// Code blocks of a batch by size: [0] K-, [1] K+.
  std::size_t rows(int kind, std::size_t batch) const noexcept {
    return batch * static_cast<std::size_t>(kind == 0 ? segmentation_.c_minus : segmentation_.c_plus);
  }
  std::size_t k(int kind) const noexcept { return static_cast<std::size_t>(segments_.k[kind]); }
  /// The highest code rate among the blocks of a size, as turbo_decoder_config has it.
  float code_rate(int kind) const noexcept;
};

/// Encodes batches of transport blocks. Buffers are kept for the next call with the same batch size and
/// executor. CPU and CUDA, any instruction set, batch size and number of threads give the same bits.
/// Threads: one at a time.
class lte_transport_encoder : public lte_transport_plan {
 public:
  /// Throws argument_error.
  explicit lte_transport_encoder(const lte_transport_config& config);

  /// Queues the encoding of bits [batch, A] (only the lowest bit counts) to one transmission of redundancy
  /// version rv = 0..3: coded [batch, G]. Throws argument_error, shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, int rv, view<std::uint8_t> coded);

 private:
  std::optional<turbo_encoder> encoder_[2];
  transport_owner owner_;
  array<std::uint8_t> blocks_[2], codewords_[2];
  array<std::int32_t> part_;
};

/// Outputs without data are not computed.
struct lte_transport_output {
  view<std::uint8_t> bits = {};        // [batch, A] decisions, right or not
  view<std::uint8_t> ok = {};          // [batch] 1 where all CRCs hold and what was received suffices, else 0
  view<std::uint8_t> block_ok = {};    // [batch, C] 1 where that is so of the code block
  view<std::int32_t> iterations = {};  // [batch, C] of the turbo decoder
  view<std::uint8_t> status = {};      // [batch] status_erased, status_insufficient
};

/// Decodes batches of transport blocks: `combine` for each transmission, `decode` after any of them, `reset`
/// before those of the next transport blocks. It keeps one soft buffer for each of the batch, and its other
/// buffers, for the next call with the same batch size and executor.
///
/// The soft buffer holds the sums of the LLRs as they came, limited to +-1e30; the turbo decoder then limits
/// what it reads (turbo.hpp). What was never received is 0; filler bits are lte_filler_llr.
///
/// A NaN or infinite LLR erases its code block's part of that transmission: the soft buffer stays as it was,
/// the transport block's status has status_erased until `reset`, its other code blocks and its neighbours are
/// untouched.
///
/// A code block is never ok, and the status has status_insufficient beside status_erased, until enough was
/// received of it: as many LLRs that are not 0 in the decoder's numbers as it has bits, both without fillers.
/// All-zero bits satisfy every CRC and need more: 7/8 of the LLRs that transmissions reached must be larger
/// than 1/4096 of the largest. Signs must also be zeros more often than noise gives, by four standard
/// deviations. From 16-QAM on these are the signs of symbols (the first two bits of modulation_order), else
/// those of the soft buffer's LLRs.
///
/// CPU and CUDA, any instruction set, batch size and number of threads give the same bits.
///
/// Threads: one at a time.
class lte_transport_decoder : public transport_receiver<lte_transport_decoder, lte_transport_plan> {
 public:
  /// Throws argument_error as `check` does.
  explicit lte_transport_decoder(const lte_transport_config& config);

  /// Queues adding the LLRs [batch, G] of a transmission of redundancy version rv = 0..3 to the soft buffers:
  /// float32, or integers with a scale. After the first since `reset` batch and executor stay. Throws
  /// argument_error, shape_error.
  void combine(executor& exec, const llr_batch& llr, int rv);
  /// Queues the decoding of what was received; the soft buffers stay. Throws argument_error where nothing was
  /// since `reset`, shape_error.
  void decode(executor& exec, const lte_transport_output& out);

  /// The soft buffers of the code blocks that have the same size, as [batch C-, 3 (K- + 4)] and
  /// [batch C+, 3 (K+ + 4)]: d0, d1, d2.
  const array<float>& soft_minus() const noexcept { return soft_[0]; }
  const array<float>& soft_plus() const noexcept { return soft_[1]; }
  /// The turbo decoder's configuration in force for blocks of K- (0) or K+ (1) bits: windows and overlap as
  /// chosen. Nothing where no block has that size.
  const turbo_decoder_config* turbo(int kind) const noexcept {
    return decoder_[kind] ? &decoder_[kind]->config() : nullptr;
  }

 private:
  friend transport_receiver;
  std::optional<turbo_decoder> decoder_[2];
  array<float> soft_[2];
  void make_buffers(executor& exec, std::size_t batch);
  void pass(executor& exec, const harq_memory& m, bool reads);
  array<std::uint8_t> decided_[2];
  array<std::int32_t> iterations_[2];
};

}  // namespace wb
