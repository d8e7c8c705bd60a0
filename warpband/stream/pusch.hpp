#pragma once
// PUSCH as a chain of frames: received grids of slots in, transport blocks out. Nothing goes to the host
// between them. Results are bit for bit those of the direct calls
//
//   channel_estimator::run -> nr_shared_channel::extract -> detector::run -> nr_transport_decoder
//
//   arrays in   received [slots * elements, R]: element symbol * subcarriers + subcarrier of each slot
//               noise_var [1]: N0
//   arrays out  bits [slots, A], ok [slots, 1], status [slots, 1]: those of nr_transport_output
//
// Each slot is a first transmission, of redundancy version 0. All slots have the carrier's slot number, from
// which their DMRS follow. A resource element that the detector erases has LLRs of 0, which the code may
// correct. A transport block with status_erased is never ok.
#include <functional>
#include <memory>

#include <warpband/detect/detector.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/nr/shared_channel.hpp>
#include <warpband/stream/chain.hpp>

namespace wb {

struct pusch_chain_config {
  nr_channel_config channel = {};  // of the uplink
  int mcs_table = 1, mcs = 16;     // of nr_mcs_of; not of a reserved index
  estimator_config estimator = {};
  detector_config detector = {};  // its streams and qam follow from channel and mcs
  ldpc_decoder_config decoder = {};
};

/// Queues detection and decoding of a batch of slots, whose uses lie slot after slot. Writes bits, ok and
/// status. On a device it must not wait.
using pusch_receive = std::function<void(executor&, const detector_input&, const nr_transport_output&)>;
/// Detector and decoder in one, for instance the loop of receive/transport_loop.hpp: what receives
/// batches of `slots` slots on an executor, with all that it keeps there. Detector and transport block are
/// those of the chain. Called by several threads at a time; what it gives is called by one.
using pusch_receiver = std::function<pusch_receive(executor&, std::size_t slots, const detector_config&,
                                                   const nr_transport_config&)>;

/// Its stages: estimate, detect, decode. An item is a slot; frames are not cut into parts. Each attached
/// chain_run keeps H, y and LLRs of the largest frame, and soft buffers of twice as many slots. Throws
/// argument_error as nr_shared_channel, channel_estimator, make_detector and nr_transport_decoder do: it
/// names resource blocks outside the carrier, less rx_antennas than layers, a reserved mcs.
///   const auto chain = make_pusch_chain({.channel = {.carrier = {.resource_blocks = 51}, .layers = 2},
///                                        .mcs = 16,
///                                        .detector = {.rx_antennas = 4}});
std::unique_ptr<frame_chain> make_pusch_chain(const pusch_chain_config& config);
/// With a receiver in the place of detector and decoder: its stages are estimate and receive. Slots come to
/// it in batches of the largest frame's, or of half, a quarter, ... of them, down to one. Also throws
/// argument_error for a receiver without a target.
std::unique_ptr<frame_chain> make_pusch_chain(const pusch_chain_config& config, pusch_receiver receiver);

}  // namespace wb
