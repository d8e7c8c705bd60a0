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
void check_transport_loop(const receiver_config& receiver, const detector_config& detector);

/// Detector and decoder in one stage, receive. A block has coded_bits / (streams log2(qam)) uses of the
/// channel, one block behind the other.
///
///   transport_loop loop({.type = "pic", .streams = 2, .rx_antennas = 4, .qam = 16},
///                       channel.transport(1, 13), {.outer = 3, .inner = 5});
///   loop.allocate(exec, slots);
///   loop.run(exec, {.received = y, .channel = h, .noise_var = n0},
///            {.bits = bits, .ok = ok, .status = status});
///
/// Threads: one at a time.
class transport_loop final : public receiver {
 public:
  /// `versions`: the redundancy version of each transmission that a block may have. `waits`: to end once the
  /// CRCs of all blocks hold, it also waits on a device. Throws argument_error as check_transport_loop,
  /// make_soft_detector and nr_transport_decoder do.
  transport_loop(const detector_config& detector, const nr_transport_config& transport,
                 const receiver_config& config, const std::vector<int>& versions = {0}, bool waits = false);
  transport_loop(const transport_loop&) = delete;
  transport_loop& operator=(const transport_loop&) = delete;

  const std::vector<std::string>& stages() const noexcept override { return stages_; }
  std::size_t bytes_per_frame() const noexcept override;
  void allocate(executor& exec, std::size_t blocks) override;
  /// Queues all outer iterations of a transmission. The results of a block whose CRCs hold stay as they are.
  /// On a CPU it waits after each, to end once the CRCs of all blocks hold; on a device it only queues,
  /// unless made to wait. Outputs: bits, ok and status, all of them; iterations and use_status; no others.
  /// The first transmission forgets those of the blocks before. Throws argument_error, shape_error.
  void run_stage(executor& exec, std::size_t stage, const heard& in, const decided& out,
                 int transmission = 0) override;

 private:
  std::size_t blocks() const { return static_cast<std::size_t>(decoder_.segmentation().blocks); }
  std::size_t uses() const noexcept { return sent_ / detector_->bits_per_use(); }  // of a block
  int version(int transmission) const { return versions_[static_cast<std::size_t>(transmission)]; }
  view<float> llr_of(int transmission, std::size_t n) {
    return make_view(llr_[static_cast<std::size_t>(transmission)].data(), sent_, n);
  }
  std::size_t check(const heard& in, const decided& out, int transmission) const;
  void iterate(executor& exec, const heard& in, int transmission, int j, const decided& now);
  void detect(executor& exec, const heard& in, int transmission, int j, view<std::uint8_t> use_status);
  bool note_finished(executor& exec, view<const std::uint8_t> ok, bool first);
  void keep(executor& exec, const decided& now, const decided& out, int j);

  receiver_config config_;
  std::vector<int> versions_;
  nr_transport_decoder decoder_;
  std::unique_ptr<const soft_detector> detector_;
  bool waits_;
  std::size_t sent_;  // bits of a transmission
  std::vector<std::string> stages_{"receive"};
  std::vector<array<float>> llr_;                  // of each transmission
  array<float> prior_, extrinsic_;                 // with more than one outer iteration
  array<std::uint8_t> bits_, ok_, status_, done_;  // of an outer iteration but the first; finished blocks
  array<std::int32_t> iterations_, place_, list_, left_;
  std::int32_t left_here_ = 0;  // lives here because downloads are queued
};

}  // namespace wb
