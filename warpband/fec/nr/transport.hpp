#pragma once
// The shared transport channels of 5G NR, 3GPP TS 38.212 §6.2 (UL-SCH) and §7.2 (DL-SCH, PCH).
//
//   A bits -> CRC-16 or CRC-24A -> code blocks, each with a CRC-24B where there are several -> LDPC code
//          -> rate matching, bit interleaving -> concatenation -> scrambling -> G bits
//
// and back, with HARQ: the LLRs of several transmissions of a transport block add up in a soft buffer before
// the LDPC decoder. Each transmission has its own redundancy version. LLRs are ln P(0)/P(1).
//
// Uplink and downlink differ in what configures them, not in these steps: limited buffers are the rule of the
// downlink (nr_limited_buffer), and scrambling starts from the same formula (nr_scrambling_init).
#include <cstdint>
#include <map>
#include <optional>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/nr/rate_matching.hpp>
#include <warpband/fec/nr/segmentation.hpp>
#include <warpband/fec/transport/transport.hpp>

namespace wb {

struct nr_transport_config {
  int transport_bits = 0;    // A, 1..2^21; tbs.hpp has the standard's
  int coded_bits = 0;        // G, bits of a transmission: a multiple of layers * modulation_order, and at
                             // least that for each code block
  int modulation_order = 2;  // Q_m, bits of a symbol: 1, 2, 4, 6, 8 or 10
  int layers = 1;            // N_L, layers that the transport block is mapped to, 1..4
  std::optional<int> base_graph = {};  // 1 or 2; absent: nr_base_graph of transport_bits and code_rate
  /// Target code rate R of the mcs, above 0 up to 1. Only the choice of the base graph looks at it; absent:
  /// A / G, which has the standard's choice for a first transmission of the whole allocation.
  std::optional<double> code_rate = {};
  /// N_ref, places that are kept of each code block's circular buffer; absent: all.
  std::optional<int> soft_buffer = {};
  /// c_init of the scrambling sequence, 0..2^31 - 1; absent: not scrambled.
  std::optional<std::int64_t> scrambling = {};
  ldpc_decoder_config ldpc = {};  // of the decoder
};
/// Its settings but those of `ldpc`.
const std::vector<setting_of<nr_transport_config>>& nr_transport_config_settings();
/// Throws argument_error for what nr_transport_decoder does not allow.
void check(const nr_transport_config& config);

/// How a transport block is cut and what each code block sends.
/// Threads: any number may read one object at once; an encoder or decoder serves one at a time.
class nr_transport_plan : public transport_plan<nr_blocks> {
 public:
  /// Throws argument_error.
  explicit nr_transport_plan(const nr_transport_config& config);
  const nr_transport_config& config() const noexcept { return config_; }
  const nr_segmentation& segmentation() const noexcept { return segmentation_; }
  const nr_circular_buffer& buffer() const noexcept { return buffer_; }
  /// Rows of the base graph that a transmission of redundancy version rv needs (nr_rows_sent).
  int rows(int rv) const;

 protected:
  nr_transport_config config_;
  nr_segmentation segmentation_;
  nr_circular_buffer buffer_;
  resident<std::uint8_t> scrambling_;  // empty: none
  const std::uint8_t* scrambling_on(executor& exec) const {
    scrambling_.check_held();
    return scrambling_.host().empty() ? nullptr : scrambling_.on(exec);
  }
  std::size_t padded() const noexcept { return static_cast<std::size_t>(segments_.padded); }
  std::size_t codeword() const noexcept { return static_cast<std::size_t>(segments_.codeword); }
  /// What a code block ends with.
  ldpc_crc block_crc() const noexcept {
    return {segmentation_.blocks == 1 ? segmentation_.crc() : crc24b, segments_.k};
  }
};

/// Encodes batches of transport blocks. Only the parity that a transmission sends is computed. Buffers are
/// kept for the next call with the same batch size and executor. CPU and CUDA, any instruction set, batch
/// size and number of threads give the same bits.
///
///   const nr_mcs mcs = nr_mcs_of(1, 13);
///   const int a = nr_transport_block_size(3600, mcs, 1);
///   nr_transport_encoder encoder({.transport_bits = a, .coded_bits = 3600 * mcs.modulation_order,
///                                 .modulation_order = mcs.modulation_order, .code_rate = mcs.code_rate()});
///   encoder.run(exec, bits, 0, coded);  // [batch, A] -> [batch, G]
///
/// Threads: one at a time.
class nr_transport_encoder : public nr_transport_plan {
 public:
  /// Throws argument_error.
  explicit nr_transport_encoder(const nr_transport_config& config) : nr_transport_plan(config) {}

