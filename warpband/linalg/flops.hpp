#pragma once
// Operations (exec/kernel.hpp) of the bodies of this room; bench/flops_*_test.cpp holds them against the
// bodies. parts: 1 of a real matrix, 2 of a complex one.
#include <warpband/exec/kernel.hpp>

namespace wb {

inline double gram_schmidt_flops(double parts, double m, double n) {
  return n * (2 * parts * m + square_root_flops + division_flops) + n * (n + 1) / 2 * 2 * parts * parts * m;
}
inline double gram_flops(double parts, double m, double n) {
  return n * parts * m + n * (n + 1) / 2 * parts * parts * m;
}
inline double cholesky_flops(double parts, double n) {
  const double pairs = n * (n - 1) / 2, triples = n * (n - 1) * (n - 2) / 6, product = parts * parts;
  return n * (square_root_flops + division_flops + parts) + pairs * (2 * parts + product) + triples * product;
}
inline double back_substitute_flops(double parts, double n) {
  return n * parts + n * (n - 1) / 2 * parts * parts;
}
inline double inverse_gram_diagonal_flops(double parts, double n) {
  const double pairs = n * (n - 1) / 2, triples = n * (n - 1) * (n - 2) / 6;
  return n + pairs * (2 * parts + parts * parts) + triples * parts * parts;
}

}  // namespace wb
