// The searches of a CUDA device by warps (kbest_warp_op.hpp). On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/detect/kbest/kbest_warp_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template int launch(const kbest_warp_op<warp_part<16>, 2, 1>&, const place&);
template int launch(const kbest_warp_op<warp_part<32>, 2, 2>&, const place&);
template int launch(const kbest_warp_op<warp_part<16>, 3, 1>&, const place&);
template int launch(const kbest_warp_op<warp_part<32>, 3, 2>&, const place&);
template int launch(const kbest_warp_op<warp_part<32>, 3, 8>&, const place&);
}  // namespace WB_ISA
}  // namespace wb
#endif
