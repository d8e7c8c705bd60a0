#include <warpband/channel/awgn/awgn_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_awgn(const awgn_args& a, F f) {
  return f(awgn_op{a});
}
WB_EXPORT_KERNEL(awgn, awgn_args, with_awgn)
}  // namespace WB_ISA
}  // namespace wb
