#pragma once
#include <warpband/exec/shared_launch.hpp>
#include <warpband/massive/downlink/downlink_frames.hpp>

namespace wb {
inline namespace WB_ISA {

/// A call that `fits_sent_frames`: as many blocks as the device holds at once.
template <int Warps>
int launch_sent_frames(const massive_args& a, const place& where) {
  const frame_plan p = send_shape<Warps>::plan(a);
  const std::size_t frames = where.last - where.first;
  return launch_with_shared(
      precode_frames<Warps>, send_shape<Warps>::threads, static_cast<std::size_t>(p.floats) * sizeof(float),
      where,
      [&](auto resident) {
        const std::size_t most = static_cast<std::size_t>(where.limits.multiprocessors) * resident();
        return frames < most ? frames : most;
      },
      a, p, where.first, where.last);
}

}  // namespace WB_ISA
}  // namespace wb
