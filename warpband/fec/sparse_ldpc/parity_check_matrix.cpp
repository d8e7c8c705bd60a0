#include <warpband/fec/sparse_ldpc/parity_check_matrix.hpp>

#include <algorithm>
#include <bit>
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
  bit_matrix(int rows, int columns)
      : rows_(rows), words_((as_size(columns) + 63) / 64), data_(as_size(rows) * words_) {}
  int rows() const { return rows_; }
  bool get(int row, int column) const {
    return (data_[as_size(row) * words_ + as_size(column) / 64] >> (column % 64) & 1u) != 0;
  }
  /// The first `count` bits of a row, 32 in a word.
  void first_bits(int row, std::size_t count, std::uint32_t* to) const {
    for (std::size_t w = 0; w < (count + 31) / 32; w++) {
      to[w] = static_cast<std::uint32_t>(data_[as_size(row) * words_ + w / 2] >> (32 * (w % 2)));
      if (count < 32 * (w + 1)) to[w] &= (std::uint32_t{1} << (count % 32)) - 1;
    }
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
  int rows_ = 0;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> data_;
};

/// A polynomial over GF(2) modulo x^z - 1, z a power of two from 64 up: the first row of a circulant.
class polynomial {
 public:
  explicit polynomial(int z) : words_(as_size(z) / 64) {}
  void flip(int term) { words_[as_size(term) / 64] ^= std::uint64_t{1} << (term % 64); }
  bool is_zero() const {
    return std::all_of(words_.begin(), words_.end(), [](std::uint64_t w) { return w == 0; });
  }
  /// Whether its number of terms is odd. Then p^z = 1, since squaring doubles exponents.
  bool is_odd() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t w : words_) sum ^= w;
    return std::popcount(sum) % 2 != 0;
  }
  template <class F>
  void for_each_term(F f) const {
    for (std::size_t w = 0; w < words_.size(); w++)
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1)
        f(static_cast<int>(64 * w) + std::countr_zero(bits));
  }
  polynomial& operator+=(const polynomial& b) {
    for (std::size_t i = 0; i < words_.size(); i++) words_[i] ^= b.words_[i];
    return *this;
  }
  polynomial operator*(const polynomial& b) const {
    polynomial product(z());
    for_each_term([&](int term) { product.add_rotated(b, term); });
    return product;
  }
  /// Of an odd polynomial: p^(z - 1) = p p^2 p^4 ... p^(z / 2).
  polynomial inverse() const {
    polynomial power = *this, product = *this;
    for (int exponent = 2; exponent < z(); exponent *= 2) {
      polynomial square(z());
      power.for_each_term([&](int term) { square.flip(2 * term % z()); });
      power = std::move(square);
      product = product * power;
    }
    return product;
  }

 private:
  int z() const { return static_cast<int>(64 * words_.size()); }
  void add_rotated(const polynomial& b, int term) {
    const std::size_t n = words_.size(), words = as_size(term) / 64;
    const int bits = term % 64;
    for (std::size_t i = 0; i < n; i++) {
      const std::uint64_t low = b.words_[(i + n - words) % n], below = b.words_[(i + 2 * n - words - 1) % n];
      words_[i] ^= bits == 0 ? low : low << bits | below >> (64 - bits);
    }
  }
  std::vector<std::uint64_t> words_;
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
  int n = 0, rank = 0;
  std::size_t ones = 0;
  std::vector<std::vector<int>> rows, encoder_rows;
  unsent_columns unsent;
  std::vector<int> sent, information, parity;
  /// Pivots of phase 1, in order: row and column.
  std::vector<std::pair<int, int>> peeled;
  /// The rows of phase 2, reduced: row i has a one in pivots[i] and in none of the other pivots.
  bit_matrix core;
  std::vector<int> pivots;

  void sort_rows(const char* argument, std::vector<std::vector<int>>& list) {
    for (std::size_t i = 0; i < list.size(); i++) {
      std::vector<int>& row = list[i];
      std::sort(row.begin(), row.end());
      ones += row.size();
      const std::string where = " in row " + std::to_string(i);
      if (!row.empty() && (row.front() < 0 || row.back() >= n))
        throw argument_error(argument, std::to_string(row.front() < 0 ? row.front() : row.back()) + where,
                             "columns from 0 to " + std::to_string(n - 1));
      const auto twice = std::adjacent_find(row.begin(), row.end());
      if (twice != row.end())
        throw argument_error(argument, std::to_string(*twice) + " twice" + where, "each column once");
    }
    if (ones > most_ones)
      throw argument_error(argument, std::to_string(ones) + " ones", "at most " + std::to_string(most_ones));
  }
  /// Row i of H, then of the encoder.
  const std::vector<int>& row(int i) const {
    const std::size_t index = as_size(i);
    return index < rows.size() ? rows[index] : encoder_rows[index - rows.size()];
  }
  int all_rows() const { return static_cast<int>(rows.size() + encoder_rows.size()); }
  int circulant_size() const;
  bool eliminate_circulants(int z, const std::vector<char>& has_left);
  void eliminate_bits(const std::vector<int>& columns);
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
  for (int i = 0; i < all_rows(); i++)
    for (const int c : row(i)) {
      weights[as_size(c)]++;
      row_of[as_size(c)] ^= i;
    }
  const auto is_single = [&](int c) { return weights[as_size(c)] == 1 && is_shortened[as_size(c)] == 0; };
  for (int c = 0; c < n; c++)
    if (is_single(c)) single.push_back(c);
  std::vector<char> has_left(as_size(all_rows()));
  while (!single.empty()) {
    const int column = single.back();
    single.pop_back();
    if (!is_single(column)) continue;
    const int i = row_of[as_size(column)];
    peeled.emplace_back(i, column);
    has_left[as_size(i)] = is_pivot[as_size(column)] = 1;
    for (const int c : row(i)) {
      weights[as_size(c)]--;
      row_of[as_size(c)] ^= i;
      if (is_single(c)) single.push_back(c);
    }
  }

  // Phase 2.
  std::vector<int> columns;
  for (int c = n - 1; c >= 0; c--)
    if (weights[as_size(c)] > 0 && is_shortened[as_size(c)] == 0) columns.push_back(c);
  int left = 0;
  for (int i = 0; i < all_rows(); i++)
    if (has_left[as_size(i)] == 0 && !row(i).empty()) left++;
  if (as_size(left) * as_size(n) > most_core_bits)
    throw argument_error(
        "rows", std::to_string(left) + " rows without a column of their own",
        "at most " + std::to_string(most_core_bits / as_size(n)) + " for n = " + std::to_string(n));
  core = bit_matrix(left, n);
  const int z = left > 0 && unsent.shortened.empty() ? circulant_size() : 0;
  if (z == 0 || !eliminate_circulants(z, has_left)) {
    for (int i = 0, r = 0; i < all_rows(); i++) {
      if (has_left[as_size(i)] != 0 || row(i).empty()) continue;
      for (const int c : row(i))
        if (is_shortened[as_size(c)] == 0) core.set(r, c);
      r++;
    }
    eliminate_bits(columns);
  }
  for (const int c : pivots) is_pivot[as_size(c)] = 1;
  for (int c = 0; c < n; c++)
    if (is_pivot[as_size(c)] == 0 && is_shortened[as_size(c)] == 0) information.push_back(c);
  parity = pivots;
  for (auto p = peeled.rbegin(); p != peeled.rend(); ++p) parity.push_back(p->second);
}

