#pragma once
// How a detector's uses map to a CUDA device; on a CPU lanes always hold uses. Threads that share a use, as
// measured on an H100:
//
//   linear     1
//   ml         1, or 32 where antennas n - 1 .. 2 have 64 points or more to share
//   ot, mtt    2x2 and 4x4: 1 for QPSK, 2 for 16-QAM, 4 for 64-QAM, 16 for 256-QAM; any other size: 8
//   kbest      8 for 4x4 16- and 64-QAM with up to 64 survivors and no prior, else 32
//   nway       1; for few uses sqrt(Q), the real parts of the top antenna (2x2 and 4x4 without prior), or 4
//
// Those of ot, mtt and kbest are known when they are compiled: trellis_op.hpp, kbest_kernels.cpp.
#include <warpband/exec/executor.hpp>

namespace wb {

/// Fewer uses than keep the device busy with a thread for each: threads that share a use end sooner.
inline bool few(const executor& exec, std::size_t uses) {
  return exec.is_device() && uses < exec.preferred_batch(false);
}

inline int ml_tile(const executor& exec, int streams, int pam_bits) {
  const bool many = 2 * pam_bits * (streams - 2) >= 6;
  return exec.is_device() && many ? 32 : 1;
}
/// Above 1: as many as nway_kernels.cpp builds for the size.
inline int nway_tile(const executor& exec, std::size_t uses) { return few(exec, uses) ? 2 : 1; }

}  // namespace wb
