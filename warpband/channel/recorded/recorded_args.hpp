#pragma once
#include <cstddef>
#include <cstdint>

namespace wb {
/// An item is an H.
struct recorded_args {
  int width = 2;  // floats of an H
  std::uint64_t first = 0;
  std::size_t per_frame = 1, rows = 1, snapshots = 1;
  const float* table = nullptr;
  float* h = nullptr;
};
}  // namespace wb
