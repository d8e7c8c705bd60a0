#pragma once
// Arguments of the kernels for parity-check matrices without structure. Plain data.
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>
#include <warpband/fec/ldpc/ldpc_correction.hpp>

namespace wb {

/// A row of H: the places of its messages are [first, first + degree), and `number` is its row in H.
struct sparse_ldpc_row {
  std::int32_t first, degree, number;
};

struct sparse_ldpc_args {
  int n = 0, sent = 0, k = 0, rows = 0, shortened = 0;
  int places = 0;       // of messages; rows begin an odd number of places apart
  int layers = 0;       // of rows without a common bit, one after the other
  int widest = 1;       // rows of the largest layer, or all with flooding
  int most_degree = 1;  // of rows
  double ones = 0;
  int iterations = 1;
  bool flooding = false, early_stop = true;
  ldpc_corrections corrections;       // min-sum
  view<const float> llr;              // sent
  view<const std::uint8_t> syndrome;  // rows; null: zeros
  view<std::uint8_t> bits;            // k or n; null data: not wanted, here and below
  view<float> soft, extrinsic;        // k or n; sent
  view<std::int32_t> iterations_used, undecided;
  view<std::uint8_t> status;
  const std::int32_t* sent_columns = nullptr;
  const std::int32_t* shortened_columns = nullptr;
  const std::int32_t* information_columns = nullptr;
  const sparse_ldpc_row* row_table = nullptr;   // in order of layers
  const std::int32_t* layer_firsts = nullptr;   // layers + 1 rows
  const std::int32_t* place_columns = nullptr;  // the column of each message
  // Flooding: the places of column c, in order of rows of H, are column_places[column_firsts[c]] to before
  // column_firsts[c + 1].
  const std::int32_t *column_firsts = nullptr, *column_places = nullptr;
};

/// Sparse parity bits [first, end). They need only earlier steps; or, of an accumulator, each is its sum of
/// known bits plus the parity bit before it.
struct sparse_ldpc_step {
  std::int32_t first, end;
  bool accumulates;
};

struct sparse_ldpc_encode_args {
  int n = 0, k = 0, sent = 0;
  int words = 0;                                 // of 32 information bits, 0 if no parity bit is dense
  int dense = 0;                                 // parity bits that are dense sums of information bits
  int sparse = 0;                                // parity bits behind them, which are sums of a row's columns
  int steps = 0;                                 // in which sparse ones are found, one after the other
  view<const std::uint8_t> bits;                 // k
  view<std::uint8_t> coded;                      // >= sent
  const std::uint32_t* parity = nullptr;         // [ceil(k / 32)][dense], bit j % 32 for information bit j
  const std::int32_t* parity_columns = nullptr;  // dense + sparse, in order of steps
  const std::int32_t* information_columns = nullptr;
  const std::int32_t* sent_columns = nullptr;
  /// Parity bit i of the sparse ones is the sum of summed_columns[first[2 i]] to before first[2 i + 2]. Those
  /// from first[2 i + 1] on are sparse ones themselves, and the others are known before all steps.
  const std::int32_t *first = nullptr, *summed_columns = nullptr;
  const sparse_ldpc_step* step_table = nullptr;
};

}  // namespace wb
