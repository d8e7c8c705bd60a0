#pragma once
// What rate matching by itself and the transport channels both start.
#include <warpband/exec/kernel.hpp>

namespace wb {

WB_DECLARE_KERNEL(nr_match)
WB_DECLARE_KERNEL(nr_combine)
WB_DECLARE_KERNEL(nr_feedback)

}  // namespace wb
