#pragma once
// Estimates at pilots, which channel and noise estimation begin with. For the files of estimate/ alone.
#include <complex>

#include <warpband/estimate/estimate_args.hpp>
#include <warpband/estimate/pilots.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

struct cell_tables {
  resident<std::int32_t> element;
  resident<std::complex<float>> weight;
};
cell_tables tables_of(const pilot_pattern& pilots);
estimate_sizes sizes_of(const pilot_pattern& pilots, std::size_t rx);
/// Slots of what is received. Throws shape_error, argument_error.
std::size_t slots_of(view<const std::complex<float>> received, std::size_t elements);
/// Queues the cells of all slots.
void run_cells(executor& exec, const cell_tables& tables, const estimate_sizes& sizes,
               view<const std::complex<float>> received, std::size_t slots, cx_pair* out);

}  // namespace wb
