#pragma once
#include <string>
#include <vector>

namespace wb {

/// The candidate that `word` is most likely a misspelling of; empty if none is near.
std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace wb
