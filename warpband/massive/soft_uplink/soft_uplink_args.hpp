#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

struct soft_uplink_args {
  int antennas = 0, users = 0, pam_bits = 0, symbols = 1;
  bool extrinsic = false;  // the prior is taken off the LLRs again
  float clip = 0;
  view<const cx_pair> channel, received;  // [frames, antennas * users], [frames * symbols, antennas]
  view<const float> noise_var, prior;     // prior without data: none
  view<float> llr;                        // null data: not wanted
  view<std::uint8_t> bits, status;        // null data: not wanted
};

}  // namespace wb
