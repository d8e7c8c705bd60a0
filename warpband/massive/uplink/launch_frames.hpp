#pragma once
// Starts a kernel of uplink_frames.hpp. Each uplink_*_kernels.cpp defines it for some policies.
#include <warpband/exec/shared_launch.hpp>
#include <warpband/massive/uplink/uplink_frames.hpp>

namespace wb {
inline namespace WB_ISA {

/// A call that `takes_frames`: a block for each multiprocessor.
template <class P>
int launch_frames(const massive_args& a, const place& where) {
  const frame_plan p = frame_plan::of<P>(a, where.limits.shared_bytes);
  const std::size_t most = static_cast<std::size_t>(where.limits.multiprocessors),
                    frames = where.last - where.first;
  return launch_with_shared(
      detect_frames<P>, p.threads<P>(), static_cast<std::size_t>(p.floats) * sizeof(float), where,
      [&](auto) { return frames < most ? frames : most; }, a, p, where.first, where.last);
}

}  // namespace WB_ISA
}  // namespace wb
