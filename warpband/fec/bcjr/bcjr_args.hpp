#pragma once
#include <warpband/fec/conv/conv_args.hpp>

namespace wb {

struct bcjr_args {
  conv_trellis code;
  int overlap = 0;  // tail-biting: steps by which both recursions start early
  bool punctured = false;
  conv_known known = conv_known::none;
  std::uint8_t* kinds =
      nullptr;  // CUDA: the bcjr_kind of each item, if another kernel decodes the usual ones
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
