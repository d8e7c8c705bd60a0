#pragma once
// Vectors through channel matrices that are there already: y = H x, and y = H^H x the other way, which is the
// downlink of docs/li-thesis.md. Models that draw H and have no `apply` of their own send through these.
#include <complex>
#include <cstddef>

#include <warpband/channel/matrix/matrix_args.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

/// Sends [vectors, columns] to `out` [vectors, rows], out = scale H in. H is in `channel` [vectors /
/// vectors_per_channel, rows * columns], row after row. `vectors_per_channel` consecutive vectors share one.
/// Rows and columns are those of the shapes. Queues. Throws shape_error, and argument_error for
/// vectors_per_channel outside 1..2^24. `in` and `out` must not overlap, but with one row and column may be
/// the same.
void apply_channel(executor& exec, view<const std::complex<float>> channel,
                   view<const std::complex<float>> in, view<std::complex<float>> out,
                   std::size_t vectors_per_channel, float scale = 1);

/// The other way: `in` [vectors, rows] to `out` [vectors, columns], out = scale H^H in.
void apply_adjoint_channel(executor& exec, view<const std::complex<float>> channel,
                           view<const std::complex<float>> in, view<std::complex<float>> out,
                           std::size_t vectors_per_channel, float scale = 1);

}  // namespace wb
