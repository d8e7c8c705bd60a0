#pragma once
// A lane of double precision, for tests of formulas: a body over it has the rounding of double. Programs set
// WB_ISA to a name of their own and WB_WIDTH to 1 before they include it.
#include <cmath>

#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>

namespace wb {
inline namespace WB_ISA {

struct double_lane {
  double x;

  double_lane() = default;
  double_lane(double v) : x(v) {}
  friend double_lane operator+(double_lane a, double_lane b) { return a.x + b.x; }
  friend double_lane operator-(double_lane a, double_lane b) { return a.x - b.x; }
  friend double_lane operator-(double_lane a) { return -a.x; }
  friend double_lane operator*(double_lane a, double_lane b) { return a.x * b.x; }
  friend double_lane operator/(double_lane a, double_lane b) { return a.x / b.x; }
  friend bool operator<(double_lane a, double_lane b) { return a.x < b.x; }
  friend bool operator>(double_lane a, double_lane b) { return a.x > b.x; }
  friend bool operator<=(double_lane a, double_lane b) { return a.x <= b.x; }
  friend bool operator>=(double_lane a, double_lane b) { return a.x >= b.x; }
  friend bool operator==(double_lane a, double_lane b) { return a.x == b.x; }
  friend double_lane fma(double_lane a, double_lane b, double_lane c) { return std::fma(a.x, b.x, c.x); }
  friend double_lane fnma(double_lane a, double_lane b, double_lane c) { return std::fma(-a.x, b.x, c.x); }
  friend double_lane abs(double_lane a) { return std::fabs(a.x); }
  friend double_lane min(double_lane a, double_lane b) { return a.x < b.x ? a : b; }
  friend double_lane max(double_lane a, double_lane b) { return a.x > b.x ? a : b; }
  friend double_lane sqrt(double_lane a) { return std::sqrt(a.x); }
  friend double_lane exp(double_lane a) { return std::exp(a.x); }
  friend double_lane select(bool m, double_lane a, double_lane b) { return m ? a : b; }
};

}  // namespace WB_ISA
}  // namespace wb
