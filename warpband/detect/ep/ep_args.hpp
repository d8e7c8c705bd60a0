#pragma once
#include <warpband/detect/soft_args.hpp>

namespace wb {

struct ep_args : soft_args {
  int iterations = 0;
  float damping = 0, start_variance = 1;
};

}  // namespace wb
