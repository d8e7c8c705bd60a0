#pragma once
#include <warpband/detect/detect_call.hpp>

namespace wb {

enum class linear_algorithm { mf, zf, mmse };

struct linear_args : detect_call {
  linear_algorithm algorithm = linear_algorithm::mmse;
};

}  // namespace wb
