#pragma once
// How a detector's uses map to a CUDA device; on a CPU lanes always hold uses. Measured, see
// docs/performance.md.
#include <warpband/exec/executor.hpp>

namespace wb {

/// Fewer uses than keep the device busy with a thread for each: threads that share a use end sooner.
inline bool few(const executor& exec, std::size_t uses) {
  return exec.name() != "cpu" && uses < exec.preferred_batch(false);
}

}  // namespace wb
