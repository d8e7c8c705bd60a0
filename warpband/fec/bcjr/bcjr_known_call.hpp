#pragma once
// Which kernels of a CUDA device serve a call. Of a known code bcjr_known decodes the codewords of usual LLRs
// and notes the kinds of all; bcjr_op then decodes the others. Of any other code bcjr_op decodes all.
#if defined(__CUDACC__)
#include <warpband/exec/launch.hpp>
#include <warpband/fec/bcjr/bcjr_known_team.hpp>

namespace wb {
inline namespace WB_ISA {

/// Blocks of bcjr_known, each of a warp. As many work at once on a multiprocessor as its shared memory holds
/// at rate 1/2. The device memory of all of them is at most `most_bytes`, unless that is less than a block
/// for each multiprocessor.
struct bcjr_known_plan {
  static constexpr int resident = 10;
  static constexpr std::size_t most_bytes = std::size_t{1} << 30;
  std::size_t stride, blocks;  // bytes of device memory of a block

  bcjr_known_plan(const bcjr_args& a, const device_limits& limits, std::size_t items)
      : stride(bcjr_known_memory::device(a.code.steps) * sizeof(float)),
        blocks(static_cast<std::size_t>(limits.multiprocessors) * resident) {
    const std::size_t each = bcjr_known_memory::codewords, calls = (items + each - 1) / each,
                      fit = most_bytes / stride, least = static_cast<std::size_t>(limits.multiprocessors);
    if (blocks > fit) blocks = fit > least ? fit : least;
    if (blocks > calls) blocks = calls;
  }
};

/// Decodes codewords of usual LLRs. Defined in bcjr_known_op.hpp, for bcjr_known_kernels.cpp.
template <class M>
int launch_bcjr_known(const bcjr_args& a, const place& where);

/// A bcjr_op that bcjr_known precedes in calls with a known code.
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
