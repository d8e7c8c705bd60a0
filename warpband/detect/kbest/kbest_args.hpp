#pragma once
#include <warpband/detect/search_args.hpp>

namespace wb {

struct kbest_args : search_args {
  int survivors = 0;
  bool real_valued = false;
};

}  // namespace wb
