#pragma once
// Arguments of the LDPC kernels. Plain data.
#include <algorithm>
#include <cstdint>
#include <iterator>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>
#include <warpband/fec/ldpc/ldpc_correction.hpp>
#include <warpband/fec/quantise/quantise_args.hpp>

namespace wb {

/// A block of the parity-check matrix, and where its values lie in scratch.
struct ldpc_edge {
  std::int32_t column, shift;
  /// Rotating storage (a CPU): where the even and the odd iterations write the column, from row 0 of the
  /// check on.
  std::int32_t to[2];
};
/// A block row: its edges are [first, first + degree).
struct ldpc_row {
  std::int32_t first, degree;
};
/// A block column in rotating storage.
struct ldpc_column {
  std::int32_t rotation;  // left by an iteration: storage place p has bit (p + rotation) mod z
  std::int32_t first;     // where the channel's LLRs are stored
  std::int32_t last[2];   // where the values lie after an even or odd iteration
};

/// An edge where columns lie in bit order: place of the column's first bit, and the shift.
struct ldpc_place {
  std::int32_t first, shift;
};

inline constexpr int ldpc_graph_blocks = 316;  // of base graph 1 of 5G NR, the larger one
inline constexpr int ldpc_most_rows = 128, ldpc_most_blocks = 1024, ldpc_most_degree = 64;
/// With kept messages in registers, where a bit takes 8 bytes of shared memory.
inline constexpr int ldpc_most_bits_kept = 4096;
inline constexpr int ldpc_row_threads = 96;  // at most, where a thread has a row of each block row for itself

struct ldpc_decode_args {
  int n = 0, z = 1, rows = 0, columns = 0, blocks = 0, iterations = 1;
  int least_degree = 0, most_degree = 0;  // of rows
  int column_stride = 0,
      row_stride = 0;  // rotating storage: of a column in a buffer; room for an edge's messages
  int vectors = 0;     // rotating storage: of an edge, z values in so many vectors
  bool sum_product = false, flooding = false, early_stop = true;
  bool takes_any_word = false;   // also of few usable LLRs; zeros satisfy a CRC
  int crc_bits = 0;              // of crc_weights
  ldpc_corrections corrections;  // min-sum
  llr_quanta quanta;             // int8: of an LLR of 1
  view<const float> llr;         // n
  view<std::uint8_t> bits;       // null data: not wanted, here and below
  view<float> soft, extrinsic;
  view<float> messages;         // as ldpc_kept.hpp lays them out
  bool writes_messages = true;  // or else they are only read
  view<std::int32_t> iterations_used;
  view<std::uint8_t> status;
  const ldpc_edge* edges = nullptr;
  const ldpc_row* row_table = nullptr;
  const ldpc_column* column_table = nullptr;
  // The edges of column c in order of rows: column_edges[column_firsts[c]] to before column_firsts[c + 1].
  const std::int32_t *column_firsts = nullptr, *column_edges = nullptr;
  // Rotating storage. Where vector v of an edge is read: [first vectors + v degree + d] with first and degree
  // of the block row, in the order of reading, for even iterations, then for odd ones. Then where its
  // decisions are, [v][edge], after an even iteration and after an odd one.
  const std::int32_t* reads = nullptr;
  // Remainders of the CRC that the first crc_bits bits end with; null: no codeword stops by it.
  const std::int32_t* crc_weights = nullptr;
  // The same for a GPU, where they lie in constant memory as a part of the arguments.
  std::int32_t firsts[ldpc_most_rows + 1] = {};
  ldpc_place places[ldpc_most_blocks] = {};
  // For rows with threads of their own: byte addresses of A for thread r in block row m, four in a chunk,
  // [(m * chunks + chunk) * ldpc_row_threads + r][4] with chunks = ceil(most_degree / 4). Threads without a
  // row have places of their own behind the n of a codeword. Null for other codes.
  const std::uint32_t* addresses = nullptr;
  bool reads_messages = true;  // or else every codeword starts
  bool kept_halves = false;    // messages are those of ldpc_decoder_output::state with float16
  // 5G NR: the base graph whose first rows the code has, 1 or 2, and shifts in bytes, of words of 4. 0: none.
  int base_graph = 0;
  std::int32_t byte_shifts[ldpc_graph_blocks] = {};
};

/// Codes that the kernels with messages in registers are built for (gpu/rows_kernels.cpp): the rates of WiMAX
/// and WiFi. `blocks` of CUDA share a multiprocessor.
struct ldpc_known_rows {
  int rows, least_degree, most_degree, blocks;
  constexpr bool fit(const ldpc_decode_args& a) const {
    return a.rows == rows && a.least_degree >= least_degree && a.most_degree <= most_degree;
  }
};
inline constexpr ldpc_known_rows ldpc_known[] = {{12, 6, 7, 5},  {12, 7, 8, 5},  {8, 10, 11, 4},
                                                 {6, 14, 15, 4}, {4, 19, 20, 4}, {4, 21, 22, 4}};
/// Whether those kernels serve a call. They leave CRCs and `messages` of floats to others.
inline bool ldpc_has_known_rows(const ldpc_decode_args& a) {
  if (a.flooding || a.addresses == nullptr || a.crc_weights != nullptr) return false;
  if (a.messages.data != nullptr && !a.kept_halves) return false;
  return std::any_of(std::begin(ldpc_known), std::end(ldpc_known),
                     [&](const auto& known) { return known.fit(a); });
}
/// Whether such a call is one of an iterative receiver (gpu/kept_register_values.hpp), for codewords that
/// leave room.
inline bool ldpc_keeps_rows(const ldpc_decode_args& a) {
  return (a.messages.data != nullptr || a.extrinsic.data != nullptr) && a.n <= ldpc_most_bits_kept;
}

/// One term of a sum of rotated blocks: bit (r + shift) mod z of block `block` goes to bit r.
struct ldpc_term {
  std::int32_t block, shift;
};
/// Block `target` becomes the exclusive-or of the terms [first, first + terms); sums of one phase do not read
/// each other's targets.
struct ldpc_sum {
  std::int32_t target, first, terms, last_of_phase;
};

/// How the parity bits of a code follow from its k bits: `sums` sums over `blocks` blocks of z bits, the n /
/// z of the codeword and what the sums need behind them.
struct ldpc_encode_tables {
  int sums = 0, terms = 0, blocks = 0;
  const ldpc_sum* sum_table = nullptr;
  const ldpc_term* term_table = nullptr;
};

struct ldpc_encode_args {
  int n = 0, k = 0, z = 1, sums = 0;
  int blocks = 0;                 // of scratch: the n / z of the codeword, then what the sums need
  view<const std::uint8_t> bits;  // k
  view<std::uint8_t> coded;       // >= n
  const ldpc_sum* sum_table = nullptr;
  const ldpc_term* term_table = nullptr;
};

}  // namespace wb
