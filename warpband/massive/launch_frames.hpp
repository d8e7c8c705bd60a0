#pragma once
// Starts the kernels of frames. frames_{8,16,24,32}_kernels.cpp define these functions for their policies.
#include <warpband/exec/shared_launch.hpp>
#include <warpband/massive/cluster/cluster_frames.hpp>
#include <warpband/massive/downlink/downlink_frames.hpp>
#include <warpband/massive/uplink/uplink_frames.hpp>

namespace wb {
inline namespace WB_ISA {

/// A block for each multiprocessor, with its plan and more arguments.
template <class P, class Plan, class Kernel, class... Args>
int launch_plan(Kernel kernel, const Plan& p, const place& where, const massive_args& a,
                const Args&... args) {
  return launch_blocks(kernel, where.limits.multiprocessors, p.template threads<P>(), p.floats, where, a, p,
                       args...);
}
/// A call that `takes_frames`.
template <class P>
int launch_frames(const massive_args& a, const place& where) {
  return launch_plan<P>(detect_frames<P>, frame_plan::of<P>(a, where.limits.shared_bytes), where, a);
}
/// A call that `takes_sent_frames`.
template <class P>
int launch_sent_frames(const massive_args& a, const place& where) {
  return launch_plan<P>(precode_frames<P>, send_plan::of<P>(a, where.limits.shared_bytes), where, a);
}
/// A call that `takes_cluster_sums`.
template <class P>
int launch_cluster_sums(const cluster_sums_args& args, const place& where) {
  const massive_args a = sums_only(args.massive);
  return launch_plan<P>(sum_frames<P>, frame_plan::of<P>(a, where.limits.shared_bytes), where, a, args.sums);
}
/// A call that `takes_cluster_solve`: as many blocks as the device holds at once.
template <class P>
int launch_cluster_solve(const cluster_solve_args& args, const place& where) {
  constexpr std::size_t together = solve_warps * P::shape::frames;
  const std::size_t blocks = (where.last - where.first + together - 1) / together;
  return launch_with_shared(
      solve_sums<P>, 32 * solve_warps, static_cast<std::size_t>(solve_floats<P>) * sizeof(float), where,
      [&](auto resident) {
        const std::size_t resident_blocks =
            static_cast<std::size_t>(where.limits.multiprocessors) * resident();
        return blocks < resident_blocks ? blocks : resident_blocks;
      },
      args.massive, args.sums, where.first, where.last);
}

}  // namespace WB_ISA
}  // namespace wb
