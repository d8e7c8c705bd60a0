// 5G NR codes on a CUDA device: number type, base graph, Z (0: below 384), and whether some messages are in
// device memory. Each is a unit (cmake/library.cmake). On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/fec/ldpc/gpu/graph_op.hpp>

namespace wb {
inline namespace WB_ISA {
template int launch_graph<WB_PART>(const ldpc_decode_args&, const graph_plan&, const place&);
}  // namespace WB_ISA
}  // namespace wb
#endif
