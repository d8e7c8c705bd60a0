#pragma once
// What the tests of WiMAX frames share.
#include <tests/codes.hpp>
#include <warpband/receive/wimax/frame.hpp>

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
  c.codes[0] = code_config("conv");
  k_in(c.codes[0]) = 100;
  conv_in(c.codes[0]).rate = "3/4";
  conv_in(c.codes[0]).termination = conv_ending::tail_biting;
  conv_in(c.codes[0]).standard = conv_standard::ieee_802_16;
  c.codes[1] = code_config("wimax-ldpc");
  n_in(c.codes[1]) = 576;
  c.codes[2] = code_config("wimax-ldpc");
  n_in(c.codes[2]) = 576;
  ldpc_in(c.codes[2]).rate = "2/3A";
  c.codes[3] = code_config("none");
  return c;
}

}  // namespace wb::testing
