#pragma once

namespace wb {

enum class map_algorithm {
  max_log_map,    // sums of probabilities become their largest term
  log_map,        // exact, computed on probabilities (no logarithm in the loops)
  log_map_table,  // on LLRs, with ln(1 + e^-d) from a table of 8 values
};

}  // namespace wb
