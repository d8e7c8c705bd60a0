#pragma once
// Arguments of the kernels of BCH codes. Plain data.
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>

namespace wb {

inline constexpr int bch_most_errors = 12, bch_most_field_degree = 16;
/// Words of 32 bits that hold a remainder modulo g.
inline constexpr int bch_words = bch_most_errors * bch_most_field_degree / 32;

struct bch_encode_args {
  int n = 0, k = 0;
  view<const std::uint8_t> bits;  // k
  view<std::uint8_t> coded;       // >= n
  const std::int32_t* remainders =
      nullptr;  // [n][bch_words]: x^(n - 1 - i) mod g, bit j % 32 of word j / 32 for x^j
};

struct bch_decode_args {
  int n = 0, k = 0;
  int field_degree = 0, polynomial = 0, corrects = 0;
  view<const std::uint8_t> received;   // n
  view<const std::uint8_t> erased;     // 1; null: none are
  view<const std::int32_t> undecided;  // 1; null: all bits are decided
  view<std::uint8_t> bits;             // k; null data: not wanted, here and below
  view<std::int32_t> corrected;
  view<std::uint8_t> status;
  const std::int32_t* remainders = nullptr;  // as above
  const std::int32_t* powers = nullptr;      // [corrects][n - k]: alpha^((2 i + 1) j)
};

}  // namespace wb
