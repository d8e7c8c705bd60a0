#pragma once
#include <cstddef>

namespace oracle {

/// A number of items or an index, which is an int here, where the standard library wants std::size_t.
constexpr std::size_t as_size(int n) { return static_cast<std::size_t>(n); }

}  // namespace oracle
