#include <warpband/exec/launch.hpp>
#include <warpband/fec/turbo/turbo_short.hpp>

namespace wb {
inline namespace WB_ISA {

template <class F>
static auto with_turbo_i16(const turbo_windows_args& a, F f) {
  return f(turbo_windows_op<turbo_short_io<lte_rsc>>(a));
}
WB_EXPORT_KERNEL_OF(turbo_decode_i16, turbo_windows_args, with_turbo_i16, i16x::lanes* i16x::items)

}  // namespace WB_ISA
}  // namespace wb
