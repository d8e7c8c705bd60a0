#pragma once
// Receivers with ports, the chains of a stream: soft MIMO detection, with or without a decoder behind it,
// detection and precoding of massive MIMO, and space-time decoding. receive/pusch.hpp has that of 5G NR.
// Results are bit for bit those of a direct call.
//
//   arrays in                                                       arrays out
//   detect    channel [ceil(uses / uses_per_channel), R * S],       llr [uses, bits_per_use],
//             received [uses, R], noise_var [1]                     status [uses, 1]
//   decode    the same                                              bits [blocks, k], iterations [blocks, 1]
//             (by a detector and a decoder, or by both in a loop)
//   uplink    channel [vectors / symbols, B * U],                   llr [vectors, U * log2(qam)],
//             received [vectors, B], noise_var [1]                  status [vectors, 1]
//             (channel and received as halves with `half`; llr in 8-bit steps with `llr_int8`)
//   precode   channel [vectors / symbols, B * U],                   precoded [vectors, B],
//             sent [vectors, U], noise_var [1]                      status [vectors, 1]
//             (channel as halves with `half`)
//   stbc      channel [ceil(codewords / codewords_per_channel),     llr [codewords, bits_per_codeword],
//             2 * R], received [codewords, 2 * R], noise_var [1]    status [codewords, 1]
//             (sizes of codes over subcarriers: stbc/stbc.hpp)
//
// Vectors that share a channel estimate lie one after the other: the symbols of one subcarrier, or, with one
// estimate for 12 of them and `symbols` = 12 * 14, all symbols of 12 subcarriers; but see
// uplink_chain_config::splits.
#include <cstdint>
#include <memory>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/massive/downlink/downlink.hpp>
#include <warpband/massive/uplink/uplink.hpp>
#include <warpband/receive/frame_receiver.hpp>
#include <warpband/receive/iterative.hpp>
#include <warpband/stbc/stbc.hpp>

namespace wb {

struct detect_chain_config {
  detector_config detector;
  std::size_t uses_per_channel = 1;
};
struct uplink_chain_config {
  uplink_config detector;
  int symbols = 14;  // vectors that share an H: 1..2^20
  /// Divides `symbols`. With more than 1 the vectors of a frame come in that many splits, as OFDM symbols
  /// come from a radio. Each split has symbols / splits vectors of every H: vector (split * H's + h) *
  /// (symbols / splits) + i. Parts of a frame are then splits instead of H's, which all need all H: better
  /// where few H are shared by many vectors.
  int splits = 1;
  /// H and y come as pairs of halves (complex32): half the bytes; all is computed in float32.
  bool half = false;
  /// LLRs go as int8, in steps of 1 / detector.llr_steps: a quarter of the bytes.
  bool llr_int8 = false;
  /// The antennas in clusters (massive/cluster), which share the executor of a frame.
  int clusters = 1;
  massive_cluster_method cluster_method = massive_cluster_method::exact;
};
/// Settings of how its frames come and go; those of the detector are `uplink_settings`.
const std::vector<setting_of<uplink_chain_config>>& uplink_chain_settings();
struct precode_chain_config {
  downlink_config precoder;
  int symbols = 14;
  int clusters = 1;
  massive_cluster_method cluster_method = massive_cluster_method::exact;
  bool half = false;  // H comes as pairs of halves
};
struct stbc_chain_config {
  stbc_config decoder;
  std::size_t codewords_per_channel = 1;
};

/// Each throws argument_error for what is not allowed.
std::unique_ptr<frame_receiver> make_detect_chain(const detect_chain_config& config);
/// A decoder behind the detector. The LLRs of a frame, use after use, are cut into codewords; what is left
/// behind the last whole one is not decoded.
std::unique_ptr<frame_receiver> make_decode_chain(const detect_chain_config& config,
                                                  std::shared_ptr<const soft_decoder> decoder);
/// The same of a code by name.
std::unique_ptr<frame_receiver> make_decode_chain(const detect_chain_config& config,
                                                  std::shared_ptr<const codec> code);
/// The arrays of `decode`, in one stage. A block is a codeword in uses of the channel of its own. What is
/// left behind the last whole block of a frame is not received. On a device it only queues.
std::unique_ptr<frame_receiver> make_receive_chain(const detect_chain_config& config,
                                                   const iterative_receiver& receiver);
std::unique_ptr<frame_receiver> make_uplink_chain(const uplink_chain_config& config);
std::unique_ptr<frame_receiver> make_precode_chain(const precode_chain_config& config);
std::unique_ptr<frame_receiver> make_stbc_chain(const stbc_chain_config& config);

}  // namespace wb
