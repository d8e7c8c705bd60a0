#pragma once
// The rows of a parity-check matrix in the order in which a kernel takes them.
#include <cstdint>
#include <vector>

#include <warpband/fec/sparse_ldpc/parity_check_matrix.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc_args.hpp>

namespace wb {

/// Rows in layers, without a common bit within each. Rows begin an odd number of places apart.
struct row_tables {
  std::vector<sparse_ldpc_row> rows;
  std::vector<std::int32_t> layer_firsts{0}, place_columns;

  /// Appends a row of H to the last layer.
  void add(const std::vector<int>& columns, int number);
  void end_layer() { layer_firsts.push_back(static_cast<std::int32_t>(rows.size())); }
  /// Sets places, layers, widest and most_degree.
  void describe(sparse_ldpc_args& a) const;
};
/// With flooding all rows are one layer, in order of H.
row_tables row_tables_of(const parity_check_matrix& h, bool flooding);

}  // namespace wb
