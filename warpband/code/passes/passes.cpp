#include <warpband/code/passes/passes.hpp>

#include <warpband/core/check.hpp>

namespace wb {

WB_DECLARE_KERNEL(count_pass)
WB_DECLARE_KERNEL(sum_up)

void count_pass(executor& exec, view<const std::uint8_t> status, view<std::int32_t> iterations) {
  check_shape("status", status, 1, status.items);
  check_shape("iterations", iterations, 1, status.items);
  const count_pass_args a{status, iterations};
  exec.run(count_pass_kernels(), &a, status.items);
}

void sum_up_blocks(executor& exec, view<const std::int32_t> each, view<const std::uint8_t> ok,
                   view<const std::uint8_t> status, view<std::int32_t> iterations,
                   view<std::uint8_t> stopped) {
  check_range("each.elements", static_cast<long long>(each.elements), 1, 1 << 30);
  check_shape("ok", ok, 1, each.items);
  check_shape("status", status, 1, each.items);
  check_optional_shape("iterations", iterations, 1, each.items);
  check_optional_shape("stopped", stopped, 1, each.items);
  const sum_up_args a{each, ok, status, iterations, stopped};
  exec.run(sum_up_kernels(), &a, each.items);
}

}  // namespace wb
