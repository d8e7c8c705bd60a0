#pragma once
// Flat Rayleigh fading between several antennas: y = H s, the entries of H independent and CN(0, 1). Fast: a
// new H for every use of the channel; block: one for `uses_per_channel` consecutive uses. Noise is added by
// add_awgn. With a K-factor the entries are Rician (channel/rician.hpp), from the same scattered parts.
#include <complex>
#include <cstddef>

#include <warpband/channel/mimo/mimo_args.hpp>
#include <warpband/channel/random.hpp>
#include <warpband/channel/rician.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

/// Sends [uses, streams] to [uses, rx_antennas] and stores each H in `channel` [uses / uses_per_channel,
/// rx_antennas * streams], row after row: element r * streams + s is the gain from stream s to antenna r.
/// Streams and antennas are those of the shapes, 1..64 and 1..512; uses must be a multiple of
/// `uses_per_channel`. `range.first` is the index of the first H, `in` and `out` must not overlap. With
/// one stream and one antenna they may be the same array.
void apply_mimo_rayleigh(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out,
                         view<std::complex<float>> channel, std::size_t uses_per_channel, random_range range,
                         rician_amplitudes rice = {});
/// Draws the H of apply_mimo_rayleigh with uses_per_channel = 1 and sends nothing: `channel` [uses,
/// rx_antennas * streams], streams 1..64 and rx_antennas 1..512.
void draw_mimo_rayleigh(executor& exec, view<std::complex<float>> channel, int streams, random_range range,
                        rician_amplitudes rice = {});

}  // namespace wb
