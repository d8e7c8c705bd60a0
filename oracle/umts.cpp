#include <oracle/umts.hpp>

#include <map>
#include <numeric>
#include <stdexcept>

namespace oracle {
namespace {

/// Table 2: primes and their primitive roots.
const std::map<int, int> roots{
    {7, 3},   {11, 2},  {13, 2},  {17, 3},   {19, 2},  {23, 5},  {29, 2},  {31, 3},  {37, 2},
    {41, 6},  {43, 3},  {47, 5},  {53, 2},   {59, 2},  {61, 2},  {67, 2},  {71, 7},  {73, 5},
    {79, 3},  {83, 2},  {89, 3},  {97, 5},   {101, 2}, {103, 5}, {107, 2}, {109, 6}, {113, 3},
    {127, 3}, {131, 2}, {137, 3}, {139, 2},  {149, 2}, {151, 6}, {157, 5}, {163, 2}, {167, 5},
    {173, 2}, {179, 2}, {181, 2}, {191, 19}, {193, 5}, {197, 2}, {199, 3}, {211, 2}, {223, 3},
    {227, 2}, {229, 6}, {233, 3}, {239, 7},  {241, 7}, {251, 6}, {257, 3}};

/// Table 3.
std::vector<int> pattern(int k, int R) {
  std::vector<int> T(static_cast<std::size_t>(R));
  if (R < 20) {
    for (int i = 0; i < R; ++i) T[static_cast<std::size_t>(i)] = R - 1 - i;
    return T;
  }
  if ((2281 <= k && k <= 2480) || (3161 <= k && k <= 3210))
    return {19, 9, 14, 4, 0, 2, 5, 7, 12, 18, 16, 13, 17, 15, 3, 1, 6, 11, 8, 10};
  return {19, 9, 14, 4, 0, 2, 5, 7, 12, 18, 10, 8, 13, 17, 3, 1, 16, 6, 15, 11};
}

}  // namespace

std::vector<int> umts(int k) {
  if (k < 40 || k > 5114) throw std::invalid_argument("oracle::umts: k must be 40..5114");
  // (1) rows
  const int R = k < 160 ? 5 : (k <= 200 || (481 <= k && k <= 530)) ? 10 : 20;
  // (2) prime and columns
  int p = 53, C = 53;
  if (k < 481 || k > 530) {
    for (const auto& [prime, root] : roots) {
      p = prime;
      if (k <= R * (p + 1)) break;
    }
    C = p + 1;
    if (k <= R * p) C = p;
    if (k <= R * (p - 1)) C = p - 1;
  }
  // (3) the matrix, row by row; -1: a dummy
  using matrix = std::vector<std::vector<int>>;
  const auto rows = static_cast<std::size_t>(R), columns = static_cast<std::size_t>(C);
  matrix in(rows, std::vector<int>(columns, -1));
  for (int x = 0; x < k; ++x) in[static_cast<std::size_t>(x / C)][static_cast<std::size_t>(x % C)] = x;
  // Base sequence, prime factors q and their permutation r.
  std::vector<int> s{1};
  for (int j = 1; j <= p - 2; ++j) s.push_back(roots.at(p) * s.back() % p);
  std::vector<int> q{1};
  while (q.size() < rows) {
    int candidate = q.back() < 7 ? 7 : q.back() + 1;
    while (roots.count(candidate) == 0 || std::gcd(candidate, p - 1) != 1) ++candidate;
    q.push_back(candidate);
  }
  const std::vector<int> T = pattern(k, R);
  std::vector<int> r(rows);
  for (std::size_t i = 0; i < rows; ++i) r[static_cast<std::size_t>(T[i])] = q[i];
  // Within the rows: column j of row i comes from column U_i(j).
  matrix within(rows, std::vector<int>(columns));
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<int> U(columns);
    for (int j = 0; j <= p - 2; ++j) {
      const int value = s[static_cast<std::size_t>(j * r[i] % (p - 1))];
      U[static_cast<std::size_t>(j)] = C == p - 1 ? value - 1 : value;
    }
    if (C >= p) U[static_cast<std::size_t>(p - 1)] = 0;
    if (C == p + 1) U[static_cast<std::size_t>(p)] = p;
    if (C == p + 1 && k == R * C && i == rows - 1) std::swap(U[static_cast<std::size_t>(p)], U[0]);
    for (std::size_t j = 0; j < columns; ++j) within[i][j] = in[i][static_cast<std::size_t>(U[j])];
  }
  // Between the rows, then column by column without dummies.
  std::vector<int> out;
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i)
      if (const int x = within[static_cast<std::size_t>(T[i])][j]; x >= 0) out.push_back(x);
  return out;
}

}  // namespace oracle
