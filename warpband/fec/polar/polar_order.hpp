#pragma once
// Orders of reliability and frozen sets of polar codes from text files.
//
// A file has indices of u with white space or commas between them. Text behind # is a comment. All N indices
// come from the least to the most reliable, as in 3GPP TS 38.212 Table 5.3.1.2-1. The N - K frozen ones have
// any order.
#include <string>
#include <string_view>
#include <vector>

namespace wb {

/// Throws file_error with line and reason: text that is no index from 0 to 32767, an index twice, or none at
/// all.
std::vector<int> read_polar_order(const std::string& path);

/// The same of a text; `name` stands for the file in messages.
std::vector<int> parse_polar_order(std::string_view text, const std::string& name);

}  // namespace wb
