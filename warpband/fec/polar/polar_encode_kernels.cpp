#include <warpband/exec/launch.hpp>
#include <warpband/fec/polar/polar_encode_op.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
using polar_encode_build = polar_encode_op<32>;
#else
using polar_encode_build = polar_encode_op<1>;
#endif
WB_EXPORT_OP(polar_encode, polar_encode_args, polar_encode_build)

}  // namespace WB_ISA
}  // namespace wb
