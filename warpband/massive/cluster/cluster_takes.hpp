#pragma once
// Which calls of clusters take the kernels of cluster_frames.hpp. Host code, without CUDA.
#include <warpband/massive/cluster/cluster_args.hpp>
#include <warpband/massive/stream_plan.hpp>
#include <warpband/massive/uplink/mapping.hpp>

namespace wb {
inline namespace WB_ISA {

/// What the producer warps of `sum_frames` see of a call: no outputs, and a solver that does not matter.
inline massive_args sums_only(massive_args a) {
  a.solver = massive_solver::cholesky;
  a.split_f16 = false;
  a.llr = {}, a.llr8 = {}, a.sinr = {}, a.out = {}, a.status = {};
  return a;
}
/// Whether `sum_frames` makes the sums of a call.
inline bool takes_cluster_sums(const cluster_sums_args& args, std::size_t shared_bytes) {
  return (args.massive.users == 16 || args.massive.users == 32) && args.filter &&
         takes_frames(sums_only(args.massive), shared_bytes);
}
/// Whether `solve_sums` takes a call.
inline bool takes_cluster_solve(const massive_args& a) {
  return (a.users == 16 || a.users == 32) && has_frame_solver(a) && llrs_in_pieces(a);
}
/// Whether the warps of frame_stream.hpp make the sums of a call: those of 64 users.
inline bool takes_streamed_sums(const cluster_sums_args& args, std::size_t shared_bytes) {
  return args.filter && takes_streamed(sums_only(args.massive), shared_bytes);
}
/// f.operator()<Policy>() with the policy of a call with 16 or 32 users.
template <class F>
auto with_cluster_policy(const massive_args& a, F f) {
  return a.users == 16 ? with_policy<uplink_16, uplink_16_shared>(a, f)
                       : with_policy<uplink_32, uplink_32_shared>(a, f);
}

}  // namespace WB_ISA
}  // namespace wb