  /// Queues the encoding of bits [batch, A] (only the lowest bit counts) to one transmission of redundancy
  /// version rv = 0..3: coded [batch, G]. Throws argument_error, shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, int rv, view<std::uint8_t> coded);

 private:
  std::map<int, ldpc_encoder> encoders_;  // by rows
  transport_owner owner_;
  array<std::uint8_t> blocks_, codewords_;
  array<std::int32_t> part_;
};

/// Outputs without data are not computed.
struct nr_transport_output {
  view<std::uint8_t> bits = {};        // [batch, A] decisions, right or not
  view<std::uint8_t> ok = {};          // [batch] 1 where all CRCs hold and what was received suffices, else 0
  view<std::uint8_t> block_ok = {};    // [batch, C] 1 where that is so of the code block
  view<std::int32_t> iterations = {};  // [batch, C] of the LDPC decoder
  view<std::uint8_t> status = {};      // [batch] status_erased, status_insufficient
  /// [batch C, columns()] extrinsic LLRs of the code blocks' codewords, for `feed_back`; those of columns
  /// that rows_needed() does not reach are not written.
  view<float> extrinsic = {};
};

/// Decodes batches of transport blocks: `combine` for each transmission, `decode` after any of them, `reset`
/// before those of the next transport blocks. It keeps one soft buffer for each of the batch, and its other
/// buffers, for the next call with the same batch size and executor.
///
/// The soft buffer holds the sums of the LLRs as they came, limited to +-1e30; the LDPC decoder then limits
/// what it reads (ldpc.hpp). What was never received, the first 2 Z bits too, is 0; fillers are
/// nr_filler_llr. The decoder takes the rows of the base graph that the transmissions so far need, and
/// systematic columns that hold more than fillers: the more is sent, the more rows. With early_stop
/// syndrome a code block leaves the iterations once all its checks hold, with crc also once its CRC holds. A
/// single code block has the transport block's CRC.
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
class nr_transport_decoder : public transport_receiver<nr_transport_decoder, nr_transport_plan> {
 public:
  /// Throws argument_error as `check` does.
  explicit nr_transport_decoder(const nr_transport_config& config);

  /// Queues adding the LLRs [batch, G] of a transmission of redundancy version rv = 0..3 to the soft buffers:
  /// float32, or integers with a scale. After the first since `reset` batch and executor stay. Throws
  /// argument_error, shape_error.
  void combine(executor& exec, const llr_batch& llr, int rv);
  /// Queues the decoding of what was received; the soft buffers stay. Throws argument_error where nothing was
  /// since `reset`, shape_error.
  void decode(executor& exec, const nr_transport_output& out);
  /// Queues what is known of each bit of a transmission but for its own LLR, for a detector that takes
  /// a-priori LLRs: prior [batch, G] is the decoder's `extrinsic` LLR and what other transmissions and
  /// repetitions said of the bit. `llr` and `rv` are those of the transmission, which `combine` took before
  /// the last `decode`. If a code block's LLRs were erased in that transmission, its priors say nothing
  /// and may be NaN: do not use them. Throws argument_error, shape_error.
  void feed_back(executor& exec, view<const float> extrinsic, const llr_batch& llr, int rv,
                 view<float> prior) const;
  /// Elements of a codeword with all parity columns.
  std::size_t columns() const noexcept { return codeword(); }

  /// Rows of the base graph that the transmissions since `reset` need together; after `resume` those that any
  /// redundancy version needs.
  int rows_needed() const noexcept { return transmissions() == 0 ? 0 : rows_; }
  /// The soft buffers, [batch C, segmentation().block.codeword()].
  const array<float>& soft() const noexcept { return soft_; }

 private:
  friend transport_receiver;
  std::map<int, ldpc_decoder> decoders_;  // by rows
  int rows_ = 0;
  array<float> soft_;
  void make_buffers(executor& exec, std::size_t batch);
  void pass(executor& exec, const harq_memory& m, bool reads);
  array<std::uint8_t> decided_, decided_status_;
  array<std::int32_t> iterations_;
};

}  // namespace wb
