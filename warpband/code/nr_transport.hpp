#pragma once
// nr-dlsch and nr-ulsch, 3GPP TS 38.212 §7.2 and §6.2: transport blocks of DL-SCH and UL-SCH, sent as those
// of lte-transport are (fec/nr/transport.hpp).
#include <optional>

#include <warpband/code/transport.hpp>
#include <warpband/fec/nr/transport.hpp>

namespace wb {

struct nr_transport_settings {
  int transport_block_size = 8424;  // A, without CRCs; one code block of 8448
  transport_settings sent = {};
  /// By which the base graph is chosen. Absent: A / G.
  std::optional<double> target_rate = {};
  /// Limited buffers of a carrier of so many resource blocks, in place of soft_buffer: N_ref of TBS_LBRM with
  /// these layers and 64-QAM, or the modulation if it is larger (nr_lbrm_transport_bits).
  std::optional<int> lbrm_resource_blocks = {};
  std::optional<std::int64_t> scrambling = {};  // c_init. Of no link
  std::optional<int> base_graph = {};           // 1 or 2; absent: by A and the target rate
  ldpc_decoder_config decoder = {};
  bool operator==(const nr_transport_settings&) const = default;
};

/// What encoder and decoder take. Throws argument_error for what is not allowed.
nr_transport_config nr_transport_of(const nr_transport_settings& settings);
/// What encoder and decoder keep of a transport block: code blocks and their codewords.
std::size_t nr_transport_bytes(const nr_segmentation& segmentation);

/// An encoder and a decoder of transport blocks.
std::unique_ptr<transport_coder> make_coder(const nr_transport_config& config);

code_kind nr_dlsch_kind();
code_kind nr_ulsch_kind();

}  // namespace wb
