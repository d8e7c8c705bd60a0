#include <warpband/exec/launch.hpp>
#include <warpband/fec/puncture/puncture_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_pick(const pick_args& a, F f) {
  return a.llr_out.data != nullptr ? f(pick_op<true>{a}) : f(pick_op<false>{a});
}
WB_EXPORT_KERNEL(pick, pick_args, with_pick)
}  // namespace WB_ISA
}  // namespace wb
