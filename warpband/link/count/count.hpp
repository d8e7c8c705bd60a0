#pragma once
#include <cstdint>

#include <warpband/exec/executor.hpp>
#include <warpband/link/count/count_args.hpp>

namespace wb {

/// Bit errors of every frame: sent and received [frames, n], errors [frames].
void count_errors(executor& exec, view<const std::uint8_t> sent, view<const std::uint8_t> received,
                  view<std::int32_t> errors);
/// Hard decisions of LLRs [frames, n] against sent bits: a negative LLR is a 1.
void count_errors(executor& exec, view<const std::uint8_t> sent, view<const float> llr,
                  view<std::int32_t> errors);

/// Items of every frame whose status [frames, n] has status_erased, each counted `weight` >= 1 times:
/// erased [frames].
void count_erased(executor& exec, view<const std::uint8_t> status, int weight, view<std::int32_t> erased);

/// What LLRs [frames, n] do not tell of sent bits [frames, n]: lost [frames] is the sum over a frame of
/// log2(1 + exp(-(1 - 2 b) L)). The mutual information of bits and LLRs is 1 - sum(lost) / (frames n) bits.
/// For LLRs that are not exact, as those of max-log algorithms, it is a lower bound. LLRs beyond
/// +-1e6 count as +-1e6.
void lost_information(executor& exec, view<const std::uint8_t> sent, view<const float> llr, view<float> lost);

}  // namespace wb
