#pragma once
#include <optional>

namespace wb::testing {

/// Calls of operator new in this program up to now; nothing where a sanitizer has an operator of its own.
std::optional<long> allocations();

}  // namespace wb::testing
