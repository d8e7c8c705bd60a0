#pragma once
// How decoders turn float LLRs into integers, and the arguments of the kernel that chooses the scale. Plain
// data.
#include <warpband/core/view.hpp>

namespace wb {

/// What an LLR of 1 becomes: `fixed` quanta in every item, or each[item] of them.
struct llr_quanta {
  float fixed = 1.f;
  const float* per_item = nullptr;
};

struct llr_scale_args {
  view<const float> llr;
  float fineness = 1.f;     // the upper quartile of magnitudes, with rate R, becomes fineness / (1 - R)
  float information = 0.f;  // bits of an item
  view<float> quanta;       // [1] what an LLR of 1 becomes
};

}  // namespace wb
