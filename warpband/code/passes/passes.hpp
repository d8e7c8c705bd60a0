#pragma once
// What decoders say of their iterations.
#include <cstdint>

#include <warpband/code/passes/passes_args.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

/// Of decoders that pass a codeword once: iterations [frames] are 1, where the status [frames] has
/// status_erased 0.
void count_pass(executor& exec, view<const std::uint8_t> status, view<std::int32_t> iterations);

/// The code blocks of every transport block as one: inputs are block_iterations [frames, blocks], ok
/// [frames], whether all CRCs hold, and its status [frames]. Outputs are the sum of iterations [frames] and
/// the status with status_stopped where ok. Outputs without data are not computed.
void sum_up_blocks(executor& exec, view<const std::int32_t> block_iterations, view<const std::uint8_t> ok,
                   view<const std::uint8_t> status, view<std::int32_t> iterations,
                   view<std::uint8_t> stopped);

}  // namespace wb
