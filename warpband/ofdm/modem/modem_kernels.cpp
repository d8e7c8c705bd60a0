#include <warpband/exec/launch.hpp>
#include <warpband/ofdm/modem/modem_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_ofdm_copy(const ofdm_copy_args& a, F f) {
  return f(ofdm_copy_op{a});
}
WB_EXPORT_KERNEL_OF(ofdm_copy, ofdm_copy_args, with_ofdm_copy, 1)
}  // namespace WB_ISA
}  // namespace wb
