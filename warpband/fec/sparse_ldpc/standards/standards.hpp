#pragma once
// The matrices of each standard; standard_matrix.cpp finds them by name.
#include <string>
#include <string_view>
#include <vector>

#include <warpband/fec/sparse_ldpc/parity_check_matrix.hpp>

namespace wb {

/// Names without their prefix.
std::vector<std::string> ccsds_names();
/// Of one of these names.
parity_check_matrix ccsds_matrix(std::string_view name, const unsent_columns& unsent);
parity_check_matrix dvb_s2_matrix(std::string_view name, const unsent_columns& unsent);

}  // namespace wb
