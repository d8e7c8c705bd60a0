#include <warpband/exec/launch.hpp>
#include <warpband/fec/turbo/turbo_windows_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class F>
static auto with_turbo_windows(const turbo_windows_args& a, F f) {
  return f(turbo_windows_op<lte_rsc>(a));
}
WB_EXPORT_KERNEL_OF(turbo_decode_i16, turbo_windows_args, with_turbo_windows, i16x::lanes* i16x::items)

}  // namespace WB_ISA
}  // namespace wb
