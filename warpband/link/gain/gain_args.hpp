#pragma once
#include <warpband/core/view.hpp>

namespace wb {
struct gain_args {
  view<const cx_pair> sent, received;
  view<cx_pair> out;
  view<float> noise_var;
};
}  // namespace wb
