#pragma once
// Confidence intervals of error rates.
#include <cstdint>

namespace wb {

/// Ends of an interval of probabilities.
struct interval {
  double low = 0, high = 1;
};

/// The exact (Clopper-Pearson) interval of the probability behind `errors` in `trials` independent trials: it
/// covers the true value with at least `confidence`. No errors give low = 0, all errors high = 1, no trials
/// [0, 1]. Throws argument_error if errors > trials or confidence is not in (0, 1).
interval clopper_pearson(std::uint64_t errors, std::uint64_t trials, double confidence = 0.95);

}  // namespace wb
