#pragma once
#include <warpband/detect/search_args.hpp>

namespace wb {

struct sphere_args : search_args {
  bool hard = false;
  float radius = 0;  // squared, in units of N0; infinity for none
  int node_limit = 1;
  view<std::int32_t> visited;  // null data: not wanted
};

}  // namespace wb
