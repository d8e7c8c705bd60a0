#pragma once
// How a detector's uses map to a CUDA device; on a CPU lanes always hold uses. Threads that share a use, as
// measured on an H100:
//
//   linear     1
//   ml         1, or 32 where antennas n - 1 .. 2 have 64 points or more to share
//   ot, mtt    2x2 and 4x4: 1 for QPSK, 2 for 16-QAM, 4 for 64-QAM, 16 for 256-QAM; any other size: 8
//   kbest      4x4 16-QAM up to 64 and 64-QAM up to 256 survivors without prior: 16 up to 16 survivors, 32
//              above, after a block has decomposed its channels, one a thread; else 32
//   sphere     1, other numbers not measured
//   nway       1; for few uses sqrt(Q), the real parts of the top antenna (2x2 and 4x4 without prior), or 4.
//              With a spread or sorted by noise amplification 1, not measured
//
// Those of ot, mtt and kbest are known when they are compiled: trellis_op.hpp, kbest_kernels.cpp.
#include <warpband/detect/kbest/kbest_warp_args.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

/// Fewer uses than keep the device busy with a thread for each: threads that share a use end sooner.
inline bool few(const executor& exec, std::size_t uses) {
  return exec.is_device() && uses < exec.preferred_items();
}

inline int ml_tile(const executor& exec, int streams, int pam_bits) {
  const bool many = 2 * pam_bits * (streams - 2) >= 6;
  return exec.is_device() && many ? 32 : 1;
}
/// Uses of each warp in a K-best search by warps: fewer where they do not occupy the device.
inline int kbest_uses_of_warp(const executor& exec, std::size_t uses, int survivors) {
  if (!exec.is_device()) return 1;
  const auto resident = static_cast<std::size_t>(kbest_resident_blocks(survivors)) * 4;
  const std::size_t warps = exec.preferred_blocks() / 8 * resident, uses_of_warp = (uses + warps - 1) / warps;
  const std::size_t least = survivors <= 16 ? 2 : 1;  // at once
  if (uses_of_warp <= least) return static_cast<int>(least);
  return uses_of_warp > kbest_most_uses ? kbest_most_uses
                                        : static_cast<int>((uses_of_warp + least - 1) / least * least);
}
/// Above 1: as many as nway_kernels.cpp and nway_prior_kernels.cpp build for the size. With a prior (4x4, N =
/// 1, H100) threads that share a use are as fast with 8400 uses of 16-QAM and 16800 of 64-QAM. With 67200
/// they take 2.3 and 1.6 times as long.
inline int nway_tile(const executor& exec, std::size_t uses, bool prior) {
  return few(exec, prior ? 16 * uses : uses) ? 2 : 1;
}

}  // namespace wb
