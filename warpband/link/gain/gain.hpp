#pragma once
#include <complex>

#include <warpband/exec/executor.hpp>
#include <warpband/link/gain/gain_args.hpp>

namespace wb {

/// How strongly each vector of [vectors, users] arrives: what was sent, as a part of what arrives without
/// noise, max(0, Re s^H y / s^H s). It is given to every element of the vector in `factor` [vectors, users];
/// a vector of zeros, or one with NaN or Inf, gets 0.
void vector_factors(executor& exec, view<const std::complex<float>> sent,
                    view<const std::complex<float>> received, view<float> factor);

/// The gain of every row y = g f s + e of symbols, with factors f that are known: that of least squares, g =
/// (f s)^H y / (f s)^H (f s), as good reference symbols would tell a receiver, and what is left as noise. The
/// fit takes 1/n of the noise for signal: n should be a few tens. To `out` goes y / (g f), to `noise_var` the
/// mean |e|^2 over |g f|^2 of each symbol, 1e-12 to 1e12; all are [rows, n], `out` may be y and `noise_var`
/// the factors. A row whose mean |g f|^2 is below 1e-12 of its mean |y|^2, or that holds NaN or Inf, and a
/// symbol with f = 0 give zeros and 1e12.
void fit_gains(executor& exec, view<const std::complex<float>> sent, view<const float> factor,
               view<const std::complex<float>> received, view<std::complex<float>> out,
               view<float> noise_var);

}  // namespace wb
