#include <warpband/exec/launch.hpp>
#include <warpband/fec/ctc/ctc_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class F>
static auto with_ctc_decoder(const ctc_decode_args& a, F f) {
  return with_ctc<false>(a, f);
}
WB_EXPORT_KERNEL(ctc_decode, ctc_decode_args, with_ctc_decoder)
WB_EXPORT_OP(ctc_encode, ctc_encode_args, ctc_encode_op)

}  // namespace WB_ISA
}  // namespace wb
