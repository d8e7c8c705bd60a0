#include <warpband/link/interval.hpp>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <string>

#include <warpband/core/error.hpp>

namespace wb {

interval clopper_pearson(std::uint64_t errors, std::uint64_t trials, double confidence) {
  if (errors > trials)
    throw argument_error("errors", std::to_string(errors), "at most trials = " + std::to_string(trials));
  if (!(confidence > 0 && confidence < 1))
    throw argument_error("confidence", std::to_string(confidence), "a probability between 0 and 1");
  using binomial = boost::math::binomial_distribution<double>;
  const double n = static_cast<double>(trials), k = static_cast<double>(errors), tail = (1 - confidence) / 2;
  interval i;
  if (errors > 0) i.low = binomial::find_lower_bound_on_p(n, k, tail);
  if (errors < trials) i.high = binomial::find_upper_bound_on_p(n, k, tail);
  return i;
}

interval clustered_interval(std::uint64_t errors, std::uint64_t squares, std::uint64_t clusters,
                            std::uint64_t size, double confidence) {
  if (size == 0) throw argument_error("size", "0", "at least 1");
  if (clusters > UINT64_MAX / size) throw argument_error("clusters", std::to_string(clusters), "fewer");
  const std::uint64_t trials = clusters * size;
  if (errors > trials)
    throw argument_error("errors", std::to_string(errors), "at most trials = " + std::to_string(trials));
  if (squares < errors) throw argument_error("squares", std::to_string(squares), "at least errors");
  if (errors == 0) return {0, clopper_pearson(0, clusters, confidence).high};
  if (errors == trials) return {clopper_pearson(clusters, clusters, confidence).low, 1};
  if (clusters < 2) return {0, 1};
  const double n = static_cast<double>(trials), k = static_cast<double>(clusters),
               p = static_cast<double>(errors) / n;
  const double mean = static_cast<double>(errors) / k;
  const double spread = std::max(0.0, static_cast<double>(squares) - k * mean * mean) / (k - 1);  // of errors
  const double variance = spread / (k * static_cast<double>(size) * static_cast<double>(size));   // of p
  double trials_worth = variance > 0 ? std::min(n, p * (1 - p) / variance) : n;
  const auto quantile = [&](double freedom) {
    return boost::math::quantile(boost::math::students_t_distribution<double>(freedom), (1 + confidence) / 2);
  };
  const double ratio = quantile(n - 1) / quantile(k - 1);
  trials_worth *= ratio * ratio;
  using binomial = boost::math::binomial_distribution<double>;
  const double tail = (1 - confidence) / 2;
  return {binomial::find_lower_bound_on_p(trials_worth, p * trials_worth, tail),
          binomial::find_upper_bound_on_p(trials_worth, p * trials_worth, tail)};
}

}  // namespace wb
