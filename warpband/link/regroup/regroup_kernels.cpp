#include <warpband/exec/launch.hpp>
#include <warpband/link/regroup/regroup_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_regroup(const regroup_args& a, F f) {
  return f(regroup_op{a});
}
WB_EXPORT_KERNEL(regroup, regroup_args, with_regroup)
}  // namespace WB_ISA
}  // namespace wb
