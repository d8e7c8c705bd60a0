#pragma once
// Arguments that the 16-bit decoders of convolutional codes share. Plain data.
#include <warpband/fec/conv/conv_args.hpp>
#include <warpband/fec/quantise/quantise_args.hpp>

namespace wb {

struct conv_short_args {
  conv_trellis code;
  bool punctured = false;
  int windows = 1, length = 0;  // of a codeword, and steps of a window
  int overlap = 0;              // steps that a window begins early and ends late
  bool by_warp = false;         // CUDA: a block is a warp, whose threads share windows
  conv_known known = conv_known::none;
  llr_quanta quanta;             // of an LLR of 1
  view<const float> llr;         // n; or:
  view<const std::int8_t> llr8;  // the same in quanta
  view<std::uint8_t> bits;       // k; null data: not wanted, here and below
  view<std::uint8_t> status;
};

}  // namespace wb
