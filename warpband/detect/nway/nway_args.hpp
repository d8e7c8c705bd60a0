#pragma once
#include <warpband/detect/search_args.hpp>

namespace wb {

struct nway_args : search_args {
  int ways = 0;
};

}  // namespace wb
