#pragma once
// The base graphs of 5G NR as constants of kernels: which columns a row has, and which rows touch none of
// each other's columns.
#include <iterator>

namespace wb {
inline namespace WB_ISA {

namespace base_graphs {
struct base_entry {
  int row, column, shifts[8];
};
#include <warpband/fec/ldpc/nr/tables.inc>

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

  static constexpr int first(int row) { return edges_before.values[row]; }
  static constexpr int degree(int row) { return first(row + 1) - first(row); }
  /// Whether a barrier follows a row: the next one touches a column of it or of those since the last barrier.
  static constexpr bool barrier_after(int row) { return barriers.values[row] != 0; }

 private:
  struct of_rows {
    int values[rows + 1] = {};
  };
  static constexpr of_rows edges_before = [] {
    of_rows before;
    for (int e = 0; e < edges; e++) before.values[base_graphs::entry(Graph, e).row + 1]++;
    for (int m = 0; m < rows; m++) before.values[m + 1] += before.values[m];
    return before;
  }();
  static constexpr of_rows barriers = [] {
    of_rows columns, after;  // a bit for each shared column
    for (int e = 0; e < edges; e++)
      if (const auto b = base_graphs::entry(Graph, e); b.column < shared_columns)
        columns.values[b.row] |= 1 << b.column;
    int touched = 0;
    for (int m = 0; m + 1 < rows; m++) {
      touched |= columns.values[m];
      if ((touched & columns.values[m + 1]) != 0) after.values[m] = 1, touched = 0;
    }
    after.values[rows - 1] = 1;
    return after;
  }();
};

}  // namespace WB_ISA
}  // namespace wb
