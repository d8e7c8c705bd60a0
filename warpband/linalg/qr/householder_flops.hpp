#pragma once
// Operations (exec/kernel.hpp) of householder_body.hpp; as linalg/flops.hpp has those of other bodies.
#include <warpband/exec/kernel.hpp>

namespace wb {

/// Without those of Q.
inline double householder_flops(double parts, double m, double n) {
  const double product = parts * parts, polar = parts == 2 ? 3 + square_root_flops + division_flops + 2 : 0;
  double sum = 2 + parts * m * n;
  for (double i = 0; i < n; i++) {
    const double below = m - i - 1;
    sum += parts * (below + 1) + square_root_flops + 2 * division_flops + 4 + polar + parts + product * below;
    sum += (n - i) * (2 * parts + product + 2 * product * below) + parts * (n - i - 1);
  }
  return sum;
}
inline double householder_q_flops(double parts, double m, double n) {
  const double product = parts * parts;
  double sum = 0;
  for (double i = 0; i < n; i++) {
    const double below = m - i - 1;
    sum += (n - i - 1) * (2 * parts + 2 * product * below) + 2 * parts + product * below;
  }
  return sum;
}

}  // namespace wb
