#include <warpband/exec/launch.hpp>
#include <warpband/fec/ctc/ctc_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// The decoder with extrinsics of the coded bits: in kernels of its own, as it takes more registers.
template <class F>
static auto with_ctc_decoder_of_coded(const ctc_decode_args& a, F f) {
  return with_ctc<true>(a, f);
}
WB_EXPORT_KERNEL(ctc_decode_coded, ctc_decode_args, with_ctc_decoder_of_coded)

}  // namespace WB_ISA
}  // namespace wb
