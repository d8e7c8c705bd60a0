#pragma once
// What the bodies of this room do for matrices of complex entries, in operations as exec/kernel.hpp counts
// them; bench/flops_test.cpp holds them against the bodies.
#include <warpband/exec/kernel.hpp>

namespace wb {

/// QR and Q^H y of rows x n by `gram_schmidt`.
inline double gram_schmidt_flops(double rows, double n) {
  return n * (4 * rows + division_flops + square_root_flops) + 4 * rows * n * (n + 1);
}
inline double cholesky_flops(double n) {
  return n * (2 + division_flops + square_root_flops) + 4 * n * (n - 1) + 2 * n * (n - 1) * (n - 2) / 3;
}
inline double back_substitute_flops(double n) { return 2 * n * n; }
inline double inverse_gram_diagonal_flops(double n) {
  return n + n * (n - 1) * (2 * n - 1) / 3 + 3 * n * (n - 1);
}

}  // namespace wb
