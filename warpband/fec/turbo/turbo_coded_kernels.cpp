#include <warpband/exec/launch.hpp>
#include <warpband/fec/turbo/turbo_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// The decoder with extrinsics of all coded bits: in kernels of its own, as it takes more registers.
template <class F>
static auto with_turbo_decoder_of_coded(const turbo_decode_args& a, F f) {
  return a.log_map ? f(turbo_decode_op<lte_rsc, log_map, true>{a})
                   : f(turbo_decode_op<lte_rsc, max_log, true>{a});
}
WB_EXPORT_KERNEL(turbo_decode_coded, turbo_decode_args, with_turbo_decoder_of_coded)

}  // namespace WB_ISA
}  // namespace wb
