#pragma once
#include <cstdint>

#include <warpband/channel/random.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/link/source/source_args.hpp>

namespace wb {

/// Fills the first n places of each row of [frames, >= n] with random bits. `range.first` is the index of the
/// first frame. n is at most 2^30.
void random_bits(executor& exec, view<std::uint8_t> bits, int n, random_range range);

}  // namespace wb
