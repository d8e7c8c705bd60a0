#include <warpband/fec/sparse_ldpc/parity_check_matrix.hpp>

#include <algorithm>
#include <utility>

#include <warpband/core/as_size.hpp>
#include <warpband/core/text_file.hpp>
#include <warpband/fec/ldpc/code/matrix_text.hpp>

namespace wb {
namespace {

constexpr int most_size = 1 << 20, most_lifting = 1 << 16;
constexpr std::size_t most_ones = std::size_t{1} << 26, most_parity_bits = std::size_t{1} << 31,
                      most_core_bits = std::size_t{1} << 32;
constexpr const char* no_matrix = "no parity-check matrix";

/// Bits of a dense matrix, rows in words of 64.
class bit_matrix {
 public:
  bit_matrix() = default;
  bit_matrix(int rows, int columns) : words_((as_size(columns) + 63) / 64), data_(as_size(rows) * words_) {}
  bool get(int row, int column) const {
    return (data_[as_size(row) * words_ + as_size(column) / 64] >> (column % 64) & 1u) != 0;
  }
  void set(int row, int column) {
    data_[as_size(row) * words_ + as_size(column) / 64] |= std::uint64_t{1} << (column % 64);
  }
  void add(int from, int to) {
    const std::uint64_t* a = data_.data() + as_size(from) * words_;
    std::uint64_t* b = data_.data() + as_size(to) * words_;
    for (std::size_t i = 0; i < words_; i++) b[i] ^= a[i];
  }
  void swap(int i, int j) {
    if (i == j) return;
    const auto a = data_.begin() + static_cast<std::ptrdiff_t>(as_size(i) * words_),
               b = data_.begin() + static_cast<std::ptrdiff_t>(as_size(j) * words_);
    std::swap_ranges(a, a + static_cast<std::ptrdiff_t>(words_), b);
  }

 private:
  std::size_t words_ = 0;
  std::vector<std::uint64_t> data_;
};

/// Marks the columns of a list and sorts it.
void mark(const char* argument, std::vector<int>& columns, std::vector<char>& marks) {
  for (const int c : columns) {
    if (c < 0 || as_size(c) >= marks.size())
      throw argument_error(argument, std::to_string(c),
                           "columns from 0 to " + std::to_string(marks.size() - 1));
    if (marks[as_size(c)] != 0)
      throw argument_error(argument, std::to_string(c),
                           "each column once among those punctured and shortened");
    marks[as_size(c)] = 1;
  }
  std::sort(columns.begin(), columns.end());
}

}  // namespace

struct parity_check_matrix::state {
  int n = 0;
  std::size_t ones = 0;
  std::vector<std::vector<int>> rows;
  unsent_columns unsent;
  std::vector<int> sent, information, parity;
  /// Pivots of phase 1, in order: row and column.
  std::vector<std::pair<int, int>> peeled;
  /// The rows of phase 2, reduced: row i has a one in pivots[i] and in none of the other pivots.
  bit_matrix core;
  std::vector<int> pivots;

