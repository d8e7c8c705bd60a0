#include <warpband/code/passes/passes.hpp>

#include <warpband/core/check.hpp>

namespace wb {

WB_DECLARE_KERNEL(count_pass)
WB_DECLARE_KERNEL(sum_up)

void count_pass(executor& exec, view<const std::uint8_t> status, view<std::int32_t> iterations) {
  check_shape("status", status, status.items, 1);
  check_shape("iterations", iterations, status.items, 1);
  const count_pass_args a{status, iterations};
  exec.run(count_pass_kernels(), &a, status.items);
}

void sum_up_blocks(executor& exec, view<const std::int32_t> block_iterations, view<const std::uint8_t> ok,
                   view<const std::uint8_t> status, view<std::int32_t> iterations,
                   view<std::uint8_t> stopped) {
  check_range("block_iterations.elements", static_cast<long long>(block_iterations.elements), 1, 1 << 30);
  check_shape("ok", ok, block_iterations.items, 1);
  check_shape("status", status, block_iterations.items, 1);
  check_optional_shape("iterations", iterations, block_iterations.items, 1);
  check_optional_shape("stopped", stopped, block_iterations.items, 1);
  const sum_up_args a{block_iterations, ok, status, iterations, stopped};
  exec.run(sum_up_kernels(), &a, block_iterations.items);
}

}  // namespace wb
