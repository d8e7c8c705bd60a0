#include <warpband/fec/ldpc/ldpc_nr.hpp>

#include <algorithm>
#include <span>
#include <string>

#include <warpband/core/check.hpp>

namespace wb {

namespace {

struct base_entry {
  int row, column, shifts[8];
};
#include <warpband/fec/ldpc/nr/tables.inc>

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

}  // namespace

const std::vector<int>& nr_lifting_sizes() {
  static const std::vector<int> lifting_sizes = [] {
    std::vector<int> sizes;
    for (const int a : {2, 3, 5, 7, 9, 11, 13, 15})
      for (int z = a; z <= nr_most_lifting; z *= 2) sizes.push_back(z);
    std::sort(sizes.begin(), sizes.end());
    return sizes;
  }();
  return lifting_sizes;
}

void check_nr_lifting_size(int lifting_size) { (void)set_of(lifting_size); }

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

}  // namespace wb
