#pragma once
// The base graphs of 5G NR as constants of kernels: which columns a row has, and which rows touch none of
// each other's columns.
#include <array>

#include <warpband/fec/ldpc/ldpc_args.hpp>

namespace wb {
namespace base_graphs {
struct base_entry {
  int row, column, shifts[8];
};
#include <warpband/fec/nr/base_graph_tables.inc>

/// The entries of base graph 1 or 2, in order of rows, then columns.
constexpr base_entry entry(int graph, int edge) {
  return graph == 1 ? base_graph_1[edge] : base_graph_2[edge];
}
constexpr int edges_of(int graph) {
  return static_cast<int>(graph == 1 ? std::size(base_graph_1) : std::size(base_graph_2));
}
}  // namespace base_graphs

template <int Graph>
struct base_graph_rows {
  static constexpr int rows = Graph == 1 ? 46 : 42, edges = base_graphs::edges_of(Graph);
  /// Rows that every code has, and columns that several rows share.
  static constexpr int least_rows = 4, shared_columns = Graph == 1 ? 26 : 14;

  static constexpr std::array<int, rows + 1> firsts = [] {
    std::array<int, rows + 1> f{};
    for (int e = 0; e < edges; e++) f[static_cast<std::size_t>(base_graphs::entry(Graph, e).row + 1)]++;
    for (std::size_t m = 0; m < rows; m++) f[m + 1] += f[m];
    return f;
  }();
  static constexpr int first(int row) { return firsts[static_cast<std::size_t>(row)]; }
  static constexpr int degree(int row) { return first(row + 1) - first(row); }

  /// Whether a barrier follows a row: the next one touches a column of it or of those since the last barrier.
  static constexpr std::array<bool, rows> barriers = [] {
    std::array<unsigned, rows> columns{};
    for (int e = 0; e < edges; e++)
      if (const auto b = base_graphs::entry(Graph, e); b.column < shared_columns)
        columns[static_cast<std::size_t>(b.row)] |= 1u << b.column;
    std::array<bool, rows> after{};
    unsigned touched = columns[0];
    for (std::size_t m = 1; m < rows; m++) {
      after[m - 1] = (touched & columns[m]) != 0;
      touched = after[m - 1] ? columns[m] : touched | columns[m];
    }
    after[rows - 1] = true;
    return after;
  }();
  static constexpr bool barrier_after(int row) { return barriers[static_cast<std::size_t>(row)]; }
};

/// Whether the code has the first rows of a base graph, with all systematic columns.
template <int Graph>
bool has_base_graph(const ldpc_decode_args& a) {
  using graph = base_graph_rows<Graph>;
  if (a.rows < graph::least_rows || a.rows > graph::rows || a.blocks != graph::first(a.rows)) return false;
  for (int m = 0; m <= a.rows; m++)
    if (a.firsts[m] != graph::first(m)) return false;
  for (int e = 0; e < a.blocks; e++)
    if (a.places[e].first != base_graphs::entry(Graph, e).column * a.z) return false;
  return true;
}

}  // namespace wb