void parity_check_matrix::state::eliminate_bits(const std::vector<int>& columns) {
  const int left = core.rows();
  for (const int c : columns) {
    const int rank = static_cast<int>(pivots.size());
    int i = rank;
    while (i < left && !core.get(i, c)) i++;
    if (i == left) continue;
    core.swap(i, rank);
    for (i = 0; i < left; i++)
      if (i != rank && core.get(i, c)) core.add(rank, i);
    pivots.push_back(c);
    if (rank + 1 == left) break;
  }
}

/// The largest power of two z from 64 up with which H is made of z x z circulants, or 0.
int parity_check_matrix::state::circulant_size() const {
  constexpr int smallest = 64;
  if (!encoder_rows.empty()) return 0;
  std::vector<int> rotated;
  for (int z = 1 << 19; z >= smallest; z /= 2) {
    if (n % z != 0 || rows.size() % as_size(z) != 0) continue;
    bool rotates = true;
    for (std::size_t i = 0; rotates && i < rows.size(); i++) {
      if ((i + 1) % as_size(z) == 0) continue;
      rotated.clear();
      for (const int c : rows[i]) rotated.push_back(c % z == z - 1 ? c - z + 1 : c + 1);
      std::sort(rotated.begin(), rotated.end());
      rotates = rotated == rows[i + 1];
    }
    if (rotates) return z;
  }
  return 0;
}

/// Phase 2 on polynomials. Whether each step found one with an inverse; else nothing has changed.
bool parity_check_matrix::state::eliminate_circulants(int z, const std::vector<char>& has_left) {
  const std::size_t size = as_size(z), columns = as_size(n) / size;
  std::vector<std::vector<polynomial>> h;  // block rows
  for (std::size_t first = 0; first < rows.size(); first += size) {
    const auto leaves = has_left.begin() + static_cast<std::ptrdiff_t>(first);
    const auto gone = std::count(leaves, leaves + z, char{1});
    if (gone == z || rows[first].empty()) continue;
    if (gone != 0) return false;
    h.emplace_back(columns, polynomial(z));
    for (const int c : rows[first]) h.back()[as_size(c) / size].flip(c % z);
  }
  std::vector<std::size_t> found;  // block columns
  for (std::size_t c = columns; c-- > 0 && found.size() < h.size();) {
    std::size_t i = found.size();
    while (i < h.size() && !h[i][c].is_odd()) i++;
    if (i == h.size()) {
      for (i = found.size(); i < h.size(); i++)
        if (!h[i][c].is_zero()) return false;
      continue;
    }
    const std::size_t pivot = found.size();
    std::swap(h[i], h[pivot]);
    const polynomial inverse = h[pivot][c].inverse();
    for (polynomial& p : h[pivot]) p = p * inverse;
    for (i = 0; i < h.size(); i++) {
      if (i == pivot || h[i][c].is_zero()) continue;
      const polynomial factor = h[i][c];
      for (std::size_t j = 0; j < columns; j++) h[i][j] += factor * h[pivot][j];
    }
    found.push_back(c);
  }
  for (std::size_t i = 0; i < found.size(); i++)
    for (int r = 0; r < z; r++) {
      const int row_number = static_cast<int>(i) * z + r;
      for (std::size_t c = 0; c < columns; c++)
        h[i][c].for_each_term(
            [&](int term) { core.set(row_number, static_cast<int>(c * size) + (term + r) % z); });
      pivots.push_back(static_cast<int>(found[i] * size) + r);
    }
  return true;
}

