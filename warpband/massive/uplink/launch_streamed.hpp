#pragma once
// Starts the kernel of streamed_frames.hpp.
#include <warpband/exec/shared_launch.hpp>
#include <warpband/massive/uplink/streamed_frames.hpp>

namespace wb {
inline namespace WB_ISA {

/// An op whose arguments `takes_streamed` accepts: a block for each multiprocessor.
template <class Op>
int launch_streamed_op(const Op& op, const place& where) {
  const std::size_t most = static_cast<std::size_t>(where.limits.multiprocessors),
                    frames = where.last - where.first;
  return with_stream_policy(op.a, [&]<class P>() {
    const stream_plan p = stream_plan::of<P>(op.a, where.limits.shared_bytes);
    return launch_with_shared(
        run_streamed<P, Op>, P::threads, static_cast<std::size_t>(p.floats) * sizeof(float), where,
        [&](auto) { return frames < most ? frames : most; }, op, p, where.first, where.last);
  });
}

}  // namespace WB_ISA
}  // namespace wb
