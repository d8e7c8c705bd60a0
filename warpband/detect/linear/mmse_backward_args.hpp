#pragma once
#include <warpband/detect/detect_call.hpp>

namespace wb {
/// The outputs of detect_call have no data, except the status.
struct mmse_backward_args : detect_call {
  view<const float> llr_gradient;
  view<cx_pair> channel_gradient, received_gradient;  // null data: not wanted
  view<float> noise_var_gradient;
};
}  // namespace wb
