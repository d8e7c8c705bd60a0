#pragma once
#include <warpband/exec/shared_launch.hpp>
#include <warpband/massive/downlink/downlink_frames.hpp>

namespace wb {
inline namespace WB_ISA {

/// A call that `takes_sent_frames`: a block for each multiprocessor.
template <int U, bool Many>
int launch_sent_frames(const massive_args& a, const place& where) {
  using Roles = send_roles<U, Many>;
  const send_plan p = send_plan::of<Roles>(a, where.limits.shared_bytes);
  const std::size_t most = static_cast<std::size_t>(where.limits.multiprocessors),
                    frames = where.last - where.first;
  return launch_with_shared(
      precode_frames<U, Many>, 32 * Roles::warps(p.teams), static_cast<std::size_t>(p.floats) * sizeof(float),
      where, [&](auto) { return frames < most ? frames : most; }, a, p, where.first, where.last);
}

}  // namespace WB_ISA
}  // namespace wb
