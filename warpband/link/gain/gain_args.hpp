#pragma once
#include <warpband/core/view.hpp>

namespace wb {
struct gain_args {
  view<const cx_pair> sent, received;
  // Without data factors are made, to noise_var.
  view<const float> factor;
  view<cx_pair> out;
  view<float> noise_var;
};
}  // namespace wb