  void sort_rows() {
    for (std::size_t i = 0; i < rows.size(); i++) {
      std::vector<int>& row = rows[i];
      std::sort(row.begin(), row.end());
      ones += row.size();
      const std::string where = " in row " + std::to_string(i);
      if (!row.empty() && (row.front() < 0 || row.back() >= n))
        throw argument_error("rows", std::to_string(row.front() < 0 ? row.front() : row.back()) + where,
                             "columns from 0 to " + std::to_string(n - 1));
      const auto twice = std::adjacent_find(row.begin(), row.end());
      if (twice != row.end())
        throw argument_error("rows", std::to_string(*twice) + " twice" + where, "each column once");
    }
    if (ones > most_ones)
      throw argument_error("rows", std::to_string(ones) + " ones", "at most " + std::to_string(most_ones));
  }
  void eliminate();
};

void parity_check_matrix::state::eliminate() {
  std::vector<char> marks(as_size(n));
  mark("punctured", unsent.punctured, marks);
  mark("shortened", unsent.shortened, marks);
  for (int c = 0; c < n; c++)
    if (marks[as_size(c)] == 0) sent.push_back(c);
  if (sent.empty()) throw argument_error("punctured", "every column that is not shortened", "fewer");
  std::vector<char> is_shortened(as_size(n)), is_pivot(as_size(n));
  for (const int c : unsent.shortened) is_shortened[as_size(c)] = 1;

  // Phase 1. The exclusive-or of a column's remaining rows is its row once there is one.
  std::vector<int> weights(as_size(n)), row_of(as_size(n)), single;
  for (std::size_t i = 0; i < rows.size(); i++)
    for (const int c : rows[i]) {
      weights[as_size(c)]++;
      row_of[as_size(c)] ^= static_cast<int>(i);
    }
  const auto is_single = [&](int c) { return weights[as_size(c)] == 1 && is_shortened[as_size(c)] == 0; };
  for (int c = 0; c < n; c++)
    if (is_single(c)) single.push_back(c);
  std::vector<char> has_left(rows.size());
  while (!single.empty()) {
    const int column = single.back();
    single.pop_back();
    if (!is_single(column)) continue;
    const int row = row_of[as_size(column)];
    peeled.emplace_back(row, column);
    has_left[as_size(row)] = is_pivot[as_size(column)] = 1;
    for (const int c : rows[as_size(row)]) {
      weights[as_size(c)]--;
      row_of[as_size(c)] ^= row;
      if (is_single(c)) single.push_back(c);
    }
  }

  // Phase 2.
  std::vector<int> columns;
  for (int c = n - 1; c >= 0; c--)
    if (weights[as_size(c)] > 0 && is_shortened[as_size(c)] == 0) columns.push_back(c);
  int left = 0;
  for (std::size_t i = 0; i < rows.size(); i++)
    if (has_left[i] == 0 && !rows[i].empty()) left++;
  if (as_size(left) * as_size(n) > most_core_bits)
    throw argument_error(
        "rows", std::to_string(left) + " rows without a column of their own",
        "at most " + std::to_string(most_core_bits / as_size(n)) + " for n = " + std::to_string(n));
  core = bit_matrix(left, n);
  for (std::size_t i = 0, r = 0; i < rows.size(); i++) {
    if (has_left[i] != 0 || rows[i].empty()) continue;
    for (const int c : rows[i])
      if (is_shortened[as_size(c)] == 0) core.set(static_cast<int>(r), c);
    r++;
  }
  for (const int c : columns) {
    const int rank = static_cast<int>(pivots.size());
    int row = rank;
    while (row < left && !core.get(row, c)) row++;
    if (row == left) continue;
    core.swap(row, rank);
    for (int i = 0; i < left; i++)
      if (i != rank && core.get(i, c)) core.add(rank, i);
    pivots.push_back(c);
    is_pivot[as_size(c)] = 1;
    if (rank + 1 == left) break;
  }
  for (int c = 0; c < n; c++)
    if (is_pivot[as_size(c)] == 0 && is_shortened[as_size(c)] == 0) information.push_back(c);
  parity = pivots;
  for (auto p = peeled.rbegin(); p != peeled.rend(); ++p) parity.push_back(p->second);
}

parity_check_matrix::parity_check_matrix(int n, std::vector<std::vector<int>> rows,
                                         const unsent_columns& unsent) {
  if (n < 1 || n > most_size) throw argument_error("n", std::to_string(n), "1 to 1048576");
  if (rows.empty() || rows.size() > as_size(most_size))
    throw argument_error("rows", std::to_string(rows.size()), "1 to 1048576 rows");
  auto made = std::make_shared<state>();
  made->n = n;
  made->rows = std::move(rows);
  made->unsent = unsent;
  made->sort_rows();
  made->eliminate();
  state_ = std::move(made);
}
parity_check_matrix parity_check_matrix::with(const unsent_columns& unsent) const {
  return {n(), rows(), unsent};
}

int parity_check_matrix::n() const noexcept { return state_->n; }
int parity_check_matrix::checks() const noexcept { return static_cast<int>(state_->rows.size()); }
std::size_t parity_check_matrix::ones() const noexcept { return state_->ones; }
int parity_check_matrix::rank() const noexcept { return static_cast<int>(state_->parity.size()); }
int parity_check_matrix::k() const noexcept { return static_cast<int>(state_->information.size()); }
int parity_check_matrix::sent() const noexcept { return static_cast<int>(state_->sent.size()); }
const std::vector<std::vector<int>>& parity_check_matrix::rows() const noexcept { return state_->rows; }
const std::vector<int>& parity_check_matrix::information_columns() const noexcept {
  return state_->information;
}
const std::vector<int>& parity_check_matrix::sent_columns() const noexcept { return state_->sent; }
const std::vector<int>& parity_check_matrix::punctured() const noexcept { return state_->unsent.punctured; }
const std::vector<int>& parity_check_matrix::shortened() const noexcept { return state_->unsent.shortened; }
const std::vector<int>& parity_check_matrix::parity_columns() const noexcept { return state_->parity; }

std::vector<std::uint32_t> parity_check_matrix::parity_rows() const {
  const state& s = *state_;
  const std::size_t words = (s.information.size() + 31) / 32;
  if (s.parity.size() * s.information.size() > most_parity_bits)
    throw argument_error(
        "rows", "a matrix whose rank times k is " + std::to_string(rank()) + " x " + std::to_string(k()),
        "a product of at most " + std::to_string(most_parity_bits) + " for an encoder");
  // Where a column's value is: among the information bits, or row - 1 - i of the result.
  std::vector<int> value(as_size(s.n));
  for (std::size_t j = 0; j < s.information.size(); j++)
    value[as_size(s.information[j])] = static_cast<int>(j);
  std::vector<std::uint32_t> result(s.parity.size() * words);
  const auto set = [&](std::uint32_t* row, int bit) { row[bit / 32] ^= std::uint32_t{1} << (bit % 32); };
  for (std::size_t i = 0; i < s.pivots.size(); i++) {
    for (std::size_t j = 0; j < s.information.size(); j++)
      if (s.core.get(static_cast<int>(i), s.information[j]))
        set(result.data() + i * words, static_cast<int>(j));
    value[as_size(s.pivots[i])] = -1 - static_cast<int>(i);
  }
  // Back along phase 1: the other columns of a row have their values by now.
  std::size_t i = s.pivots.size();
  for (auto p = s.peeled.rbegin(); p != s.peeled.rend(); ++p, i++) {
    std::uint32_t* to = result.data() + i * words;
    for (const int c : s.rows[as_size(p->first)]) {
      if (c == p->second || std::binary_search(s.unsent.shortened.begin(), s.unsent.shortened.end(), c))
        continue;
      const int v = value[as_size(c)];
      if (v >= 0) {
        set(to, v);
        continue;
      }
      const std::uint32_t* from = result.data() + as_size(-1 - v) * words;
      for (std::size_t w = 0; w < words; w++) to[w] ^= from[w];
    }
    value[as_size(p->second)] = -1 - static_cast<int>(i);
  }
  return result;
}

namespace {

/// AFF3CT's format of base matrices, lifted.
parity_check_matrix read_qc(const matrix_reader& r, const std::vector<text_line>& lines,
                            unsent_columns unsent) {
  number_lines in(r, lines);
  const std::vector<int> sizes = in.next("columns, rows and z");
  const int columns = sizes[0], block_rows = sizes[1], z = sizes[2];
  if (z < 1 || z > most_lifting) in.fail("z = " + std::to_string(z) + ": expected 1 to 65536");
  const auto fits = [&](int blocks) { return blocks >= 1 && blocks <= most_size / z; };
  if (!fits(columns) || !fits(block_rows))
    in.fail("columns, rows and z: expected up to 1048576 bits and checks");
  std::vector<std::vector<int>> rows(as_size(block_rows) * as_size(z));
  std::size_t ones = 0;
  for (int i = 0; i < block_rows; i++) {
    const std::vector<int> shifts = in.next("row " + std::to_string(i) + " of blocks");
    if (shifts.size() != as_size(columns))
      in.fail(std::to_string(shifts.size()) + " shifts: expected " + std::to_string(columns));
    for (int j = 0; j < columns; j++) {
      const int shift = shifts[as_size(j)];
      if (shift < -1 || shift >= z)
        in.fail("shift " + std::to_string(shift) + ": expected -1 to " + std::to_string(z - 1));
      if (shift >= 0) ones += as_size(z);
      if (ones > most_ones) in.fail("more than " + std::to_string(most_ones) + " ones");
      for (int row = 0; shift >= 0 && row < z; row++)
        rows[as_size(i * z + row)].push_back(j * z + (row + shift) % z);
    }
  }
  if (in.more()) {
    const std::vector<int> sends = in.next("what is sent");
    if (sends.size() != as_size(columns))
      in.fail(std::to_string(sends.size()) + " numbers: expected " + std::to_string(columns) +
              ", 1 for a column of blocks that is sent, else 0");
    for (int j = 0; j < columns; j++) {
      if (sends[as_size(j)] != 0 && sends[as_size(j)] != 1)
        in.fail(std::to_string(sends[as_size(j)]) + ": expected 0 or 1");
      for (int row = 0; sends[as_size(j)] == 0 && row < z; row++) unsent.punctured.push_back(j * z + row);
    }
  }
  in.end();
  return {columns * z, std::move(rows), unsent};
}

}  // namespace

parity_check_matrix parse_parity_check_matrix(std::string_view text, const std::string& name,
                                              const unsent_columns& unsent) {
  const matrix_reader r{name, no_matrix};
  const std::vector<text_line> lines = lines_of(text);
  const auto first = std::find_if(lines.begin(), lines.end(), [](const auto& l) { return !l.text.empty(); });
  if (first != lines.end() && words_of(first->text).size() == 3) return read_qc(r, lines, unsent);
  sparse_rows h = read_alist(r, lines, false);
  return {h.n, std::move(h.rows), unsent};
}

parity_check_matrix read_parity_check_matrix(const std::string& path, const unsent_columns& unsent) {
  return parse_parity_check_matrix(read_file(path, most_matrix_mib, no_matrix), path, unsent);
}

}  // namespace wb
