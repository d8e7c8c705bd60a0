#pragma once
// What the transport channels of LTE and NR both start.
#include <warpband/exec/kernel.hpp>

namespace wb {

WB_DECLARE_KERNEL(transport_finish)

}  // namespace wb
