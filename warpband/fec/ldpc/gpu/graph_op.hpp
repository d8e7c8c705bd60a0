#pragma once
// The kernel of 5G NR codes on a CUDA device.
#include <warpband/exec/shared_launch.hpp>
#include <warpband/fec/ldpc/gpu/graph_call.hpp>

namespace wb {
inline namespace WB_ISA {

template <class T, int Graph, int Z, int InShared>
struct ldpc_graph_op {
  using values_type = graph_values<T, Graph, Z, InShared>;
  static constexpr int at_once = values_type::codewords;
  ldpc_decode_args a;
  bool fetches;  // LLRs of the next codewords while these are decoded

  /// Decodes codewords `first` and `first` + 1, as far as they are below `last`. fetched: their LLRs were
  /// fetched. The block's next ones begin at `first` + `step`.
  template <class G>
  WB_HD void operator()(std::size_t first, std::size_t step, std::size_t last, bool fetched, G g,
                        void* shared, void* memory) const {
    const auto items = [&](std::size_t b) {
      return static_cast<int>(last - b < at_once ? last - b : at_once);
    };
    values_type values(a, shared, memory, fetches);
    const unsigned erased = fetched ? values.template load_channel<true>(first, items(first), g)
                                    : values.template load_channel<false>(first, items(first), g);
    if (fetches && first + step < last) values.fetch_channel(first + step, items(first + step), g);
    values.clear_messages(g);
    decode_until_done(a, values, first, items(first), erased, g, iteration<G>{values, g});
  }

 private:
  /// In place of a lambda, which nvcc does not always inline: messages would be in local memory.
  template <class G>
  struct iteration {
    values_type& values;
    G g;
    WB_HD void operator()(int it, unsigned) const {
      values.iterate(rule_in(values.a, it, static_cast<const min_sum<T>*>(nullptr)), g);
    }
  };
};

/// 384 threads leave 168 registers for each, with one block on a multiprocessor; with a smaller Z it holds
/// more blocks.
template <class Op>
__global__ void __launch_bounds__(graph_most_z, 1)
    decode_graph(const __grid_constant__ Op op, std::size_t first, std::size_t last, char* memory,
                 std::size_t stride) {
  extern __shared__ __align__(16) float shared[];
  __shared__ std::int32_t word;
  const block<> g(&word);
  constexpr std::size_t n = Op::at_once;
  const std::size_t begin = first + n * blockIdx.x, step = n * gridDim.x;
  for (std::size_t b = begin; b < last; b += step) {
    op(b, step, last, op.fetches && b != begin, g, shared, memory + blockIdx.x * stride);
    g.sync();
  }
}
template <class T, int Graph, int Z, bool Part>
int launch_graph(const ldpc_decode_args& a, const graph_plan& plan, const place& where) {
  using graph_op = ldpc_graph_op<T, Graph, Z, Part ? graph_rows_shared : base_graph_rows<Graph>::rows>;
  const std::size_t blocks = plan.blocks(where.limits, where.last - where.first);
  return launch_with_shared(
      decode_graph<graph_op>, (a.z + 31) / 32 * 32, plan.shared_bytes, where,
      [&](auto) -> std::size_t { return blocks < 0x7fffffff ? blocks : 0x7fffffff; },
      graph_op{a, plan.fetches}, where.first, where.last, static_cast<char*>(where.scratch),
      plan.memory_bytes);
}

}  // namespace WB_ISA
}  // namespace wb
