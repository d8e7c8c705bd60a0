// log-MAP of known codes on a CUDA device. On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/fec/bcjr/bcjr_known_op.hpp>

namespace wb {
inline namespace WB_ISA {
template int launch_bcjr_known<log_map>(const bcjr_args&, const place&);
}  // namespace WB_ISA
}  // namespace wb
#endif
