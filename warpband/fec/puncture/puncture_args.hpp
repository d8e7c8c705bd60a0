#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {
struct pick_args {
  view<const std::uint8_t> bits_in;
  view<std::uint8_t> bits_out;  // null data: LLRs are wanted
  view<const float> llr_in;
  view<float> llr_out;
  int n = 0, places = 0;               // values of a row written, of them those of the table; zeros behind
  const std::int32_t* from = nullptr;  // what each place takes, -1 for zero
};
}  // namespace wb
