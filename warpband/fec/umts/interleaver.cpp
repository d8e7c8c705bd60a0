#include <warpband/fec/umts/interleaver.hpp>

#include <array>
#include <numeric>
#include <span>
#include <utility>

#include <warpband/core/check.hpp>

namespace wb {
namespace {

bool is_prime(int n) {
  for (int d = 2; d * d <= n; d++)
    if (n % d == 0) return false;
  return n > 1;
}

/// v^0, v^1, ... v^(p - 2) modulo p, v the least primitive root of p: those of table 2 are the least ones.
std::vector<int> base_sequence(int p) {
  for (int v = 2;; v++) {
    std::vector<int> powers{1};
    while (v * powers.back() % p != 1) powers.push_back(v * powers.back() % p);
    if (static_cast<int>(powers.size()) == p - 1) return powers;
  }
}

/// Rows, columns and the prime of a block.
struct shape {
  int rows = 0, columns = 0, prime = 0;
};
shape shape_of(int k) {
  shape s;
  s.rows = k <= 159 ? 5 : k <= 200 || (k >= 481 && k <= 530) ? 10 : 20;
  if (k >= 481 && k <= 530) return {s.rows, 53, 53};
  s.prime = 7;
  while (k > s.rows * (s.prime + 1)) do
      s.prime++;
    while (!is_prime(s.prime));
  s.columns = k <= s.rows * (s.prime - 1) ? s.prime - 1 : k <= s.rows * s.prime ? s.prime : s.prime + 1;
  return s;
}

/// The original row of each permuted row, table 3.
std::span<const int> row_order(int k, int rows) {
  static constexpr std::array<int, 5> of_5{4, 3, 2, 1, 0};
  static constexpr std::array<int, 10> of_10{9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  static constexpr std::array<int, 20> some_of_20{19, 9,  14, 4,  0, 2, 5, 7,  12, 18,
                                                  16, 13, 17, 15, 3, 1, 6, 11, 8,  10};
  static constexpr std::array<int, 20> other_of_20{19, 9, 14, 4,  0, 2, 5,  7, 12, 18,
                                                   10, 8, 13, 17, 3, 1, 16, 6, 15, 11};
  if (rows == 5) return of_5;
  if (rows == 10) return of_10;
  if ((k >= 2281 && k <= 2480) || (k >= 3161 && k <= 3210)) return some_of_20;
  return other_of_20;
}

/// The factors of the rows in permuted order: 1, then increasing primes from 7 on that do not divide p - 1.
std::vector<int> row_factors(int rows, int prime) {
  std::vector<int> factors{1};
  for (int q = 7; static_cast<int>(factors.size()) < rows; q++)
    if (is_prime(q) && (prime - 1) % q != 0) factors.push_back(q);
  return factors;
}

}  // namespace

std::vector<std::int32_t> umts_permutation(int k) {
  check_range("k", k, umts_least_k, umts_most_k);
  const auto [rows, columns, p] = shape_of(k);
  const std::vector<int> powers = base_sequence(p), factors = row_factors(rows, p);
  const std::span<const int> order = row_order(k, rows);
  // The original column of each column, of the permuted rows in their order.
  std::vector<std::vector<int>> original;
  for (const int factor : factors) {
    std::vector<int> u;
    for (int j = 0; j < p - 1; j++)
      u.push_back(powers[static_cast<std::size_t>(j * factor % (p - 1))] - (columns == p - 1 ? 1 : 0));
    if (columns >= p) u.push_back(0);
    if (columns > p) u.push_back(p);
    original.push_back(std::move(u));
  }
  if (columns == p + 1 && k == rows * columns)  // of the last row, the first of the permuted ones
    for (std::size_t i = 0; i < original.size(); i++)
      if (order[i] == rows - 1) std::swap(original[i].front(), original[i].back());
  std::vector<std::int32_t> permutation;
  permutation.reserve(static_cast<std::size_t>(k));
  for (std::size_t j = 0; j < static_cast<std::size_t>(columns); j++)
    for (std::size_t i = 0; i < original.size(); i++)
      if (const int bit = order[i] * columns + original[i][j]; bit < k) permutation.push_back(bit);
  return permutation;
}

}  // namespace wb
