#pragma once
// What lies codeword after codeword, subcarrier after subcarrier, comes to lie subcarrier after subcarrier,
// user after user, and back: transposition of matrices of cells.
#include <complex>

#include <warpband/exec/executor.hpp>
#include <warpband/link/regroup/regroup_args.hpp>

namespace wb {

/// Matrices [rows, columns] of cells of `width` floats to [columns, rows]: [matrices, rows * columns *
/// width], row-major. `in` and `out` must not overlap. Queues. Throws argument_error and shape_error.
void regroup(executor& exec, view<const float> in, view<float> out, int rows, int columns, int width);
/// Of complex values, one a cell.
void regroup(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out, int rows,
             int columns);

}  // namespace wb
