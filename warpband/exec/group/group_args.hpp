#pragma once
#include <cstddef>

namespace wb {

struct group_sum_args {
  const float* first = nullptr;
  int count = 1;
  std::size_t distance = 0, values = 0;
  float* out = nullptr;
};

}  // namespace wb
