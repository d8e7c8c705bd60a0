#pragma once
// Which decoder of a CUDA device serves a call: graph_values for 5G NR codes in min-sum, ldpc_decode_op for
// what those do not take: other codes, flooding, kept messages, too little shared memory.
#include <warpband/exec/launch.hpp>
#include <warpband/fec/ldpc/ldpc_op.hpp>
#if defined(__CUDACC__)
#include <warpband/fec/ldpc/gpu/graph_values.hpp>
#include <warpband/fec/ldpc/gpu/int8_pairs.hpp>
#endif

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
inline constexpr int graph_most_z = 384;
/// With base graph 1 rows whose messages are in registers or shared memory where not all of them fit: of 46
/// rows with Z = 384 they take 221 of 226 KiB.
inline constexpr int graph_rows_shared = 19;

/// How a call is served, if it is. part: some of the messages are in device memory. fetches: blocks copy the
/// LLRs of their next codewords while they decode, so that a multiprocessor with one block does not wait for
/// them.
struct graph_plan {
  bool served = false, part = false, fetches = false;
  std::size_t shared_bytes = 0, memory_bytes = 0;  // of a block
  /// Of a launch: those that run at once where each has a part of device memory or fetches its next
  /// codewords; else one for each two codewords.
  std::size_t blocks(const device_limits& limits, std::size_t items) const {
    const std::size_t calls = (items + 1) / 2,
                      per_multiprocessor = fetches ? 1 : limits.shared_bytes / shared_bytes,
                      concurrent = static_cast<std::size_t>(limits.multiprocessors) * per_multiprocessor;
    return (part || fetches) && concurrent < calls ? concurrent : calls;
  }
};
/// The plan for a call with the rows of a base graph, if it fits. T: f16x or i8_pair, which need the same.
template <class T>
graph_plan graph_plan_of(const ldpc_decode_args& a, const device_limits& limits) {
  if (a.base_graph == 0 || a.flooding || a.messages.data != nullptr || a.z > graph_most_z) return {};
  using all_1 = graph_values<T, 1, 0, base_graph_rows<1>::rows>;
  using all_2 = graph_values<T, 2, 0, base_graph_rows<2>::rows>;
  using part_1 = graph_values<T, 1, 0, graph_rows_shared>;
  const std::size_t whole = a.base_graph == 1 ? all_1::shared_bytes(a) : all_2::shared_bytes(a);
  // A block of more than half of graph_most_z threads has a multiprocessor alone, because of its registers.
  // Smaller blocks hide each other's loads.
  const std::size_t fetched = all_1::fetched_bytes(a);
  if (fetched > 0 && 2 * a.z > graph_most_z && whole + fetched <= limits.shared_bytes)
    return {true, false, true, whole + fetched, 0};
  if (whole <= limits.shared_bytes) return {true, false, false, whole, 0};
  if (a.base_graph == 2 || part_1::shared_bytes(a) > limits.shared_bytes) return {};
  return {true, true, false, part_1::shared_bytes(a), part_1::memory_bytes(a)};
}

/// Starts the kernel of a plan. Z: graph_most_z, or 0 for any other. Part: as in the plan. Defined in
/// graph_op.hpp, for graph_kernels.cpp.
template <class T, int Graph, int Z, bool Part>
int launch_graph(const ldpc_decode_args& a, const graph_plan& plan, const place& where);

/// An ldpc_decode_op whose calls with a base graph are served by the kernels for values of type T.
template <class T, class Op>
struct graph_or_any : Op {
  double flops() const {
    return this->a.base_graph != 0 ? Op::flops() * Op::packed / message_memory<T>::codewords : Op::flops();
  }
};

template <class T, class Op>
std::size_t scratch_bytes(const graph_or_any<T, Op>& op, const device_limits& limits, std::size_t items) {
  const graph_plan plan = graph_plan_of<T>(op.a, limits);
  if (plan.served) return plan.memory_bytes * plan.blocks(limits, items);
  return scratch_bytes(static_cast<const Op&>(op), limits, items);
}
template <class T, class Op>
int launch(const graph_or_any<T, Op>& op, const place& where) {
  if (where.first == where.last) return 0;
  const graph_plan plan = graph_plan_of<T>(op.a, where.limits);
  if (!plan.served) return launch(static_cast<const Op&>(op), where);
  constexpr int most_z = graph_most_z;
  const bool is_most_z = op.a.z == most_z;
  const auto start =
      op.a.base_graph == 2 ? (is_most_z ? launch_graph<T, 2, most_z, false> : launch_graph<T, 2, 0, false>)
      : plan.part          ? (is_most_z ? launch_graph<T, 1, most_z, true> : launch_graph<T, 1, 0, true>)
                           : (is_most_z ? launch_graph<T, 1, most_z, false> : launch_graph<T, 1, 0, false>);
  return start(op.a, plan, where);
}
#else
struct i8_pair;
template <class T, class Op>
using graph_or_any = Op;
#endif

}  // namespace WB_ISA
}  // namespace wb
