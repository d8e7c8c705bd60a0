#pragma once
// What a transport channel of LTE and HARQ of WiMAX's turbo code start: their codewords differ, and not what
// comes before and behind these.
#include <warpband/fec/lte/match_kernels.hpp>
#include <warpband/fec/transport/finish_kernels.hpp>

namespace wb {

WB_DECLARE_KERNEL(lte_crc)
WB_DECLARE_KERNEL(lte_segment)
WB_DECLARE_KERNEL(lte_assemble)
WB_DECLARE_KERNEL(lte_harq)

}  // namespace wb
