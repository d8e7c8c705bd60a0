#pragma once
// Kernels of a CUDA device that serve a call. A known code has generator polynomials that are compile-time
// constants of a kernel. Its kernel bcjr_known decodes codewords of usual LLRs and stores the bcjr_kind of
// all codewords; bcjr_op then decodes the others. Codewords of any other code are decoded by bcjr_op.
#if defined(__CUDACC__)
#include <warpband/exec/launch.hpp>
#include <warpband/fec/bcjr/bcjr_known_team.hpp>

namespace wb {
inline namespace WB_ISA {

/// Grid of bcjr_known: blocks of one warp. At rate 1/2 the shared memory of a multiprocessor holds `resident`
/// of them. Their device memory is at most `most_bytes`, but each multiprocessor gets at least one block.
struct bcjr_known_plan {
  static constexpr int resident = 10;
  static constexpr std::size_t most_bytes = std::size_t{1} << 30;
  std::size_t stride, blocks;  // bytes of device memory of a block

  bcjr_known_plan(const bcjr_args& a, const device_limits& limits, std::size_t items)
      : stride(bcjr_known_memory::device(a.code.steps) * sizeof(float)),
        blocks(static_cast<std::size_t>(limits.multiprocessors) * resident) {
    const std::size_t per_call = bcjr_known_memory::codewords, calls = (items + per_call - 1) / per_call,
                      fit = most_bytes / stride, least = static_cast<std::size_t>(limits.multiprocessors);
    if (blocks > fit) blocks = fit > least ? fit : least;
    if (blocks > calls) blocks = calls;
  }
};

/// Decodes codewords of usual LLRs. Defined in bcjr_known_op.hpp, for bcjr_known_kernels.cpp.
template <class M>
int launch_bcjr_known(const bcjr_args& a, const place& where);

/// A bcjr_op that runs after bcjr_known if the code is known.
template <class M, class Op>
struct bcjr_known_or_any : Op {};

template <class M, class Op>
std::size_t scratch_bytes(const bcjr_known_or_any<M, Op>& op, const device_limits& limits,
                          std::size_t items) {
  const std::size_t any = scratch_bytes(static_cast<const Op&>(op), limits, items);
  if (op.a.known == conv_known::none) return any;
  const bcjr_known_plan plan(op.a, limits, items);
  const std::size_t known = plan.stride * plan.blocks;
  return (known > any ? known : any) + items;  // and the items' kinds
}
template <class M, class Op>
int launch(const bcjr_known_or_any<M, Op>& op, const place& where) {
  if (where.first == where.last) return 0;
  Op any = op;
  if (op.a.known != conv_known::none) {
    const std::size_t items = where.last - where.first;
    any.a.kinds = static_cast<std::uint8_t*>(where.scratch) + scratch_bytes(op, where.limits, items) - items;
    const int e = launch_bcjr_known<M>(any.a, where);
    if (e != 0 || !requires { typename M::of_large_llrs; }) return e;
  }
  return launch(any, where);
}

}  // namespace WB_ISA
}  // namespace wb
#endif
