#include <warpband/exec/launch.hpp>
#include <warpband/fec/trellis/max_star_table.hpp>
#include <warpband/fec/turbo/turbo_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// The decoder with max* from a table, without and with extrinsics of all coded bits.
template <class F>
static auto with_turbo_decoder_by_table(const turbo_decode_args& a, F f) {
  return a.coded.data != nullptr ? f(turbo_decode_op<lte_rsc, max_star_table, true>{a})
                                 : f(turbo_decode_op<lte_rsc, max_star_table>{a});
}
WB_EXPORT_KERNEL(turbo_decode_table, turbo_decode_args, with_turbo_decoder_by_table)

}  // namespace WB_ISA
}  // namespace wb
