// Known codes on a CUDA device, a unit for each semiring (cmake/library.cmake). On a CPU there is nothing to
// build.
#if defined(__CUDACC__)
#include <warpband/fec/bcjr/bcjr_known_op.hpp>

namespace wb {
inline namespace WB_ISA {
template int launch_bcjr_known<WB_PART>(const bcjr_args&, const place&);
}  // namespace WB_ISA
}  // namespace wb
#endif
