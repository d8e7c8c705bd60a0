#pragma once
// ldpc: LDPC codes of any sparse parity-check matrix, of a standard by name or from a file
// (fec/sparse_ldpc/standard_matrix.hpp, parity_check_matrix.hpp).
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <warpband/code/code_kind.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc.hpp>

namespace wb {

struct sparse_ldpc_code_settings {
  std::optional<int> k = {};  // what the matrix gives
  /// The file, from `folder` on if it is not absolute.
  std::string matrix = {}, folder = {};
  std::vector<int> punctured = {}, shortened = {};            // columns, from 0
  std::shared_ptr<const parity_check_matrix> read = nullptr;  // what `completed` has read
  std::optional<crc_polynomial> crc = {};
  sparse_ldpc_config decoder = {};
  bool operator==(const sparse_ldpc_code_settings&) const = default;
};

/// Memory that a thread of a CPU takes at most.
std::size_t sparse_ldpc_thread_bytes(const parity_check_matrix& h, bool decodes);

code_kind sparse_ldpc_kind();

}  // namespace wb
