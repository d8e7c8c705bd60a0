#pragma once
// What rate matching by itself and the transport channels both start.
#include <warpband/exec/kernel.hpp>

namespace wb {

WB_DECLARE_KERNEL(lte_match)
WB_DECLARE_KERNEL(lte_combine)

}  // namespace wb
