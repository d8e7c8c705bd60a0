#include "osd.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "as_size.hpp"

namespace oracle {
namespace {

using bit_rows = std::vector<std::vector<int>>;

bit_rows dense_rows(const parity_checks& h) {
  bit_rows dense(h.rows.size(), std::vector<int>(as_size(h.n)));
  for (std::size_t r = 0; r < h.rows.size(); r++)
    for (const int c : h.rows[r]) dense[r][as_size(c)] = 1;
  return dense;
}

/// Columns, in the order given, that do not depend on those before.
std::vector<bool> independent(const bit_rows& h, const std::vector<int>& order) {
  bit_rows rows = h;
  std::vector<bool> pivot(order.size()), used(rows.size());
  for (const int c : order)
    for (std::size_t r = 0; r < rows.size(); r++) {
      if (used[r] || rows[r][as_size(c)] == 0) continue;
      used[r] = pivot[as_size(c)] = true;
      for (std::size_t other = 0; other < rows.size(); other++)
        if (other != r && rows[other][as_size(c)] != 0)
          for (std::size_t j = 0; j < rows[other].size(); j++) rows[other][j] ^= rows[r][j];
      break;
    }
  return pivot;
}

/// The values of `columns`, independent ones, whose sum is s; nothing where there are none.
std::optional<std::vector<int>> solution(const bit_rows& h, const std::vector<int>& columns,
                                         std::vector<int> s) {
  bit_rows rows(h.size());
  for (std::size_t r = 0; r < h.size(); r++)
    for (const int c : columns) rows[r].push_back(h[r][as_size(c)]);
  std::vector<int> values(columns.size());
  std::vector<std::size_t> row_of;
  for (std::size_t j = 0; j < columns.size(); j++) {
    std::size_t r = row_of.size();
    while (rows[r][j] == 0) r++;
    std::swap(rows[r], rows[row_of.size()]);
    std::swap(s[r], s[row_of.size()]);
    r = row_of.size();
    row_of.push_back(r);
    for (std::size_t other = 0; other < rows.size(); other++)
      if (other != r && rows[other][j] != 0) {
        for (std::size_t i = 0; i < columns.size(); i++) rows[other][i] ^= rows[r][i];
        s[other] ^= s[r];
      }
  }
  for (std::size_t r = row_of.size(); r < s.size(); r++)
    if (s[r] != 0) return {};
  for (std::size_t j = 0; j < columns.size(); j++) values[j] = s[j];
  return values;
}

void keep_cheaper(std::optional<osd_result>& best, const std::vector<std::uint8_t>& error, double cost) {
  if (!best) {
    best = {error, cost, std::numeric_limits<double>::infinity()};
  } else if (cost < best->cost) {
    best = {error, cost, best->cost - cost};
  } else {
    best->margin = std::min(best->margin, cost - best->cost);
  }
}

}  // namespace

std::optional<osd_result> osd(const parity_checks& h, const std::vector<std::uint8_t>& syndrome,
                              const std::vector<double>& posterior, const std::vector<double>& cost,
                              const osd_options& options) {
  const bit_rows dense = dense_rows(h);
  std::vector<int> order(as_size(h.n)), pivots, free;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return posterior[as_size(a)] < posterior[as_size(b)]; });
  const std::vector<bool> pivot = independent(dense, order);
  for (const int c : order) (pivot[as_size(c)] ? pivots : free).push_back(c);
  const int w = std::min(options.order, static_cast<int>(free.size()));
  std::vector<std::vector<int>> candidates{{}};
  if (options.exhaustive) {
    for (int pattern = 1; pattern < 1 << w; pattern++) {
      candidates.emplace_back();
      for (int i = 0; i < w; i++)
        if (pattern >> i & 1) candidates.back().push_back(free[as_size(i)]);
    }
  } else if (w > 0) {
    for (const int c : free) candidates.push_back({c});
    for (int i = 0; i < w; i++)
      for (int j = i + 1; j < w; j++) candidates.push_back({free[as_size(i)], free[as_size(j)]});
  }
  std::optional<osd_result> best;
  for (const auto& ones : candidates) {
    std::vector<int> s(syndrome.begin(), syndrome.end());
    for (std::size_t r = 0; r < s.size(); r++)
      for (const int c : ones) s[r] ^= dense[r][as_size(c)];
    const auto values = solution(dense, pivots, s);
    if (!values) return {};
    std::vector<std::uint8_t> error(as_size(h.n));
    for (const int c : ones) error[as_size(c)] = 1;
    for (std::size_t j = 0; j < pivots.size(); j++)
      error[as_size(pivots[j])] = static_cast<std::uint8_t>((*values)[j]);
    double sum = 0;
    for (std::size_t c = 0; c < error.size(); c++) sum += error[c] * cost[c];
    keep_cheaper(best, error, sum);
  }
  return best;
}

std::optional<osd_result> cheapest_error(const parity_checks& h, const std::vector<std::uint8_t>& syndrome,
                                         const std::vector<double>& cost) {
  std::optional<osd_result> best;
  for (std::uint32_t pattern = 0; pattern >> h.n == 0; pattern++) {
    const auto bit = [&](int c) { return pattern >> c & 1u; };
    bool fits = true;
    for (std::size_t r = 0; r < h.rows.size() && fits; r++) {
      unsigned sum = syndrome[r];
      for (const int c : h.rows[r]) sum ^= bit(c);
      fits = sum == 0;
    }
    if (!fits) continue;
    std::vector<std::uint8_t> error;
    double sum = 0;
    for (int c = 0; c < h.n; c++) {
      error.push_back(static_cast<std::uint8_t>(bit(c)));
      sum += bit(c) * cost[as_size(c)];
    }
    keep_cheaper(best, error, sum);
  }
  return best;
}

}  // namespace oracle
