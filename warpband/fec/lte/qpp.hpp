#pragma once
// The quadratic permutation polynomial (QPP) interleaver of the LTE turbo code, 3GPP TS 36.212 §5.1.3.2.3:
// bit i into the second encoder is input bit pi(i) = (f1 i + f2 i^2) mod k.
#include <cstdint>
#include <span>
#include <vector>

namespace wb {

/// Block size and coefficients of pi(i) = (f1 i + f2 i^2) mod k.
struct qpp_parameters {
  int k, f1, f2;
};

/// The rows of TS 36.212 table 5.1.3-3, in order of k: 188 of them.
std::span<const qpp_parameters> qpp_table() noexcept;

/// True if k is a block size of the table.
bool is_qpp_size(int k) noexcept;

/// The row of block size k. Throws argument_error (argument "k") for a k that the table does not have.
qpp_parameters qpp_for(int k);

/// pi(0), ..., pi(k - 1). Any coefficients are allowed, in the table or not, negative or larger than k: only
/// their residues modulo k count. Throws argument_error if k < 1 (argument "k") or if pi is not a permutation
/// of 0..k-1 (argument "f1, f2").
std::vector<std::int32_t> qpp_permutation(qpp_parameters parameters);

}  // namespace wb
