#include <warpband/exec/launch.hpp>
#include <warpband/link/count/count_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_count(const count_args& a, F f) {
  return a.received.data != nullptr ? f(count_op<false>{a}) : f(count_op<true>{a});
}
WB_EXPORT_KERNEL(count, count_args, with_count)

WB_EXPORT_OP(count_erased, count_erased_args, count_erased_op)
}  // namespace WB_ISA
}  // namespace wb
