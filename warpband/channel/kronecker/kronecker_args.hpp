#pragma once
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// Triangles: row i begins at i (i + 1) / 2. Null: the identity.
struct kronecker_args {
  int streams = 1, rx_antennas = 1;
  std::size_t uses_per_channel = 1;
  const float* rx = nullptr;
  const float* tx = nullptr;
  view<const cx_pair> in;  // no data: only H
  view<cx_pair> out, channel;
  std::uint64_t seed = 0, first = 0;
  std::uint32_t point = 0;
};

}  // namespace wb
