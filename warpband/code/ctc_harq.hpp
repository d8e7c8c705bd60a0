#pragma once
// ctc-harq: blocks of IEEE 802.16 with a CRC-16 and the convolutional turbo code, sent with HARQ by chase
// combining or incremental redundancy (fec/ctc/ctc_transport.hpp). A link sends a block until its CRC holds.
#include <warpband/code/transport.hpp>
#include <warpband/fec/ctc/ctc_transport.hpp>

namespace wb {

struct ctc_harq_settings {
  int transport_block_size = 464;  // A, without CRC; k = 480
  transport_settings sent = {.redundancy_versions = {0, 1, 2, 3}};
  ctc_decoder_config decoder = {};
  bool operator==(const ctc_harq_settings&) const = default;
};

/// What encoder and decoder take. Throws argument_error for what is not allowed.
ctc_transport_config transport_of(const ctc_harq_settings& settings);

code_kind ctc_harq_kind();

}  // namespace wb