parity_check_matrix::parity_check_matrix(int n, std::vector<std::vector<int>> rows,
                                         const unsent_columns& unsent,
                                         std::vector<std::vector<int>> encoder_rows) {
  if (n < 1 || n > most_size) throw argument_error("n", std::to_string(n), "1 to 1048576");
  if (rows.empty() || rows.size() > as_size(most_size))
    throw argument_error("rows", std::to_string(rows.size()), "1 to 1048576 rows");
  auto made = std::make_shared<state>();
  made->n = n;
  made->rows = std::move(rows);
  made->encoder_rows = std::move(encoder_rows);
  made->unsent = unsent;
  made->sort_rows("rows", made->rows);
  const std::size_t ones = made->ones;
  made->sort_rows("encoder_rows", made->encoder_rows);
  made->ones = ones;
  made->eliminate();
  made->rank = made->encoder_rows.empty() ? static_cast<int>(made->parity.size())
                                          : parity_check_matrix(n, made->rows, unsent).rank();
  state_ = std::move(made);
}
parity_check_matrix parity_check_matrix::with(const unsent_columns& unsent) const {
  return {n(), rows(), unsent, encoder_rows()};
}

int parity_check_matrix::n() const noexcept { return state_->n; }
int parity_check_matrix::checks() const noexcept { return static_cast<int>(state_->rows.size()); }
std::size_t parity_check_matrix::ones() const noexcept { return state_->ones; }
int parity_check_matrix::rank() const noexcept { return state_->rank; }
int parity_check_matrix::k() const noexcept { return static_cast<int>(state_->information.size()); }
int parity_check_matrix::sent() const noexcept { return static_cast<int>(state_->sent.size()); }
const std::vector<std::vector<int>>& parity_check_matrix::rows() const noexcept { return state_->rows; }
const std::vector<std::vector<int>>& parity_check_matrix::encoder_rows() const noexcept {
  return state_->encoder_rows;
}
const std::vector<int>& parity_check_matrix::information_columns() const noexcept {
  return state_->information;
}
const std::vector<int>& parity_check_matrix::sent_columns() const noexcept { return state_->sent; }
const std::vector<int>& parity_check_matrix::punctured() const noexcept { return state_->unsent.punctured; }
const std::vector<int>& parity_check_matrix::shortened() const noexcept { return state_->unsent.shortened; }
const std::vector<int>& parity_check_matrix::parity_columns() const noexcept { return state_->parity; }

std::vector<std::uint32_t> parity_check_matrix::parity_rows() const {
  const state& s = *state_;
  const std::size_t words = (s.information.size() + 31) / 32, core_rank = s.pivots.size();
  if (core_rank * s.information.size() > most_parity_bits)
    throw argument_error(
        "rows", std::to_string(core_rank) + " rows that need elimination, and k = " + std::to_string(k()),
        "a product of at most " + std::to_string(most_parity_bits) + " for an encoder");
  std::vector<std::uint32_t> result(core_rank * words);
  const bool systematic = !s.information.empty() && as_size(s.information.back()) + 1 == s.information.size();
  for (std::size_t i = 0; i < core_rank; i++) {
    std::uint32_t* row = result.data() + i * words;
    if (systematic) {
      s.core.first_bits(static_cast<int>(i), s.information.size(), row);
      continue;
    }
    for (std::size_t j = 0; j < s.information.size(); j++)
      if (s.core.get(static_cast<int>(i), s.information[j])) row[j / 32] |= std::uint32_t{1} << (j % 32);
  }
  return result;
}

std::vector<std::vector<int>> parity_check_matrix::parity_sums() const {
  const state& s = *state_;
  std::vector<std::vector<int>> sums;
  for (auto p = s.peeled.rbegin(); p != s.peeled.rend(); ++p) {
    std::vector<int>& sum = sums.emplace_back();
    for (const int c : s.row(p->first))
      if (c != p->second && !std::binary_search(s.unsent.shortened.begin(), s.unsent.shortened.end(), c))
        sum.push_back(c);
  }
  return sums;
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
