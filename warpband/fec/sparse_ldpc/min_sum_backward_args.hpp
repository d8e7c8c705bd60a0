#pragma once
// Arguments of the kernel that computes gradients of min-sum. Plain data.
#include <warpband/fec/sparse_ldpc/sparse_ldpc_args.hpp>

namespace wb {

/// Of the decoder's arguments: the code, iterations, corrections and LLRs.
struct min_sum_backward_args : sparse_ldpc_args {
  int segment = 1;                  // iterations whose q are stored at once
  int segments = 1;                 // all iterations
  int states = 0;                   // that are kept: segments without the first and the last one
  bool of_offset = false;           // correction_gradient is of offsets, not of factors
  view<const float> soft_gradient;  // n
  view<float> llr_gradient;         // sent; null data: not wanted, here and below
  view<float> correction_gradient;  // iterations
};

}  // namespace wb
