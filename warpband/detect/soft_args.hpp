#pragma once
#include <warpband/detect/detect_call.hpp>

namespace wb {

/// A call of a detector with soft symbols.
struct soft_args : detect_call {
  bool exact = false;  // LLRs from sums over all points
};

}  // namespace wb
