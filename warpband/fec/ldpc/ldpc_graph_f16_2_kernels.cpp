// Base graph 2 in float16 on a CUDA device. On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/fec/ldpc/ldpc_graph_op.hpp>

namespace wb {
inline namespace WB_ISA {
template int launch_graph<f16x, 2, graph_most_z, false>(const ldpc_decode_args&, const graph_plan&,
                                                        const place&);
template int launch_graph<f16x, 2, 0, false>(const ldpc_decode_args&, const graph_plan&, const place&);
}  // namespace WB_ISA
}  // namespace wb
#endif
