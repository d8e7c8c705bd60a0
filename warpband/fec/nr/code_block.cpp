#include <warpband/fec/nr/code_block.hpp>

#include <string>

#include <warpband/core/check.hpp>

namespace wb {

namespace {

/// Columns that code blocks fill to choose Z, K_b of §5.2.2.
int filled_columns(int base_graph, int bits) {
  if (base_graph == 1) return 22;
  return bits > 640 ? 10 : bits > 560 ? 9 : bits > 192 ? 8 : 6;
}

}  // namespace

nr_code_block nr_code_block_of(int base_graph, int k, int lifting_size) {
  check_range("base_graph", base_graph, 1, 2);
  check_nr_lifting_size(lifting_size);
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
