#pragma once
// How many warps search side by side on a multiprocessor (kbest_warp_op.hpp), for the kernel and its host.

namespace wb {

/// Blocks of four warps. On an H100 six leave a thread 80 registers, with which 16-QAM and 64 survivors are
/// 1 % faster than with the 96 that it takes otherwise; shared memory has room for five of 256 survivors.
constexpr int kbest_resident_blocks(int survivors) { return survivors > 64 ? 5 : 6; }

}  // namespace wb
