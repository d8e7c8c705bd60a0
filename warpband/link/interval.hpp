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

/// The interval of the probability behind `errors` in `clusters` independent clusters of `size` trials each.
/// Trials of a cluster depend on each other. `squares` is the sum over clusters of their errors' squares.
/// After Korn and Graubard: the exact interval of as many independent trials as would have the variance that
/// clusters show, at most all of them. This number is reduced, because that variance is an estimate with
/// clusters - 1 degrees of freedom. Where no trial or every one failed, clusters count as single trials;
/// fewer than two clusters give [0, 1] but for that. Throws argument_error where the numbers contradict each
/// other.
interval clustered_interval(std::uint64_t errors, std::uint64_t squares, std::uint64_t clusters,
                            std::uint64_t size, double confidence = 0.95);

}  // namespace wb
