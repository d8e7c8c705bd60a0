#include <warpband/exec/launch.hpp>
#include <warpband/fec/turbo/turbo_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class F>
static auto with_turbo_decoder(const turbo_decode_args& a, F f) {
  return a.log_map ? f(turbo_decode_op<lte_rsc, log_map>{a}) : f(turbo_decode_op<lte_rsc, max_log>{a});
}
WB_EXPORT_KERNEL(turbo_decode, turbo_decode_args, with_turbo_decoder)
WB_EXPORT_OP(turbo_encode, turbo_encode_args, turbo_encode_op<lte_rsc>)

}  // namespace WB_ISA
}  // namespace wb
