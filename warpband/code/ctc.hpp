#pragma once
// ctc: convolutional turbo codes of IEEE 802.16 §8.4.9.2.3 and DVB-RCS, ETSI EN 301 790 §8.5.2; k bits to n
// = k over the rate.
#include <vector>

#include <warpband/code/code_kind.hpp>
#include <warpband/fec/ctc/ctc.hpp>

namespace wb {

struct ctc_code_settings {
  ctc_config code = {};
  ctc_decoder_config decoder = {};
  bool operator==(const ctc_code_settings&) const = default;
};

/// Decoders that `warpband choose` may try in place of one.
std::vector<ctc_decoder_config> ctc_candidates(const ctc_decoder_config& base);

code_kind ctc_code_kind();

}  // namespace wb
