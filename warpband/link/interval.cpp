#include <warpband/link/interval.hpp>

#include <boost/math/distributions/binomial.hpp>
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

}  // namespace wb
