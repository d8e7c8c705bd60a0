#pragma once
#include <cstddef>
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>

namespace wb {

/// What a call hands to the kernel of any detector. Kinds that need more derive from it.
struct detect_call {
  int streams = 0, rx_antennas = 0, pam_bits = 0;  // pam_bits: bits of a symbol in one real dimension
  int tile = 1;                                    // CUDA: threads that share a use; of kbest, uses of a warp
  bool extrinsic = false;
  float clip = 0;
  std::size_t uses_per_channel = 1;
  view<const cx_pair> received, channel;
  view<const float> noise_var, prior;  // prior: null data for none
  view<float> llr;                     // null data: not wanted
  view<std::uint8_t> bits, status;     // null data: not wanted
};

}  // namespace wb
