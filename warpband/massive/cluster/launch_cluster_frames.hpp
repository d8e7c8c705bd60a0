#pragma once
// Starts the kernels of cluster_frames.hpp. Each cluster_frames_*_kernels.cpp defines this for some policies.
#include <warpband/exec/shared_launch.hpp>
#include <warpband/massive/cluster/cluster_frames.hpp>

namespace wb {
inline namespace WB_ISA {

/// A call that `takes_cluster_sums`: a block for each multiprocessor.
template <class P>
int launch_cluster_sums(const cluster_sums_args& args, const place& where) {
  const massive_args a = sums_only(args.of);
  const frame_plan p = frame_plan::of<P>(a, where.limits.shared_bytes);
  const std::size_t most = static_cast<std::size_t>(where.limits.multiprocessors),
                    frames = where.last - where.first;
  return launch_with_shared(
      sum_frames<P>, p.threads<P>(), static_cast<std::size_t>(p.floats) * sizeof(float), where,
      [&](auto) { return frames < most ? frames : most; }, a, p, args.sums, where.first, where.last);
}

/// A call that `takes_cluster_solve`: as many blocks as the device holds at once.
template <class P>
int launch_cluster_solve(const cluster_solve_args& args, const place& where) {
  constexpr std::size_t together = solve_warps * P::shape::frames;
  const std::size_t blocks = (where.last - where.first + together - 1) / together;
  return launch_with_shared(
      solve_sums<P>, 32 * solve_warps, static_cast<std::size_t>(solve_floats<P>) * sizeof(float), where,
      [&](auto resident) {
        const std::size_t most = static_cast<std::size_t>(where.limits.multiprocessors) * resident();
        return blocks < most ? blocks : most;
      },
      args.of, args.sums, where.first, where.last);
}

}  // namespace WB_ISA
}  // namespace wb
