#pragma once
#include <warpband/fec/conv/conv_short_args.hpp>

namespace wb {

struct bcjr_short_args : conv_short_args {
  float unit = 0.125f;  // the LLR of a step
  view<float> soft;     // k; null data: not wanted
};

}  // namespace wb
