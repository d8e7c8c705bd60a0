#pragma once
// The LDPC codes of 5G NR by name, 3GPP TS 38.212 §5.3.2: base graph 1 or 2 and a lifting size.
//
// Base graph 1 has 46 rows and 22 + 46 columns, base graph 2 has 42 and 10 + 42. Of each codeword the first
// 2 Z bits are never sent.
//
// Two parts of a code can be left out without another result:
//   rows     From row 4 on each row has a parity column of its own, which no other row reads. Where nothing
//            was received of the last columns, their rows tell nothing.
//   columns  Systematic columns whose bits are known to be zeros.
// nr_ldpc makes a code without them, for encoder and decoder: its time is that of what is left.
#include <vector>

#include <warpband/fec/ldpc/ldpc_code.hpp>

namespace wb {

inline constexpr int nr_most_lifting = 384;
/// Rows that every code keeps.
inline constexpr int nr_core_rows = 4;

/// Of base graph 1 or 2: 46 or 42 rows, 22 or 10 systematic columns.
constexpr int nr_rows(int base_graph) { return base_graph == 1 ? 46 : 42; }
constexpr int nr_systematic(int base_graph) { return base_graph == 1 ? 22 : 10; }

/// The 51 lifting sizes of table 5.3.2-1, rising from 2 to 384.
const std::vector<int>& nr_lifting_sizes();
/// Throws argument_error ("lifting_size") for any other.
void check_nr_lifting_size(int lifting_size);

/// The code of a base graph (1, 2) and a lifting size (one of the 51). rows: 4..46 or 4..42, 0: all.
/// systematic: how many of the systematic columns are kept, from the front, 3..22 or 3..10, 0: all; the bits
/// of the others are zeros. Throws argument_error ("base_graph", "lifting_size", "rows", "systematic").
///   ldpc_code code = nr_ldpc(1, 384);        // (26112, 8448)
///   ldpc_code short_one = nr_ldpc(1, 384, 8);  // of a high rate: 22 + 8 columns
ldpc_code nr_ldpc(int base_graph, int lifting_size, int rows = 0, int systematic = 0);
/// The base graph of whose first rows the code has all blocks, with all systematic columns; 0: neither.
int nr_base_graph_of(const ldpc_code& code);

}  // namespace wb
