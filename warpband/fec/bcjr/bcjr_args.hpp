#pragma once
#include <warpband/fec/conv/conv_args.hpp>

namespace wb {

struct bcjr_args {
  conv_trellis code;
  int overlap = 0;  // tail-biting: steps by which both recursions start early
  conv_work work;
  double systematic = 0;    // systematic bits that were sent, of information bits
  view<const float> llr;    // n
  view<const float> prior;  // k; null data: none
  view<std::uint8_t> bits;  // k; null data: not wanted, here and below
  view<float> soft, extrinsic;
  view<float> coded;  // n
  view<std::uint8_t> status;
};

}  // namespace wb
