// The float32 Viterbi decoder of known codes, for CUDA. On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/fec/viterbi/viterbi_known_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class Code>
__global__ void __launch_bounds__(32, viterbi_known_op<Code>::resident)
    run_viterbi_known(const __grid_constant__ viterbi_known_op<Code> op, std::size_t first, std::size_t last,
                      char* workspace, std::size_t stride) {
  constexpr std::size_t n = viterbi_known_op<Code>::at_once;
  extern __shared__ float shared[];
  const warp_tile<viterbi_known_sizes<6, Code>::team> g;
  const int team = static_cast<int>(threadIdx.x) / g.size;
  char* kept = workspace + blockIdx.x * stride;
  for (std::size_t b = first + n * blockIdx.x; b < last; b += n * gridDim.x) {
    op(b, static_cast<int>(last - b < n ? last - b : n), g, team, shared, kept);
    g.sync();
  }
}
template <class Code>
int launch(const viterbi_known_op<Code>& op, const place& where) {
  if (where.first == where.last) return 0;
  const std::size_t blocks = blocks_of(op, where.limits, where.last - where.first);
  run_viterbi_known<Code>
      <<<static_cast<unsigned>(blocks), 32, op.scratch_bytes(32), static_cast<cudaStream_t>(where.stream)>>>(
          op, where.first, where.last, static_cast<char*>(where.scratch), op.kept_bytes());
  return cudaGetLastError();
}
template int launch(const viterbi_known_op<conv_known_code<0133, 0171>>&, const place&);
template int launch(const viterbi_known_op<conv_known_code<0133, 0171, 0165>>&, const place&);

}  // namespace WB_ISA
}  // namespace wb
#endif
