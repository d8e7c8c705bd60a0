#pragma once
#include <warpband/core/view.hpp>

namespace wb {

/// An item is a vector.
struct vector_power_args {
  int parts = 1;
  float scale = 1;     // 1 / sqrt(parts)
  view<cx_pair> sent;  // [vectors, B], in place
  view<float> factor;  // [vectors, 1]
};

// An item of both is a matrix H with its vectors.
struct effective_gain_args {
  int users = 1;
  view<const cx_pair> reference;  // s: [1, U * U], item_stride 0
  view<const cx_pair> received;   // [matrices, U * U]
  view<const float> factor;       // [matrices, U]; without data 1
  view<cx_pair> gain;             // [matrices, U]
  view<float> interference;       // [matrices, U]
};
struct gain_division_args {
  int users = 1, vectors = 1;  // of an item
  view<const cx_pair> gain;
  view<const float> interference;
  view<const float> factor;     // [matrices, vectors]
  view<const float> noise_var;  // [matrices, 1]
  view<const cx_pair> received;
  view<cx_pair> out;          // [matrices, vectors * U]
  view<float> out_noise_var;  // [matrices, vectors * U]
};

}  // namespace wb
