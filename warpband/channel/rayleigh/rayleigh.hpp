#pragma once
// Flat Rayleigh fading, i.i.d.: y = h x, h ~ CN(0, 1). Fast: a new h for every symbol; block: one for `block`
// consecutive symbols. With a K-factor h is Rician (channel/rician.hpp), from the same scattered part.
#include <complex>

#include <warpband/channel/random.hpp>
#include <warpband/channel/rayleigh/rayleigh_args.hpp>
#include <warpband/channel/rician.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

/// Fades [symbols, 1] and stores each symbol's h in `gain` [symbols, 1]. `range.first` is the index of the
/// first block of `block` symbols; symbols must be a multiple of `block`. In place if out is in.
void apply_rayleigh(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out,
                    view<std::complex<float>> gain, int block, random_range range,
                    rician_amplitudes rice = {});

}  // namespace wb
