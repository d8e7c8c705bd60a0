#pragma once
// Hybrid ARQ with the convolutional turbo code of IEEE 802.16 (§8.4.9.2.3.4).
//
//   A bits -> CRC-16 -> k = A + 16 bits, N_EP -> CTC of rate 1/3 -> subpacket of SPID 0..3 -> G bits
//
// and back: the LLRs of several subpackets of a block add up before the decoder. The 3 k coded bits, in the
// order of ctc_sent_places, are a circular buffer. Subpacket s of G bits has those at the places
//   (F + i) mod 3 k,  i = 0..G - 1,  F = s G mod 3 k.
// Chase combining sends SPID 0 each time. With incremental redundancy the SPID rises, and a new subpacket
// begins where the one before it ends.
//
// The CRC has the polynomial x^16 + x^12 + x^5 + 1; its register starts at 0 and is not inverted (crc.hpp).
// There is no randomisation, and a block is not cut into several.
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/ctc/ctc.hpp>
#include <warpband/fec/lte/rate_matching.hpp>
#include <warpband/fec/transport/transport.hpp>

namespace wb {

struct ctc_transport_config {
  int transport_bits = 464;  // A, one of k - 16 for the 17 sizes k of ctc_config with standard wimax
  int coded_bits = 0;        // G, bits of a subpacket: a multiple of layers * modulation_order
  int modulation_order = 2;  // Q_m, bits of a symbol: 1, 2, 4, 6, 8 or 10
  int layers = 1;            // that a block is mapped to, 1..4
  ctc_decoder_config ctc = {};
};
/// Throws argument_error for what ctc_transport_decoder does not allow.
void check(const ctc_transport_config& config);
/// Allowed A, in order.
std::vector<int> ctc_transport_sizes();
/// Its settings but those of `ctc`.
const std::vector<setting_of<ctc_transport_config>>& ctc_transport_config_settings();

/// The code of a block and its circular buffer.
/// Threads: any number may read one object at once; an encoder or decoder serves one at a time.
class ctc_transport_plan : public transport_plan<lte_blocks> {
 public:
  /// Throws argument_error.
  explicit ctc_transport_plan(const ctc_transport_config& config);
  const ctc_transport_config& config() const noexcept { return config_; }
  /// The code at rate 1/3.
  const ctc_config& code() const noexcept { return code_; }
  /// F of a SPID, 0..3.
  int start(int spid) const { return ring_.start(spid); }

 protected:
  ctc_transport_config config_;
  ctc_config code_;
  lte_ring_tables ring_;
  std::size_t k() const noexcept { return static_cast<std::size_t>(code_.k); }
};

/// Encodes batches of blocks. Buffers are kept for the next call with the same batch size and executor. CPU
/// and CUDA, any instruction set, batch size and number of threads give the same bits.
/// Threads: one at a time.
class ctc_transport_encoder : public ctc_transport_plan {
 public:
  /// Throws argument_error.
  explicit ctc_transport_encoder(const ctc_transport_config& config);
  /// Queues the encoding of bits [batch, A] (only the lowest bit counts) to the subpacket of SPID spid =
  /// 0..3: coded [batch, G]. Throws argument_error, shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, int spid, view<std::uint8_t> coded);

 private:
  ctc_encoder encoder_;
  transport_owner owner_;
  array<std::uint8_t> blocks_, codewords_;
};

/// Outputs without data are not computed.
struct ctc_transport_output {
  view<std::uint8_t> bits = {};        // [batch, A] decisions, right or not
  view<std::uint8_t> ok = {};          // [batch] 1 where the CRC holds and what was received suffices, else 0
  view<std::uint8_t> block_ok = {};    // [batch, 1] the same
  view<std::int32_t> iterations = {};  // [batch, 1] of the CTC decoder
  view<std::uint8_t> status = {};      // [batch] status_erased, status_insufficient
};

/// Decodes batches of blocks: `combine` for each subpacket, `decode` after any of them, `reset` before those
/// of the next blocks. It keeps one soft buffer of 3 k LLRs for each of the batch.
///
/// Sums of LLRs are limited to +-1e30; the decoder then limits what it reads (ctc.hpp). A NaN or infinite LLR
/// erases its block's part of that subpacket: the soft buffer stays as it was, and the status has
/// status_erased until `reset`. A block is never ok until k LLRs that are not 0 in the decoder's numbers were
/// received of it. An all-zero block satisfies its CRC and needs more, as of lte_transport_decoder.
///
/// CPU and CUDA, any instruction set, batch size and number of threads give the same bits.
///
/// Threads: one at a time.
class ctc_transport_decoder : public transport_receiver<ctc_transport_decoder, ctc_transport_plan> {
 public:
  /// Throws argument_error as `check` does.
  explicit ctc_transport_decoder(const ctc_transport_config& config);

  /// Queues adding the LLRs [batch, G] of the subpacket of SPID spid = 0..3 to the soft buffers: float32, or
  /// integers with a scale. After the first since `reset` batch and executor stay. Throws argument_error,
  /// shape_error.
  void combine(executor& exec, const llr_batch& llr, int spid);
  /// Queues the decoding of what was received; the soft buffers stay. Throws argument_error where nothing was
  /// since `reset`, shape_error.
  void decode(executor& exec, const ctc_transport_output& out);

  /// The soft buffers, [batch, 3 k] in the order of the circular buffer.
  const array<float>& soft() const noexcept { return soft_; }

 private:
  friend transport_receiver;
  ctc_decoder decoder_;
  array<float> soft_;
  array<std::uint8_t> decided_, decided_status_;
  array<std::int32_t> iterations_;
  void make_buffers(executor& exec, std::size_t batch);
  void pass(executor& exec, const harq_memory& m, bool reads);
};

}  // namespace wb
