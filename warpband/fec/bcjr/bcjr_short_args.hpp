#pragma once
#include <warpband/fec/conv/conv_short_args.hpp>

namespace wb {

struct bcjr_short_args : conv_short_args {
  view<float> soft;  // k; null data: not wanted
};

}  // namespace wb
