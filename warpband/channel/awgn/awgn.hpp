#pragma once
// Additive white Gaussian noise: y = x + n, n ~ CN(0, N0).
#include <complex>

#include <warpband/channel/awgn/awgn_args.hpp>
#include <warpband/channel/random.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

/// Adds noise to [symbols, 1]; `range.first` is the index of the first symbol. In place if out is in.
/// Throws argument_error unless noise_var is finite and >= 0.
void add_awgn(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out,
              float noise_var, random_range range);
/// With an N0 for each symbol, [symbols, 1]. A symbol whose N0 is NaN, infinite or below 0 gets no noise.
void add_awgn(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out,
              view<const float> noise_var, random_range range);

}  // namespace wb
