#pragma once
// Which decoder of a CUDA device serves a call: graph_values for 5G NR codes in min-sum, ldpc_decode_op for
// what those do not take: other codes, flooding, kept messages, too little shared memory.
#include <warpband/exec/launch.hpp>
#include <warpband/fec/ldpc/ldpc_graph_values.hpp>
#include <warpband/fec/ldpc/ldpc_op.hpp>

namespace wb {
inline namespace WB_ISA {

struct i8_pair;  // ldpc_int8_pairs.hpp

#if defined(__CUDACC__)
inline constexpr int graph_most_z = 384;
/// With base graph 1 rows whose messages are in registers or shared memory where not all of them fit: of 46
/// rows with Z = 384 they take 221 of 226 KiB.
inline constexpr int graph_rows_shared = 19;

/// How a call is served, if it is. part: some of the messages are in device memory.
struct graph_plan {
  bool served = false, part = false;
  std::size_t shared_bytes = 0, memory_bytes = 0;  // of a block
  /// Where part is in device memory: all blocks that work at once.
  std::size_t blocks(const device_limits& limits, std::size_t items) const {
    const std::size_t calls = (items + 1) / 2, most = static_cast<std::size_t>(limits.multiprocessors) *
                                                      (limits.shared_bytes / shared_bytes);
    return part && most < calls ? most : calls;
  }
};
/// The plan for a code with the rows of a base graph, if it fits. T: f16x or i8_pair, which need the same.
template <class T, int Graph>
graph_plan graph_plan_of(const ldpc_decode_args& a, const device_limits& limits) {
  if (a.flooding || a.messages.data != nullptr || a.z > graph_most_z || !has_base_graph<Graph>(a)) return {};
  using all_shared = graph_values<T, Graph, 0, base_graph_rows<Graph>::rows>;
  if (const std::size_t bytes = all_shared::shared_bytes(a); bytes <= limits.shared_bytes)
    return {true, false, bytes, 0};
  if constexpr (Graph == 1) {
    using part_shared = graph_values<T, Graph, 0, graph_rows_shared>;
    if (const std::size_t bytes = part_shared::shared_bytes(a); bytes <= limits.shared_bytes)
      return {true, true, bytes, part_shared::memory_bytes(a)};
  }
  return {};
}

/// Starts the kernel of a plan. Z: graph_most_z, or 0 for any other. Part: as in the plan. Defined in
/// ldpc_graph_op.hpp, for ldpc_graph_*_kernels.cpp.
template <class T, int Graph, int Z, bool Part>
int launch_graph(const ldpc_decode_args& a, const graph_plan& plan, const place& where);

/// An ldpc_decode_op whose calls with a base graph are served by the kernels for values of type T.
template <class T, class Op>
struct graph_or_any : Op {
  double flops() const {
    const bool served = has_base_graph<1>(this->a) || has_base_graph<2>(this->a);
    return served ? Op::flops() * Op::packed / message_memory<T>::codewords : Op::flops();
  }
};

template <class T, class Op>
std::size_t scratch_bytes(const graph_or_any<T, Op>& op, const device_limits& limits, std::size_t items) {
  graph_plan plan = graph_plan_of<T, 1>(op.a, limits);
  if (!plan.served) plan = graph_plan_of<T, 2>(op.a, limits);
  if (plan.served) return plan.memory_bytes * plan.blocks(limits, items);
  return scratch_bytes(static_cast<const Op&>(op), limits, items);
}
template <class T, int Graph, int Z>
int launch_graph_of(const ldpc_decode_args& a, const graph_plan& plan, const place& where) {
  if constexpr (Graph == 1) {
    if (plan.part) return launch_graph<T, Graph, Z, true>(a, plan, where);
  }
  return launch_graph<T, Graph, Z, false>(a, plan, where);
}
template <class T, int Graph>
int launch_graph_of(const ldpc_decode_args& a, const graph_plan& plan, const place& where) {
  return a.z == graph_most_z ? launch_graph_of<T, Graph, graph_most_z>(a, plan, where)
                             : launch_graph_of<T, Graph, 0>(a, plan, where);
}
template <class T, class Op>
int launch(const graph_or_any<T, Op>& op, const place& where) {
  if (where.first == where.last) return 0;
  if (const graph_plan plan = graph_plan_of<T, 1>(op.a, where.limits); plan.served)
    return launch_graph_of<T, 1>(op.a, plan, where);
  if (const graph_plan plan = graph_plan_of<T, 2>(op.a, where.limits); plan.served)
    return launch_graph_of<T, 2>(op.a, plan, where);
  return launch(static_cast<const Op&>(op), where);
}
#else
template <class T, class Op>
using graph_or_any = Op;
#endif

}  // namespace WB_ISA
}  // namespace wb
