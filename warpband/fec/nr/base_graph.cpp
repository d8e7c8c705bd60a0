#include <warpband/fec/nr/base_graph.hpp>

#include <algorithm>
#include <span>
#include <string>

#include <warpband/core/check.hpp>

namespace wb {

namespace {

struct base_entry {
  int row, column, shifts[8];
};
#include <warpband/fec/nr/base_graph_tables.inc>

std::span<const base_entry> entries_of(int base_graph) {
  if (base_graph == 1) return base_graph_1;
  return base_graph_2;
}

/// Table 5.3.2-1: Z = a 2^j, the set is that of a.
int set_of(int lifting_size) {
  constexpr int odd[] = {2, 3, 5, 7, 9, 11, 13, 15};
  if (lifting_size >= 2 && lifting_size <= nr_most_lifting)
    for (int set = 0; set < 8; set++)
      for (int z = odd[set]; z <= lifting_size; z *= 2)
        if (z == lifting_size) return set;
  throw argument_error("lifting_size", std::to_string(lifting_size),
                       "a 2^j with a = 2, 3, 5, 7, 9, 11, 13 or 15, up to 384");
}

/// Columns that code blocks fill to choose Z, K_b of §5.2.2.
int filled_columns(int base_graph, int bits) {
  if (base_graph == 1) return 22;
  return bits > 640 ? 10 : bits > 560 ? 9 : bits > 192 ? 8 : 6;
}

}  // namespace

const std::vector<int>& nr_lifting_sizes() {
  static const std::vector<int> all = [] {
    std::vector<int> sizes;
    for (const int a : {2, 3, 5, 7, 9, 11, 13, 15})
      for (int z = a; z <= nr_most_lifting; z *= 2) sizes.push_back(z);
    std::sort(sizes.begin(), sizes.end());
    return sizes;
  }();
  return all;
}

ldpc_code nr_ldpc(int base_graph, int lifting_size, int rows, int systematic) {
  check_range("base_graph", base_graph, 1, 2);
  const auto set = static_cast<std::size_t>(set_of(lifting_size));
  const int all_rows = nr_rows(base_graph), all_columns = nr_systematic(base_graph);
  if (rows != 0) check_range("rows", rows, nr_core_rows, all_rows);
  if (systematic != 0) check_range("systematic", systematic, 3, all_columns);
  if (rows == 0) rows = all_rows;
  if (systematic == 0) systematic = all_columns;
  qc_matrix m;
  m.rows = rows;
  m.columns = systematic + rows;
  m.shifts.assign(static_cast<std::size_t>(m.rows * m.columns), -1);
  for (const base_entry& e : entries_of(base_graph)) {
    const bool parity = e.column >= all_columns;
    const int column = parity ? e.column - all_columns + systematic : e.column;
    if (e.row >= rows || (!parity && e.column >= systematic)) continue;
    m.shifts[static_cast<std::size_t>(e.row * m.columns + column)] = e.shifts[set] % lifting_size;
  }
  return {std::move(m), lifting_size};
}

int nr_base_graph_of(const ldpc_code& code) {
  for (const int graph : {1, 2}) {
    int found = 0, wanted = 0;
    if (code.rows() < nr_core_rows || code.columns() != nr_systematic(graph) + code.rows()) continue;
    for (const base_entry& e : entries_of(graph))
      if (e.row < code.rows()) wanted++, found += code.shift(e.row, e.column) >= 0;
    if (found == wanted && found == code.blocks()) return graph;
  }
  return 0;
}

nr_code_block nr_code_block_of(int base_graph, int k, int lifting_size) {
  check_range("base_graph", base_graph, 1, 2);
  (void)set_of(lifting_size);
  check_range("k", k, 2 * lifting_size + 1, nr_systematic(base_graph) * lifting_size);
  return {base_graph, k, lifting_size, (k + lifting_size - 1) / lifting_size};
}

nr_code_block make_nr_code_block(int base_graph, int k, int columns) {
  check_range("base_graph", base_graph, 1, 2);
  check_range("k", k, 5, nr_systematic(base_graph) * nr_most_lifting);
  if (columns != 0) check_range("columns", columns, 6, nr_systematic(base_graph));
  if (columns == 0) columns = filled_columns(base_graph, k);
  for (const int z : nr_lifting_sizes())
    if (columns * z >= k) return nr_code_block_of(base_graph, k, z);
  throw argument_error("columns", std::to_string(columns),
                       "at least " + std::to_string((k + nr_most_lifting - 1) / nr_most_lifting) + " for " +
                           std::to_string(k) + " bits");
}

}  // namespace wb
