#pragma once
#include <warpband/core/word_format.hpp>
#include <warpband/detect/detect_call.hpp>

namespace wb {

enum class linear_algorithm { mf, zf, mmse };

struct linear_args : detect_call {
  linear_algorithm algorithm = linear_algorithm::mmse;
};

/// Of mmse in fixed point.
struct mmse_word_args : linear_args {
  word_format words;
};

}  // namespace wb
