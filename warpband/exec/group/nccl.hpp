#pragma once
#include <memory>
#include <vector>

#include <warpband/exec/cuda.hpp>
#include <warpband/exec/group/group.hpp>

namespace wb {

/// Carries pieces between CUDA devices by NCCL, on their streams. Throws device_error where NCCL is not
/// there.
std::unique_ptr<group_carrier> make_nccl_carrier(const std::vector<cuda*>& members);

}  // namespace wb
