#pragma once
// PUSCH as a receiver with ports: received grids of slots in, transport blocks out. Nothing goes to the host
// between them. Results are bit for bit those of the direct calls
//
//   channel_estimator::run -> nr_shared_channel::extract -> detector::run -> nr_transport_decoder
//
// With transform precoding nr_shared_channel::equalise is before the detector, which then has one antenna.
//
//   arrays in   received [slots * elements, R]: element symbol * subcarriers + subcarrier of each slot
//               noise_var [1]: N0
//   arrays out  bits [slots, A], ok [slots, 1], status [slots, 1]: those of nr_transport_output
//
// Each slot is a first transmission, of redundancy version 0. All slots have the carrier's slot number, from
// which their DMRS follow. A resource element that the detector erases has LLRs of 0, which the code may
// correct. A transport block with status_erased is never ok.
#include <memory>
#include <optional>

#include <warpband/detect/detector.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/nr/shared_channel.hpp>
#include <warpband/receive/frame_receiver.hpp>
#include <warpband/receive/iterative.hpp>

namespace wb {

struct pusch_chain_config {
  nr_channel_config channel = {};  // of the uplink
  int mcs_table = 1, mcs = 16;     // of the channel's nr_mcs_of; not of a reserved index
  estimator_config estimator = {};
  detector_config detector = {};  // its streams and qam follow from channel and mcs
  ldpc_decoder_config decoder = {};
  /// Detector and decoder in a loop (receive/transport_loop.hpp). On a device it only queues.
  std::optional<receiver_config> receiver = {};
};

/// Its stages: estimate, detect, decode; with a loop estimate, receive. An item is a slot; frames are not cut
/// into parts. What is attached keeps y, H, N0 and LLRs of the largest frame. Decoders and loops take batches
/// of its slots, of half, a quarter, ... of them, down to one, into which a frame is cut: soft buffers of
/// twice as many slots. Throws argument_error as nr_shared_channel, channel_estimator, make_detector,
/// nr_transport_decoder and check_transport_loop do: it names resource blocks outside the carrier, less
/// rx_antennas than layers, a reserved mcs, pi2_bpsk.
///   const auto chain = make_pusch_chain({.channel = {.carrier = {.resource_blocks = 51}, .layers = 2},
///                                        .mcs = 16,
///                                        .detector = {.rx_antennas = 4}});
std::unique_ptr<frame_receiver> make_pusch_chain(const pusch_chain_config& config);

}  // namespace wb
