#pragma once
// Arguments of the kernel for ordered-statistics decoding. Plain data.
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>

namespace wb {

/// Belief propagation did not stop, and OSD found the word. All checks hold.
inline constexpr std::uint8_t status_osd = 8;
/// Beside status_erased: no word has this syndrome.
inline constexpr std::uint8_t status_inconsistent = 16;

struct osd_args {
  int n = 0, checks = 0, rank = 0;
  int words = 0;                // of 32 checks
  int padded = 0;               // n, up to a power of two
  int order = 0;                // at most n - rank; 0: OSD-0
  bool exhaustive = false;      // all patterns of the first `order` free columns, else singles and pairs
  bool ratio_cost = false;      // a one costs ln((1 - p) / p), else ln(1 / p)
  bool word_form = false;       // codewords, else error patterns of a syndrome
  view<const float> llr;        // n: of the channel
  view<const float> posterior;  // n: after belief propagation
  view<const std::uint8_t> syndrome;  // checks; null: zeros
  view<std::uint8_t> bits;            // n: decisions of belief propagation, then the result
  view<std::uint8_t> status;          // of belief propagation, then of both
  const std::int32_t *column_firsts = nullptr, *column_rows = nullptr;  // the rows of each column's ones
  const std::int32_t *row_firsts = nullptr, *row_columns = nullptr;     // the columns of each row's ones
};

}  // namespace wb
