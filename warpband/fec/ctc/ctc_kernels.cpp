#include <warpband/exec/launch.hpp>
#include <warpband/fec/ctc/ctc_op.hpp>
#include <warpband/fec/trellis/max_star_table.hpp>

namespace wb {
inline namespace WB_ISA {

template <class F>
static auto with_ctc_decoder(const ctc_decode_args& a, F f) {
  switch (a.algorithm) {
    case map_algorithm::max_log_map:
      return f(ctc_decode_op<max_log>{a});
    case map_algorithm::log_map_table:
      return f(ctc_decode_op<max_star_table>{a});
    default:
      return f(ctc_decode_op<log_map>{a});
  }
}
WB_EXPORT_KERNEL(ctc_decode, ctc_decode_args, with_ctc_decoder)
WB_EXPORT_OP(ctc_encode, ctc_encode_args, ctc_encode_op)

}  // namespace WB_ISA
}  // namespace wb
