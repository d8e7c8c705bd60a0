#pragma once
#include <cstddef>

#include <warpband/core/view.hpp>

namespace wb {
/// An item is a vector.
struct matrix_channel_args {
  int rows = 1, columns = 1;  // of H
  std::size_t vectors_per_channel = 1;
  float scale = 1;
  bool adjoint = false;
  view<const cx_pair> channel, in;
  view<cx_pair> out;
};
}  // namespace wb
