#pragma once
// Iterative detection and decoding of transport blocks of 5G NR: detector and LDPC decoder exchange extrinsic
// LLRs of the coded bits within each transmission.
//
//   y, H, N0, priors -> detector -> clip -> soft buffers -> LDPC decoder -> rate matching -> scale -> priors
//
// It is the recursion of receive/iterative.hpp with nr_transport_decoder in the place of the decoder: an
// outer iteration puts new LLRs of the transmission in the place of those of the iteration before. LLRs of
// earlier transmissions stay those of their last outer iteration. The decoder begins anew each time, and bits
// are not interleaved. With one outer iteration this is the open loop, bit for bit.
#include <memory>
#include <vector>

#include <warpband/fec/nr/transport.hpp>
#include <warpband/receive/iterative.hpp>

namespace wb {

/// Throws argument_error for what such a loop does not take: `interleaver`; `outer` above 1 with a detector
/// that takes no a-priori LLRs; what receiver_settings() do not allow.
void check_transport_loop(const receiver_config& receiver, detector_type detector);

/// Detector, decoder, and what they keep of a batch of transport blocks on an executor. A block has
/// coded_bits / (streams log2(qam)) uses of the channel, one block behind the other.
///
///   transport_loop loop({.type = detector_type::pic, .streams = 2, .rx_antennas = 4, .qam = 16},
///                       channel.transport(1, 13), {.outer = 3, .inner = 5});
///   loop.allocate(exec, slots);
///   loop.receive(exec, {.received = y, .channel = h, .noise_var = n0},
///                {.bits = bits, .ok = ok, .status = status});
///
/// Threads: one at a time.
class transport_loop {
 public:
  /// `versions`: the redundancy version of each transmission that a block may have. Throws argument_error as
  /// check_transport_loop, make_soft_detector and nr_transport_decoder do.
  transport_loop(const detector_config& detector, const nr_transport_config& transport,
                 const receiver_config& receiver, const std::vector<int>& versions = {0});
  transport_loop(const transport_loop&) = delete;
  transport_loop& operator=(const transport_loop&) = delete;

  /// Buffers for so many blocks. Throws memory_error.
  void allocate(executor& exec, std::size_t blocks);
  /// Memory that those take for each block, without the decoder's own.
  std::size_t bytes_per_block() const noexcept;

  /// Queues all outer iterations of a first transmission. The results of a block whose CRCs hold stay as they
  /// are. On a CPU the loop ends, and waits to learn it, once the CRCs of all blocks hold; on a device it
  /// only queues. Outputs: bits, ok and status, all of them; no others. Throws argument_error, shape_error.
  void receive(executor& exec, const detector_input& in, const nr_transport_output& out);

  // The same step by step, for HARQ.
  /// Forgets what was received, before the next blocks.
  void reset() noexcept { decoder_.reset(); }
  /// Queues outer iteration j = 0, 1, ... of a transmission = 0, 1, ... of all blocks. `in` has no prior.
  /// `use_status`: of each use, where it has data. `out` has no extrinsic LLRs: those are its own. Throws
  /// argument_error, shape_error.
  void iterate(executor& exec, const detector_input& in, int transmission, int j,
               const nr_transport_output& out, view<std::uint8_t> use_status = {});

  int outer() const noexcept { return config_.outer; }
  const nr_transport_decoder& decoder() const noexcept { return decoder_; }
  /// Uses of the channel of a block.
  std::size_t uses() const noexcept { return sent_ / detector_->bits_per_use(); }

 private:
  std::size_t blocks() const { return static_cast<std::size_t>(decoder_.segmentation().blocks); }
  int version(int transmission) const { return versions_[static_cast<std::size_t>(transmission)]; }
  view<float> llr_of(int transmission, std::size_t n) {
    return make_view(llr_[static_cast<std::size_t>(transmission)].data(), sent_, n);
  }
  void detect(executor& exec, detector_input in, int transmission, int j, view<std::uint8_t> use_status);
  bool note_finished(executor& exec, view<const std::uint8_t> ok, bool first);
  void keep(executor& exec, const nr_transport_output& now, const nr_transport_output& out);

  receiver_config config_;
  std::vector<int> versions_;
  nr_transport_decoder decoder_;
  std::unique_ptr<const soft_detector> detector_;
  std::size_t sent_;                               // bits of a transmission
  std::vector<array<float>> llr_;                  // of each transmission
  array<float> prior_, extrinsic_;                 // with more than one outer iteration
  array<std::uint8_t> bits_, ok_, status_, done_;  // of an outer iteration but the first; finished blocks
  array<std::int32_t> place_, list_, left_;
  std::int32_t left_here_ = 0;  // lives here because downloads are queued
};

}  // namespace wb
