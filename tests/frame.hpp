#pragma once
// What the tests of WiMAX frames share.
#include <warpband/link/frame/frame.hpp>

namespace wb::testing {

/// Silver bursts of all modulations with LDPC codes, convolutional ones and none. The third burst has one
/// block, so that in a batch blocks of several frames are decoded in one call.
inline wimax_link_config coded() {
  using enum wimax_direction;
  wimax_link_config c;
  c.frame = make_wimax_frame(wimax_profile_of(128), 12, 12);
  c.frame.bursts = {{downlink, 72, 4, 4},
                    {downlink, 40, 6, 16, 0, 4},
                    {downlink, 7, 8, 64, 40, 4},
                    {downlink, 20, 2, 4, 50, 4}};
  c.codes.resize(4);
  c.codes[0].type = code_type::conv;
  c.codes[0].k = 100;
  c.codes[0].conv.rate = "3/4";
  c.codes[0].conv.termination = conv_ending::tail_biting;
  c.codes[0].conv.standard = conv_standard::ieee_802_16;
  c.codes[1].type = code_type::wimax_ldpc;
  c.codes[1].ldpc.n = 576;
  c.codes[2].type = code_type::wimax_ldpc;
  c.codes[2].ldpc.n = 576;
  c.codes[2].ldpc.rate = "2/3A";
  c.codes[3].type = code_type::none;
  return c;
}

}  // namespace wb::testing
