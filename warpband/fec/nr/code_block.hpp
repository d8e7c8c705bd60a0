#pragma once
// Code blocks of 5G NR, 3GPP TS 38.212 §5.2.2: which lifting size a block of K' bits takes. It fills the
// systematic columns from the front; the rest of them are filler bits, zeros that both sides know and that
// are not sent.
#include <warpband/fec/ldpc/ldpc_nr.hpp>

namespace wb {

/// A code block of K' bits, CRCs included.
struct nr_code_block {
  int base_graph = 1;
  int k = 0;           // K'
  int z = 2;           // Z
  int systematic = 0;  // ceil(K' / Z): systematic columns that hold bits of the block

  /// Bits of these columns: the block, then fillers.
  int padded() const noexcept { return systematic * z; }
  /// Bits of the longest codeword, the first 2 Z included, fillers of whole columns not.
  int codeword() const noexcept { return (systematic + nr_rows(base_graph)) * z; }
  /// The standard's K and N.
  int standard_k() const noexcept { return nr_systematic(base_graph) * z; }
  int standard_n() const noexcept { return standard_k() + (nr_rows(base_graph) - 2) * z; }
  ldpc_code code(int rows = 0) const { return nr_ldpc(base_graph, z, rows, systematic); }
};

/// §5.2.2: the lifting size is the least with K_b Z >= K'. `columns`: K_b; 0 is by K', as for a transport
/// block of one code block: 22; with base graph 2 10 from 641 bits on, 9 from 561, 8 from 193, else 6.
/// K': 2 Z + 1 at least, 8448 or 3840 at most. Throws argument_error ("base_graph", "k", "columns").
nr_code_block make_nr_code_block(int base_graph, int k, int columns = 0);
/// The same with a given lifting size. Throws argument_error ("lifting_size" too).
nr_code_block nr_code_block_of(int base_graph, int k, int lifting_size);

}  // namespace wb
