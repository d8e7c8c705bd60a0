// The base matrices of IEEE 802.16e and 802.11n.
//
// All have 24 columns and the same parity part: a first column of three blocks, and a dual diagonal of
// unrotated ones. Only the systematic parts are written out; `o` is a zero block.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include <warpband/fec/ldpc/ldpc_code.hpp>

namespace wb {

namespace {

constexpr int columns = 24;
constexpr std::int8_t o = -1;

struct base_matrix {
  std::span<const std::int8_t> systematic;
  int rows;
  /// The first parity column: the shift in the first and the last row, and the row and shift between.
  int outer, middle_row, middle;
};

qc_matrix completed(const base_matrix& base) {
  const int rows = base.rows, systematic = columns - rows;
  qc_matrix m{rows, columns, std::vector<int>(static_cast<std::size_t>(rows * columns), -1)};
  const auto shift = [&](int i, int j) -> int& {
    return m.shifts[static_cast<std::size_t>(i * columns + j)];
  };
  for (int i = 0; i < rows; i++) {
    const auto row = base.systematic.subspan(static_cast<std::size_t>(i * systematic),
                                             static_cast<std::size_t>(systematic));
    std::copy(row.begin(), row.end(), &shift(i, 0));
    if (i > 0) shift(i, systematic + i) = 0;
    if (i + 1 < rows) shift(i, systematic + i + 1) = 0;
  }
  shift(0, systematic) = shift(rows - 1, systematic) = base.outer;
  shift(base.middle_row, systematic) = base.middle;
  return m;
}

// clang-format off

// 802.16e-2005 §8.4.9.2.5, for z = 96.
constexpr std::int8_t wimax_1_2[] = {
   o, 94, 73,  o,  o,  o,  o,  o, 55, 83,  o,  o,
   o, 27,  o,  o,  o, 22, 79,  9,  o,  o,  o, 12,
   o,  o,  o, 24, 22, 81,  o, 33,  o,  o,  o,  0,
  61,  o, 47,  o,  o,  o,  o,  o, 65, 25,  o,  o,
   o,  o, 39,  o,  o,  o, 84,  o,  o, 41, 72,  o,
   o,  o,  o,  o, 46, 40,  o, 82,  o,  o,  o, 79,
   o,  o, 95, 53,  o,  o,  o,  o,  o, 14, 18,  o,
   o, 11, 73,  o,  o,  o,  2,  o,  o, 47,  o,  o,
  12,  o,  o,  o, 83, 24,  o, 43,  o,  o,  o, 51,
   o,  o,  o,  o,  o, 94,  o, 59,  o,  o, 70, 72,
   o,  o,  7, 65,  o,  o,  o,  o, 39, 49,  o,  o,
  43,  o,  o,  o,  o, 66,  o, 41,  o,  o,  o, 26};
constexpr std::int8_t wimax_2_3a[] = {
   3,  0,  o,  o,  2,  0,  o,  3,  7,  o,  1,  1,  o,  o,  o,  o,
   o,  o,  1,  o, 36,  o,  o, 34, 10,  o,  o, 18,  2,  o,  3,  0,
   o,  o, 12,  2,  o, 15,  o, 40,  o,  3,  o, 15,  o,  2, 13,  o,
   o,  o, 19, 24,  o,  3,  0,  o,  6,  o, 17,  o,  o,  o,  8, 39,
  20,  o,  6,  o,  o, 10, 29,  o,  o, 28,  o, 14,  o, 38,  o,  o,
   o,  o, 10,  o, 28, 20,  o,  o,  8,  o, 36,  o,  9,  o, 21, 45,
  35, 25,  o, 37,  o, 21,  o,  o,  5,  o,  o,  0,  o,  4, 20,  o,
   o,  6,  6,  o,  o,  o,  4,  o, 14, 30,  o,  3, 36,  o, 14,  o};
constexpr std::int8_t wimax_2_3b[] = {
   2,  o, 19,  o, 47,  o, 48,  o, 36,  o, 82,  o, 47,  o, 15,  o,
   o, 69,  o, 88,  o, 33,  o,  3,  o, 16,  o, 37,  o, 40,  o, 48,
  10,  o, 86,  o, 62,  o, 28,  o, 85,  o, 16,  o, 34,  o, 73,  o,
   o, 28,  o, 32,  o, 81,  o, 27,  o, 88,  o,  5,  o, 56,  o, 37,
  23,  o, 29,  o, 15,  o, 30,  o, 66,  o, 24,  o, 50,  o, 62,  o,
   o, 30,  o, 65,  o, 54,  o, 14,  o,  0,  o, 30,  o, 74,  o,  0,
  32,  o,  0,  o, 15,  o, 56,  o, 85,  o,  5,  o,  6,  o, 52,  o,
   o,  0,  o, 47,  o, 13,  o, 61,  o, 84,  o, 55,  o, 78,  o, 41};
constexpr std::int8_t wimax_3_4a[] = {
   6, 38,  3, 93,  o,  o,  o, 30, 70,  o, 86,  o, 37, 38,  4, 11,  o, 46,
  62, 94, 19, 84,  o, 92, 78,  o, 15,  o,  o, 92,  o, 45, 24, 32, 30,  o,
  71,  o, 55,  o, 12, 66, 45, 79,  o, 78,  o,  o, 10,  o, 22, 55, 70, 82,
  38, 61,  o, 66,  9, 73, 47, 64,  o, 39, 61, 43,  o,  o,  o,  o, 95, 32,
   o,  o,  o,  o, 32, 52, 55, 80, 95, 22,  6, 51, 24, 90, 44, 20,  o,  o,
   o, 63, 31, 88, 20,  o,  o,  o,  6, 40, 56, 16, 71, 53,  o,  o, 27, 26};
constexpr std::int8_t wimax_3_4b[] = {
   o, 81,  o, 28,  o,  o, 14, 25, 17,  o,  o, 85, 29, 52, 78, 95, 22, 92,
  42,  o, 14, 68, 32,  o,  o,  o,  o, 70, 43, 11, 36, 40, 33, 57, 38, 24,
   o,  o, 20,  o,  o, 63, 39,  o, 70, 67,  o, 38,  4, 72, 47, 29, 60,  5,
  64,  2,  o,  o, 63,  o,  o,  3, 51,  o, 81, 15, 94,  9, 85, 36, 14, 19,
   o, 53, 60, 80,  o, 26, 75,  o,  o,  o,  o, 86, 77,  1,  3, 72, 60, 25,
  77,  o,  o,  o, 15, 28,  o, 35,  o, 72, 30, 68, 85, 84, 26, 64, 11, 89};
constexpr std::int8_t wimax_5_6[] = {
   1, 25, 55,  o, 47,  4,  o, 91, 84,  8, 86, 52, 82, 33,  5,  0, 36, 20,  4, 77,
   o,  6,  o, 36, 40, 47, 12, 79, 47,  o, 41, 21, 12, 71, 14, 72,  0, 44, 49,  0,
  51, 81, 83,  4, 67,  o, 21,  o, 31, 24, 91, 61, 81,  9, 86, 78, 60, 88, 67, 15,
  50,  o, 50, 15,  o, 36, 13, 10, 11, 20, 53, 90, 29, 92, 57, 30, 84, 92, 11, 66};

// 802.11n-2009 tables R.1 to R.3, for n = 648, 1296, 1944.
constexpr std::int8_t wifi_648_1_2[] = {
   0,  o,  o,  o,  0,  0,  o,  o,  0,  o,  o,  0,
  22,  0,  o,  o, 17,  o,  0,  0, 12,  o,  o,  o,
   6,  o,  0,  o, 10,  o,  o,  o, 24,  o,  0,  o,
   2,  o,  o,  0, 20,  o,  o,  o, 25,  0,  o,  o,
  23,  o,  o,  o,  3,  o,  o,  o,  0,  o,  9, 11,
  24,  o, 23,  1, 17,  o,  3,  o, 10,  o,  o,  o,
  25,  o,  o,  o,  8,  o,  o,  o,  7, 18,  o,  o,
  13, 24,  o,  o,  0,  o,  8,  o,  6,  o,  o,  o,
   7, 20,  o, 16, 22, 10,  o,  o, 23,  o,  o,  o,
  11,  o,  o,  o, 19,  o,  o,  o, 13,  o,  3, 17,
  25,  o,  8,  o, 23, 18,  o, 14,  9,  o,  o,  o,
   3,  o,  o,  o, 16,  o,  o,  2, 25,  5,  o,  o};
constexpr std::int8_t wifi_648_2_3[] = {
  25, 26, 14,  o, 20,  o,  2,  o,  4,  o,  o,  8,  o, 16,  o, 18,
  10,  9, 15, 11,  o,  0,  o,  1,  o,  o, 18,  o,  8,  o, 10,  o,
  16,  2, 20, 26, 21,  o,  6,  o,  1, 26,  o,  7,  o,  o,  o,  o,
  10, 13,  5,  0,  o,  3,  o,  7,  o,  o, 26,  o,  o, 13,  o, 16,
  23, 14, 24,  o, 12,  o, 19,  o, 17,  o,  o,  o, 20,  o, 21,  o,
   6, 22,  9, 20,  o, 25,  o, 17,  o,  8,  o, 14,  o, 18,  o,  o,
  14, 23, 21, 11, 20,  o, 24,  o, 18,  o, 19,  o,  o,  o,  o, 22,
  17, 11, 11, 20,  o, 21,  o, 26,  o,  3,  o,  o, 18,  o, 26,  o};
constexpr std::int8_t wifi_648_3_4[] = {
  16, 17, 22, 24,  9,  3, 14,  o,  4,  2,  7,  o, 26,  o,  2,  o, 21,  o,
  25, 12, 12,  3,  3, 26,  6, 21,  o, 15, 22,  o, 15,  o,  4,  o,  o, 16,
  25, 18, 26, 16, 22, 23,  9,  o,  0,  o,  4,  o,  4,  o,  8, 23, 11,  o,
   9,  7,  0,  1, 17,  o,  o,  7,  3,  o,  3, 23,  o, 16,  o,  o, 21,  o,
  24,  5, 26,  7,  1,  o,  o, 15, 24, 15,  o,  8,  o, 13,  o, 13,  o, 11,
   2,  2, 19, 14, 24,  1, 15, 19,  o, 21,  o,  2,  o, 24,  o,  3,  o,  2};
constexpr std::int8_t wifi_648_5_6[] = {
  17, 13,  8, 21,  9,  3, 18, 12, 10,  0,  4, 15, 19,  2,  5, 10, 26, 19, 13, 13,
   3, 12, 11, 14, 11, 25,  5, 18,  0,  9,  2, 26, 26, 10, 24,  7, 14, 20,  4,  2,
  22, 16,  4,  3, 10, 21, 12,  5, 21, 14, 19,  5,  o,  8,  5, 18, 11,  5,  5, 15,
   7,  7, 14, 14,  4, 16, 16, 24, 24, 10,  1,  7, 15,  6, 10, 26,  8, 18, 21, 14};
constexpr std::int8_t wifi_1296_1_2[] = {
  40,  o,  o,  o, 22,  o, 49, 23, 43,  o,  o,  o,
  50,  1,  o,  o, 48, 35,  o,  o, 13,  o, 30,  o,
  39, 50,  o,  o,  4,  o,  2,  o,  o,  o,  o, 49,
  33,  o,  o, 38, 37,  o,  o,  4,  1,  o,  o,  o,
  45,  o,  o,  o,  0, 22,  o,  o, 20, 42,  o,  o,
  51,  o,  o, 48, 35,  o,  o,  o, 44,  o, 18,  o,
  47, 11,  o,  o,  o, 17,  o,  o, 51,  o,  o,  o,
   5,  o, 25,  o,  6,  o, 45,  o, 13, 40,  o,  o,
  33,  o,  o, 34, 24,  o,  o,  o, 23,  o,  o, 46,
   1,  o, 27,  o,  1,  o,  o,  o, 38,  o, 44,  o,
   o, 18,  o,  o, 23,  o,  o,  8,  0, 35,  o,  o,
  49,  o, 17,  o, 30,  o,  o,  o, 34,  o,  o, 19};
constexpr std::int8_t wifi_1296_2_3[] = {
  39, 31, 22, 43,  o, 40,  4,  o, 11,  o,  o, 50,  o,  o,  o,  6,
  25, 52, 41,  2,  6,  o, 14,  o, 34,  o,  o,  o, 24,  o, 37,  o,
  43, 31, 29,  0, 21,  o, 28,  o,  o,  2,  o,  o,  7,  o, 17,  o,
  20, 33, 48,  o,  4, 13,  o, 26,  o,  o, 22,  o,  o, 46, 42,  o,
  45,  7, 18, 51, 12, 25,  o,  o,  o, 50,  o,  o,  5,  o,  o,  o,
  35, 40, 32, 16,  5,  o,  o, 18,  o,  o, 43, 51,  o, 32,  o,  o,
   9, 24, 13, 22, 28,  o,  o, 37,  o,  o, 25,  o,  o, 52,  o, 13,
  32, 22,  4, 21, 16,  o,  o,  o, 27, 28,  o, 38,  o,  o,  o,  8};
constexpr std::int8_t wifi_1296_3_4[] = {
  39, 40, 51, 41,  3, 29,  8, 36,  o, 14,  o,  6,  o, 33,  o, 11,  o,  4,
  48, 21, 47,  9, 48, 35, 51,  o, 38,  o, 28,  o, 34,  o, 50,  o, 50,  o,
  30, 39, 28, 42, 50, 39,  5, 17,  o,  6,  o, 18,  o, 20,  o, 15,  o, 40,
  29,  0,  1, 43, 36, 30, 47,  o, 49,  o, 47,  o,  3,  o, 35,  o, 34,  o,
   1, 32, 11, 23, 10, 44, 12,  7,  o, 48,  o,  4,  o,  9,  o, 17,  o, 16,
  13,  7, 15, 47, 23, 16, 47,  o, 43,  o, 29,  o, 52,  o,  2,  o, 53,  o};
constexpr std::int8_t wifi_1296_5_6[] = {
  48, 29, 37, 52,  2, 16,  6, 14, 53, 31, 34,  5, 18, 42, 53, 31, 45,  o, 46, 52,
  17,  4, 30,  7, 43, 11, 24,  6, 14, 21,  6, 39, 17, 40, 47,  7, 15, 41, 19,  o,
   7,  2, 51, 31, 46, 23, 16, 11, 53, 40, 10,  7, 46, 53, 33, 35,  o, 25, 35, 38,
  19, 48, 41,  1, 10,  7, 36, 47,  5, 29, 52, 52, 31, 10, 26,  6,  3,  2,  o, 51};
constexpr std::int8_t wifi_1944_1_2[] = {
  57,  o,  o,  o, 50,  o, 11,  o, 50,  o, 79,  o,
   3,  o, 28,  o,  0,  o,  o,  o, 55,  7,  o,  o,
  30,  o,  o,  o, 24, 37,  o,  o, 56, 14,  o,  o,
  62, 53,  o,  o, 53,  o,  o,  3, 35,  o,  o,  o,
  40,  o,  o, 20, 66,  o,  o, 22, 28,  o,  o,  o,
   0,  o,  o,  o,  8,  o, 42,  o, 50,  o,  o,  8,
  69, 79, 79,  o,  o,  o, 56,  o, 52,  o,  o,  o,
  65,  o,  o,  o, 38, 57,  o,  o, 72,  o, 27,  o,
  64,  o,  o,  o, 14, 52,  o,  o, 30,  o,  o, 32,
   o, 45,  o, 70,  0,  o,  o,  o, 77,  9,  o,  o,
   2, 56,  o, 57, 35,  o,  o,  o,  o,  o, 12,  o,
  24,  o, 61,  o, 60,  o,  o, 27, 51,  o,  o, 16};
constexpr std::int8_t wifi_1944_2_3[] = {
  61, 75,  4, 63, 56,  o,  o,  o,  o,  o,  o,  8,  o,  2, 17, 25,
  56, 74, 77, 20,  o,  o,  o, 64, 24,  4, 67,  o,  7,  o,  o,  o,
  28, 21, 68, 10,  7, 14, 65,  o,  o,  o, 23,  o,  o,  o, 75,  o,
  48, 38, 43, 78, 76,  o,  o,  o,  o,  5, 36,  o, 15, 72,  o,  o,
  40,  2, 53, 25,  o, 52, 62,  o, 20,  o,  o, 44,  o,  o,  o,  o,
  69, 23, 64, 10, 22,  o, 21,  o,  o,  o,  o,  o, 68, 23, 29,  o,
  12,  0, 68, 20, 55, 61,  o, 40,  o,  o,  o, 52,  o,  o,  o, 44,
  58,  8, 34, 64, 78,  o,  o, 11, 78, 24,  o,  o,  o,  o,  o, 58};
constexpr std::int8_t wifi_1944_3_4[] = {
  48, 29, 28, 39,  9, 61,  o,  o,  o, 63, 45, 80,  o,  o,  o, 37, 32, 22,
   4, 49, 42, 48, 11, 30,  o,  o,  o, 49, 17, 41, 37, 15,  o, 54,  o,  o,
  35, 76, 78, 51, 37, 35, 21,  o, 17, 64,  o,  o,  o, 59,  7,  o,  o, 32,
   9, 65, 44,  9, 54, 56, 73, 34, 42,  o,  o,  o, 35,  o,  o,  o, 46, 39,
   3, 62,  7, 80, 68, 26,  o, 80, 55,  o, 36,  o, 26,  o,  9,  o, 72,  o,
  26, 75, 33, 21, 69, 59,  3, 38,  o,  o,  o, 35,  o, 62, 36, 26,  o,  o};
constexpr std::int8_t wifi_1944_5_6[] = {
  13, 48, 80, 66,  4, 74,  7, 30, 76, 52, 37, 60,  o, 49, 73, 31, 74, 73, 23,  o,
  69, 63, 74, 56, 64, 77, 57, 65,  6, 16, 51,  o, 64,  o, 68,  9, 48, 62, 54, 27,
  51, 15,  0, 80, 24, 25, 42, 54, 44, 71, 71,  9, 67, 35,  o, 58,  o, 29,  o, 53,
  16, 29, 36, 41, 44, 56, 59, 37, 50, 24,  o, 65,  4, 65, 52,  o,  4,  o, 73, 52};
// clang-format on

}  // namespace

ldpc_code wimax_ldpc(int n, wimax_rate rate) {
  if (n < 576 || n > 2304 || n % 96 != 0)
    throw argument_error("n", std::to_string(n), "576 to 2304 in steps of 96");
  const base_matrix bases[] = {{wimax_1_2, 12, 7, 5, 0},  {wimax_2_3a, 8, 1, 4, 0},
                               {wimax_2_3b, 8, 95, 6, 0}, {wimax_3_4a, 6, 48, 3, 0},
                               {wimax_3_4b, 6, 0, 2, 80}, {wimax_5_6, 4, 80, 1, 0}};
  const auto r = static_cast<std::size_t>(rate);
  if (r >= std::size(bases))
    throw argument_error("rate", std::to_string(static_cast<int>(rate)),
                         "r1_2, r2_3a, r2_3b, r3_4a, r3_4b or r5_6");
  const auto scaling = rate == wimax_rate::r2_3a ? shift_scaling::modulo : shift_scaling::floor;
  const int z = n / columns;
  return {lifted(completed(bases[r]), 96, z, scaling), z};
}

ldpc_code wifi_ldpc(int n, wifi_rate rate) {
  if (n != 648 && n != 1296 && n != 1944) throw argument_error("n", std::to_string(n), "648, 1296 or 1944");
  const std::span<const std::int8_t> bases[3][4] = {
      {wifi_648_1_2, wifi_648_2_3, wifi_648_3_4, wifi_648_5_6},
      {wifi_1296_1_2, wifi_1296_2_3, wifi_1296_3_4, wifi_1296_5_6},
      {wifi_1944_1_2, wifi_1944_2_3, wifi_1944_3_4, wifi_1944_5_6}};
  constexpr int rows[] = {12, 8, 6, 4};
  const auto r = static_cast<std::size_t>(rate);
  if (r >= std::size(rows))
    throw argument_error("rate", std::to_string(static_cast<int>(rate)), "r1_2, r2_3, r3_4 or r5_6");
  return {completed({bases[n / 648 - 1][r], rows[r], 1, rows[r] / 2, 0}), n / columns};
}

}  // namespace wb
