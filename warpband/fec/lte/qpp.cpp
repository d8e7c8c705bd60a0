#include <warpband/fec/lte/qpp.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include <warpband/core/error.hpp>

namespace wb {
namespace {

/// A stretch of equally spaced block sizes. Within the table the step grows with k.
struct size_range {
  int first, last, step;
  constexpr int count() const { return (last - first) / step + 1; }
};

constexpr std::array<size_range, 4> ranges{
    {{40, 512, 8}, {528, 1024, 16}, {1056, 2048, 32}, {2112, 6144, 64}}};

struct coefficients {
  std::int16_t f1, f2;
};

/// f1 and f2 of TS 36.212 table 5.1.3-3 in order of k. The block sizes follow from `ranges`.
// clang-format off
constexpr std::array<coefficients, 188> table_coefficients{{
    // k = 40..512 step 8
    {3, 10}, {7, 12}, {19, 42}, {7, 16}, {7, 18}, {11, 20}, {5, 22}, {11, 24},
    {7, 26}, {41, 84}, {103, 90}, {15, 32}, {9, 34}, {17, 108}, {9, 38}, {21, 120},
    {101, 84}, {21, 44}, {57, 46}, {23, 48}, {13, 50}, {27, 52}, {11, 36}, {27, 56},
    {85, 58}, {29, 60}, {33, 62}, {15, 32}, {17, 198}, {33, 68}, {103, 210}, {19, 36},
    {19, 74}, {37, 76}, {19, 78}, {21, 120}, {21, 82}, {115, 84}, {193, 86}, {21, 44},
    {133, 90}, {81, 46}, {45, 94}, {23, 48}, {243, 98}, {151, 40}, {155, 102}, {25, 52},
    {51, 106}, {47, 72}, {91, 110}, {29, 168}, {29, 114}, {247, 58}, {29, 118}, {89, 180},
    {91, 122}, {157, 62}, {55, 84}, {31, 64},
    // k = 528..1024 step 16
    {17, 66}, {35, 68}, {227, 420}, {65, 96}, {19, 74}, {37, 76}, {41, 234}, {39, 80},
    {185, 82}, {43, 252}, {21, 86}, {155, 44}, {79, 120}, {139, 92}, {23, 94}, {217, 48},
    {25, 98}, {17, 80}, {127, 102}, {25, 52}, {239, 106}, {17, 48}, {137, 110}, {215, 112},
    {29, 114}, {15, 58}, {147, 118}, {29, 60}, {59, 122}, {65, 124}, {55, 84}, {31, 64},
    // k = 1056..2048 step 32
    {17, 66}, {171, 204}, {67, 140}, {35, 72}, {19, 74}, {39, 76}, {19, 78}, {199, 240},
    {21, 82}, {211, 252}, {21, 86}, {43, 88}, {149, 60}, {45, 92}, {49, 846}, {71, 48},
    {13, 28}, {17, 80}, {25, 102}, {183, 104}, {55, 954}, {127, 96}, {27, 110}, {29, 112},
    {29, 114}, {57, 116}, {45, 354}, {31, 120}, {59, 610}, {185, 124}, {113, 420}, {31, 64},
    // k = 2112..6144 step 64
    {17, 66}, {171, 136}, {209, 420}, {253, 216}, {367, 444}, {265, 456}, {181, 468}, {39, 80},
    {27, 164}, {127, 504}, {143, 172}, {43, 88}, {29, 300}, {45, 92}, {157, 188}, {47, 96},
    {13, 28}, {111, 240}, {443, 204}, {51, 104}, {51, 212}, {451, 192}, {257, 220}, {57, 336},
    {313, 228}, {271, 232}, {179, 236}, {331, 120}, {363, 244}, {375, 248}, {127, 168}, {31, 64},
    {33, 130}, {43, 264}, {33, 134}, {477, 408}, {35, 138}, {233, 280}, {357, 142}, {337, 480},
    {37, 146}, {71, 444}, {71, 120}, {37, 152}, {39, 462}, {127, 234}, {39, 158}, {39, 80},
    {31, 96}, {113, 902}, {41, 166}, {251, 336}, {43, 170}, {21, 86}, {43, 174}, {45, 176},
    {45, 178}, {161, 120}, {89, 182}, {323, 184}, {47, 186}, {23, 94}, {47, 190}, {263, 480},
}};
// clang-format on

/// Position of block size k in the table.
constexpr std::optional<std::size_t> row_of(int k) noexcept {
  int before = 0;
  for (const size_range& range : ranges) {
    if (k >= range.first && k <= range.last) {
      if ((k - range.first) % range.step != 0) return std::nullopt;
      return static_cast<std::size_t>(before + (k - range.first) / range.step);
    }
    before += range.count();
  }
  return std::nullopt;
}

constexpr auto table = [] {
  std::array<qpp_parameters, table_coefficients.size()> rows{};
  for (const size_range& range : ranges) {
    for (int k = range.first; k <= range.last; k += range.step) {
      const std::size_t row = *row_of(k);
      rows[row] = {k, table_coefficients[row].f1, table_coefficients[row].f2};
    }
  }
  return rows;
}();
static_assert(table.front().k == 40 && table.back().k == 6144, "the ranges must fill the table exactly");

constexpr std::int64_t residue(int value, int modulus) {
  const int remainder = value % modulus;
  return remainder < 0 ? std::int64_t{remainder} + modulus : remainder;
}

}  // namespace

std::span<const qpp_parameters> qpp_table() noexcept { return table; }

bool is_qpp_size(int k) noexcept { return row_of(k).has_value(); }

qpp_parameters qpp_for(int k) {
  const auto row = row_of(k);
  if (!row) {
    throw argument_error(
        "k", std::to_string(k),
        "one of the 188 block sizes of TS 36.212 table 5.1.3-3: 40..512 step 8, 528..1024 step 16, "
        "1056..2048 step 32, 2112..6144 step 64");
  }
  return table[*row];
}

std::vector<std::int32_t> qpp_permutation(qpp_parameters parameters) {
  const auto [k, f1, f2] = parameters;
  if (k < 1) throw argument_error("k", std::to_string(k), "at least 1");
  const std::int64_t linear = residue(f1, k);
  const std::int64_t quadratic = residue(f2, k);
  std::vector<std::int32_t> permutation(static_cast<std::size_t>(k));
  std::vector<bool> visited(static_cast<std::size_t>(k), false);
  for (std::int64_t i = 0; i < k; ++i) {
    // Horner's form reduced at each step: no product reaches k^2 + k < 2^63.
    const std::int64_t target = (linear + quadratic * i) % k * i % k;
    if (visited[static_cast<std::size_t>(target)]) {
      throw argument_error(
          "f1, f2", std::to_string(f1) + ", " + std::to_string(f2) + " (k = " + std::to_string(k) + ")",
          "coefficients for which (f1 i + f2 i^2) mod k takes every value 0..k-1 once");
    }
    visited[static_cast<std::size_t>(target)] = true;
    permutation[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(target);
  }
  return permutation;
}

}  // namespace wb
