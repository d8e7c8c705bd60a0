#pragma once
// Iterative detection and decoding of transport blocks of 5G NR: detector and LDPC decoder exchange extrinsic
// LLRs of the coded bits within each transmission.
//
//   y, H, N0, priors -> detector -> clip -> soft buffers -> LDPC decoder -> rate matching -> scale -> priors
//
// It is the loop of receive/iterative.hpp with a decoder of transport blocks: an outer iteration puts new
// LLRs of the transmission in the place of those of the iteration before. LLRs of earlier transmissions stay
// those of their last outer iteration. The decoder begins anew each time, and bits are not interleaved. With
// one outer iteration this is the open loop, bit for bit.
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
///   loop.run(exec, {.channel = h, .received = y, .noise_var = n0},
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
  ~transport_loop() override;
  transport_loop(const transport_loop&) = delete;
  transport_loop& operator=(const transport_loop&) = delete;

  const std::vector<std::string>& stages() const noexcept override { return stages_; }
  std::size_t bytes_per_frame() const noexcept override;
  void allocate(executor& exec, std::size_t blocks) override;
  /// Queues all outer iterations of a transmission. On a CPU it waits after each, to end once the CRCs of all
  /// blocks hold. On a device it only queues, unless made to wait. The first transmission forgets those of
  /// the blocks before. Throws argument_error, shape_error.
  void run_stage(executor& exec, std::size_t stage, const heard& in, const decided& out,
                 int transmission = 0) override;

 private:
  class block_decoder;
  std::shared_ptr<block_decoder> decoder_;
  iterative_receiver loop_;
  std::size_t gains_, rx_;
  bool waits_;
  std::vector<std::string> stages_{"receive"};
};

}  // namespace wb
