// The frames of 64 users on a CUDA device (streamed_frames.hpp). On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/exec/shared_launch.hpp>
#include <warpband/massive/uplink/streamed_frames.hpp>

namespace wb {
inline namespace WB_ISA {
/// A call that `takes_streamed`: a block for each multiprocessor.
int launch_streamed(const massive_args& a, const place& where) {
  const std::size_t most = static_cast<std::size_t>(where.limits.multiprocessors),
                    frames = where.last - where.first;
  return with_stream_policy(a, [&]<class P>() {
    const stream_plan p = stream_plan::of<P>(a, where.limits.shared_bytes);
    return launch_with_shared(
        detect_streamed<P>, P::threads, static_cast<std::size_t>(p.floats) * sizeof(float), where,
        [&](auto) { return frames < most ? frames : most; }, uplink_op<fixed<P::users>>(a), p, where.first,
        where.last);
  });
}
}  // namespace WB_ISA
}  // namespace wb
#endif
