#pragma once
#include <complex>

#include <warpband/exec/executor.hpp>
#include <warpband/link/gain/gain_args.hpp>

namespace wb {

/// The gain of every row y = g s + e of symbols: that of least squares, g = s^H y / s^H s, as good reference
/// symbols would tell a receiver, and what is left as noise. To `out` goes y / g, to `noise_var` the mean
/// |e|^2 / |g|^2, at least 1e-12, for each symbol; all are [rows, n], `out` may be y. A row whose |g|^2 is
/// below 1e-12 of 1 + mean |y|^2, or that holds NaN or Inf, gives zeros and 1e12.
void fit_gains(executor& exec, view<const std::complex<float>> sent, view<const std::complex<float>> received,
               view<std::complex<float>> out, view<float> noise_var);

}  // namespace wb
