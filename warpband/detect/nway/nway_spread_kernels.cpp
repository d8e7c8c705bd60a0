#include <warpband/detect/nway/nway_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
/// With a spread or sorted by noise amplification.
template <class F>
static auto with_nway_spread(const nway_spread_args& a, F f) {
  if (a.spread[0] != 0) return f(nway_op<fsd_sizes, 1, nway_spread_args>{a});
  return f(nway_op<fsd_sizes, 1>{a});
}
WB_EXPORT_KERNEL(nway_spread, nway_spread_args, with_nway_spread)
}  // namespace WB_ISA
}  // namespace wb
