#include <warpband/channel/kronecker/kronecker_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_kronecker(const kronecker_args& a, F f) {
  return a.rx_antennas * a.streams <= 128 ? f(kronecker_op<false>{a}) : f(kronecker_op<true>{a});
}
WB_EXPORT_KERNEL(kronecker, kronecker_args, with_kronecker)
}  // namespace WB_ISA
}  // namespace wb
