#include <warpband/exec/launch.hpp>
#include <warpband/fec/turbo/turbo_bfloat.hpp>

namespace wb {
inline namespace WB_ISA {

template <class F>
static auto with_turbo_bf16(const turbo_windows_args& a, F f) {
  return a.log_map ? f(turbo_windows_op<turbo_bfloat_io<lte_rsc, log_map_bfloat>>(a))
                   : f(turbo_windows_op<turbo_bfloat_io<lte_rsc, max_log_bfloat>>(a));
}
WB_EXPORT_KERNEL_OF(turbo_decode_bf16, turbo_windows_args, with_turbo_bf16, WB_WIDTH)

}  // namespace WB_ISA
}  // namespace wb
