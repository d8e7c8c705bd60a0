#pragma once
#include <warpband/fec/conv/conv_args.hpp>

namespace wb {

struct viterbi_args {
  conv_trellis code;
  int overlap = 0;     // tail-biting: steps that the decoder does before and after the codeword
  bool exact = false;  // tail-biting: the most likely codeword
  conv_known known = conv_known::none;
  bool punctured = false;
  /// Long codewords: decisions of `kept` steps, a power of two, are kept, and bits decided once `depth` steps
  /// lie behind them. kept = 0: all are kept.
  int kept = 0, depth = 0;
  conv_work work;
  view<const float> llr;    // n
  view<std::uint8_t> bits;  // k; null data: not wanted, here and below
  view<float> metric;
  view<std::uint8_t> status;
};

}  // namespace wb
