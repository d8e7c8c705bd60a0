#pragma once
// The CUDA kernel of known codes (bcjr_known_call.hpp). A block is a warp; it needs bcjr_known_memory::shared
// floats of shared memory and `stride` bytes of device memory.
#include <warpband/exec/shared_launch.hpp>
#include <warpband/fec/bcjr/bcjr_known_call.hpp>

#if defined(__CUDACC__)
namespace wb {
inline namespace WB_ISA {

template <class M, class Code, bool Prior>
__global__ void __launch_bounds__(32, bcjr_known_plan::resident)
    decode_bcjr_known(const __grid_constant__ bcjr_args a, std::size_t first, std::size_t last, char* memory,
                      std::size_t stride) {
  extern __shared__ float shared[];
  constexpr std::size_t n = bcjr_known_memory::codewords;
  const block<> warp(nullptr);
  const int codeword = warp.rank / bcjr_known_memory::threads;
  const warp_tile<bcjr_known_memory::threads> g;
  for (std::size_t b = first + n * blockIdx.x; b < last; b += n * gridDim.x) {
    const std::size_t index = b + static_cast<std::size_t>(codeword);
    bcjr_known<M, Code, Prior, decltype(g), tile<bcjr_known_memory::threads>> decoder(
        a, g, codeword, {index < last ? index : last - 1, 1}, index < last, shared,
        reinterpret_cast<float*>(memory + blockIdx.x * stride));
    decoder.run();
    g.sync();
  }
}
template <class M, class Code, bool Prior>
int launch_bcjr_known(const bcjr_args& a, const place& where) {
  const bcjr_known_plan plan(a, where.limits, where.last - where.first);
  constexpr int bits = Code::outputs + (Prior ? 1 : 0);
  return launch_with_shared(
      decode_bcjr_known<M, Code, Prior>, 32, bcjr_known_memory::shared(bits) * sizeof(float), where,
      [&](auto) { return plan.blocks; }, a, where.first, where.last, static_cast<char*>(where.scratch),
      plan.stride);
}
template <class M>
int launch_bcjr_known(const bcjr_args& a, const place& where) {
  using half = conv_known_code<0133, 0171>;
  using third = conv_known_code<0133, 0171, 0165>;
  const bool prior = a.prior.data != nullptr;
  return a.known == conv_known::g133_171 ? (prior ? launch_bcjr_known<M, half, true>(a, where)
                                                  : launch_bcjr_known<M, half, false>(a, where))
         : prior                         ? launch_bcjr_known<M, third, true>(a, where)
                                         : launch_bcjr_known<M, third, false>(a, where);
}

}  // namespace WB_ISA
}  // namespace wb
#endif
