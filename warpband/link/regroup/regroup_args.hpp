#pragma once
#include <cstddef>

namespace wb {
/// An item is a row of `out`.
struct regroup_args {
  int rows = 1, columns = 1, width = 1;  // of `in`
  const float* in = nullptr;
  float* out = nullptr;
};
}  // namespace wb
