#pragma once
// What the codes whose matrix is in a file have alike: qc-ldpc and ldpc.
#include <optional>
#include <string>
#include <vector>

#include <warpband/code/code_kind.hpp>

namespace wb {

/// What results hold: k, crc and n, the settings of the kind's code, and `matrix_id` of the numbers that the
/// matrix is made of. A result must not go on with another matrix of the same name.
named_values described_matrix(std::string_view kind, const box& content, const code_sizes& sizes,
                              const std::optional<crc_polynomial>& crc,
                              const std::vector<std::int32_t>& numbers);
/// The k of the one n that the matrix has.
std::optional<std::size_t> k_of_matrix(const code_sizes& sizes, std::size_t n);
/// The settings, whose rows have the matrix' sizes. Else throws argument_error as code_rows does: `n_name`
/// and `k_name` are what rows of LLRs and of bits have.
box fit_matrix(const box& content, const code_sizes& sizes, const code_rows& rows, const std::string& n_name,
               const std::string& k_name);

}  // namespace wb
