#pragma once
// lte-transport, 3GPP TS 36.212 §5.1.1 to §5.1.4: a transport block of A bits to the n = G bits of each of
// its transmissions (fec/lte/transport.hpp). A link sends it with HARQ.
#include <warpband/code/transport.hpp>
#include <warpband/fec/lte/transport.hpp>

namespace wb {

struct lte_transport_settings {
  int transport_block_size = 6120;  // A, without CRCs; one code block of 6144
  transport_settings sent = {};
  turbo_decoder_config decoder{.early_stop = turbo_early_stop::crc};
  bool operator==(const lte_transport_settings&) const = default;
};

/// What encoder and decoder take. Throws argument_error for what is not allowed.
lte_transport_config transport_of(const lte_transport_settings& settings);

code_kind lte_transport_kind();

}  // namespace wb
