#include <warpband/fec/ldpc/ldpc_code.hpp>

#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/ldpc/ldpc_args.hpp>

namespace wb {

qc_matrix lifted(const qc_matrix& base, int z0, int z, shift_scaling scaling) {
  check_range("z0", z0, 1, 4096);
  check_range("z", z, 1, scaling == shift_scaling::modulo ? 4096 : z0);
  qc_matrix m = base;
  for (int& s : m.shifts) {
    if (s <= 0) continue;
    switch (scaling) {
      case shift_scaling::none:
        break;
      case shift_scaling::floor:
        s = static_cast<int>(static_cast<long long>(s) * z / z0);
        break;
      case shift_scaling::modulo:
        s %= z;
        break;
      default:
        throw argument_error("scaling", std::to_string(static_cast<int>(scaling)), "none, floor or modulo");
    }
  }
  return m;
}

ldpc_code::ldpc_code(qc_matrix matrix, int z) : matrix_(std::move(matrix)), z_(z) {
  const auto refuse = [](const std::string& value, const std::string& allowed) {
    throw argument_error("matrix", value, allowed);
  };
  const int rows = matrix_.rows, columns = matrix_.columns;
  check_range("matrix.rows", rows, 1, ldpc_most_rows);
  check_range("matrix.columns", columns, rows + 1, ldpc_most_blocks);
  check_range("z", z, 1, 4096);
  check_range("n", static_cast<long long>(columns) * z, 2, 1 << 20);
  const std::size_t length = static_cast<std::size_t>(columns), shifts = matrix_.shifts.size(),
                    size = static_cast<std::size_t>(rows) * length;
  if (shifts < size)
    refuse("one whose shifts end before row " + std::to_string(shifts / length) + ", column " +
               std::to_string(shifts % length),
           std::to_string(rows) + " rows of " + std::to_string(columns) + " shifts");
  if (shifts > size)
    refuse("one with " + std::to_string(shifts - size) + " shifts after row " + std::to_string(rows - 1),
           std::to_string(rows) + " rows of " + std::to_string(columns) + " shifts");
  std::vector<bool> used(static_cast<std::size_t>(columns));
  for (int i = 0; i < rows; i++) {
    int degree = 0;
    for (int j = 0; j < columns; j++) {
      const int s = shift(i, j);
      if (s < -1 || s >= z)
        refuse("one with shift " + std::to_string(s) + " in row " + std::to_string(i) + ", column " +
                   std::to_string(j),
               "0 to z - 1 = " + std::to_string(z - 1) + ", or -1 for a zero block");
      if (s < 0) continue;
      degree++;
      used[static_cast<std::size_t>(j)] = true;
    }
    if (degree < 2 || degree > ldpc_most_degree)
      refuse("one with " + std::to_string(degree) + " blocks in row " + std::to_string(i),
             "2 to 64 in a row");
    blocks_ += degree;
    if (blocks_ > ldpc_most_blocks)
      refuse("one with " + std::to_string(blocks_) + " blocks up to row " + std::to_string(i),
             "at most " + std::to_string(ldpc_most_blocks) + " in all");
  }
  for (int j = 0; j < columns; j++)
    if (!used[static_cast<std::size_t>(j)])
      refuse("one without a block in column " + std::to_string(j), "at least 1 in a column");
}

}  // namespace wb
