#pragma once
#include <warpband/fec/conv/conv_args.hpp>

namespace wb {

struct bcjr_args {
  conv_trellis code;
  bool log_map = true;
  int overlap = 0;          // tail-biting: steps by which both recursions start early
  double loads = 0;         // LLRs of the codeword that it loads, as often as it does
  double runs = 0;          // runs of steps whose weights it makes
  view<const float> llr;    // n
  view<const float> prior;  // k; null data: none
  view<std::uint8_t> bits;  // k; null data: not wanted, here and below
  view<float> soft, extrinsic;
  view<std::uint8_t> status;
};

}  // namespace wb
