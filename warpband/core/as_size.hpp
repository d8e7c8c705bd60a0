#pragma once
#include <cstddef>

namespace wb {

/// A number of items, which settings hold as int, where the standard library wants std::size_t.
constexpr std::size_t as_size(int n) { return static_cast<std::size_t>(n); }

}  // namespace wb
