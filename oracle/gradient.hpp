#pragma once

#include <functional>
#include <vector>

/// Derivatives by differences, for checking gradients.
namespace oracle {

/// df/dx_i at x from five points a distance `step` (1 + |x_i|) apart: the error is of its fourth power.
std::vector<double> gradient(const std::function<double(const std::vector<double>&)>& f,
                             std::vector<double> x, double step = 1e-4);

}  // namespace oracle
