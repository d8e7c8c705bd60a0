#include <algorithm>

#include <warpband/core/as_size.hpp>
#include <warpband/fec/sparse_ldpc/standards/standards.hpp>

namespace wb {
namespace {

#include <warpband/fec/sparse_ldpc/standards/ccsds_tables.inc>

/// Rows of H, to which blocks are added modulo 2.
class block_rows {
 public:
  block_rows(int rows, int size) : size_(size), rows_(as_size(rows * size)) {}
  /// Row i of the block gets a one in its column `of_row(i)`.
  template <class F>
  void add(int block_row, int block_column, F of_row) {
    for (int i = 0; i < size_; i++)
      rows_[as_size(block_row * size_ + i)].push_back(block_column * size_ + of_row(i));
  }
  /// The identity rotated right.
  void add_rotated(int block_row, int block_column, int shift) {
    add(block_row, block_column, [=, this](int i) { return (i + shift) % size_; });
  }
  std::vector<std::vector<int>> taken() {
    for (std::vector<int>& row : rows_) {
      std::sort(row.begin(), row.end());
      std::vector<int> odd;  // columns with an odd number of ones
      for (const int c : row) {
        if (!odd.empty() && odd.back() == c)
          odd.pop_back();
        else
          odd.push_back(c);
      }
      row = std::move(odd);
    }
    return std::move(rows_);
  }

 private:
  int size_;
  std::vector<std::vector<int>> rows_;
};

void add_range(std::vector<int>& columns, int first, int count) {
  for (int i = 0; i < count; i++) columns.push_back(first + i);
}

struct ar4ja_rate {
  const char* name;
  int blocks_per_k, pairs;  // k = blocks_per_k * M; pairs of block columns before those of rate 1/2
};
constexpr ar4ja_rate ar4ja_rates[] = {{"1/2", 2, 0}, {"2/3", 4, 1}, {"4/5", 8, 3}};
constexpr int ar4ja_sizes[] = {1024, 4096, 16384};

parity_check_matrix ar4ja(int k, const ar4ja_rate& rate, unsent_columns unsent) {
  const int size = k / rate.blocks_per_k, quarter = size / 4;
  int table = 0;
  while (128 << table < size) table++;
  block_rows rows(3, size);
  // 0 is the identity, k > 0 is Pi_k.
  const auto add = [&](int block_row, int block_column, std::initializer_list<int> terms) {
    for (const int term : terms) {
      if (term == 0) {
        rows.add_rotated(block_row, block_column, 0);
        continue;
      }
      rows.add(block_row, block_column, [&](int i) {
        const int j = i / quarter;
        return quarter * ((theta_values[term - 1] + j) % 4) + (phi_values[table][j][term - 1] + i) % quarter;
      });
    }
  };
  for (int pair = 0; pair < rate.pairs; pair++) {
    const int column = 2 * (rate.pairs - 1 - pair), term = 9 + 6 * pair;
    add(1, column, {term, term + 1, term + 2});
    add(1, column + 1, {0});
    add(2, column, {0});
    add(2, column + 1, {term + 3, term + 4, term + 5});
  }
  const int column = 2 * rate.pairs;
  add(0, column + 2, {0});
  add(0, column + 4, {0, 1});
  add(1, column, {0});
  add(1, column + 1, {0});
  add(1, column + 3, {0});
  add(1, column + 4, {2, 3, 4});
  add(2, column, {0});
  add(2, column + 1, {5, 6});
  add(2, column + 3, {7, 8});
  add(2, column + 4, {0});
  const int sent = (column + 4) * size;
  add_range(unsent.punctured, sent, size);
  return {sent + size, rows.taken(), unsent};
}

/// H has rank 1020: two parity bits are free. In the standard's generator, the last bits of both parity
/// blocks are 0 in the first row of each information block. Rotated rows keep their weights. So the sum of a
/// parity block is that of the information blocks whose rows have odd weights there.
constexpr int c2_odd_blocks[2] = {0x2760, 0x3eb0};  // bit i: information block i

parity_check_matrix c2(bool transmitted, unsent_columns unsent) {
  constexpr int size = 511, blocks = 16, information = 14, fill = 2, shortened = 18;
  block_rows circulants(2, size);
  for (int r = 0; r < 2; r++)
    for (int c = 0; c < blocks; c++)
      for (const int one : c2_ones[r][c]) circulants.add_rotated(r, c, one);
  std::vector<std::vector<int>> rows = circulants.taken(), encoder_rows(2);
  for (int parity = 0; parity < 2; parity++) {
    for (int i = 0; i < information; i++)
      if ((c2_odd_blocks[parity] >> i & 1) != 0) add_range(encoder_rows[as_size(parity)], i * size, size);
    add_range(encoder_rows[as_size(parity)], (information + parity) * size, size);
  }
  int n = blocks * size;
  if (transmitted) {
    add_range(unsent.shortened, 0, shortened);
    for (int i = 0; i < fill; i++) rows.push_back({n++});  // a bit that is 0
  }
  return {n, std::move(rows), unsent, std::move(encoder_rows)};
}

constexpr int tc_sizes[] = {128, 256, 512};

parity_check_matrix telecommand(int table, const unsent_columns& unsent) {
  const int size = 16 << table;
  block_rows rows(4, size);
  for (int r = 0; r < 4; r++) {
    rows.add_rotated(r, r, 0);
    for (int c = 0; c < 8; c++)
      if (const int shift = tc_shifts[table][r][c]; shift >= 0) rows.add_rotated(r, c, shift);
  }
  return {8 * size, rows.taken(), unsent};
}

std::string ar4ja_name(int k, const ar4ja_rate& rate) {
  return "ar4ja-" + std::to_string(k) + "-" + rate.name;
}

}  // namespace

std::vector<std::string> ccsds_names() {
  std::vector<std::string> names;
  for (const int k : ar4ja_sizes)
    for (const ar4ja_rate& rate : ar4ja_rates) names.push_back(ar4ja_name(k, rate));
  names.insert(names.end(), {"c2-8176", "c2-8160"});
  for (const int n : tc_sizes) names.push_back("tc-" + std::to_string(n));
  return names;
}

parity_check_matrix ccsds_matrix(std::string_view name, const unsent_columns& unsent) {
  for (const int k : ar4ja_sizes)
    for (const ar4ja_rate& rate : ar4ja_rates)
      if (name == ar4ja_name(k, rate)) return ar4ja(k, rate, unsent);
  if (name == "tc-128") return telecommand(0, unsent);
  if (name == "tc-256") return telecommand(1, unsent);
  if (name == "tc-512") return telecommand(2, unsent);
  if (name == "c2-8176" || name == "c2-8160") return c2(name == "c2-8160", unsent);
  throw argument_error("matrix", "\"" + std::string(name) + "\"", "a name of ccsds_names");
}

}  // namespace wb
