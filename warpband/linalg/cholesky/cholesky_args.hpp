#pragma once
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>

namespace wb {
struct cholesky_args {
  int size = 0;
  view<const cx_pair> a, b;   // b: null data for none
  view<cx_pair> r, x;         // null data: not wanted
  view<std::uint8_t> status;  // null data: not wanted
};
}  // namespace wb
