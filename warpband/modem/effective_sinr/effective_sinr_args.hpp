#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {
struct effective_sinr_args {
  bool exponential = false;  // EESM
  bool decibel = false;
  float beta = 1, beta_db = 0;
  float log_half_bits = 0;               // ln(Q / 2)
  const float* table = nullptr;          // coefficients of an interval after another, a table after another
  const std::int32_t* offset = nullptr;  // [elements]: where the table of an element begins; null: 0
  const float* bits = nullptr;           // [elements]: Q_e / Q; null: 1
  view<const float> sinr;
  view<const float> weight;   // null data: 1
  view<float> effective;      // null data: not wanted
  view<std::uint8_t> status;  // null data: not wanted
};
}  // namespace wb
