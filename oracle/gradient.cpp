#include <oracle/gradient.hpp>

#include <cmath>

namespace oracle {

std::vector<double> gradient(const std::function<double(const std::vector<double>&)>& f,
                             std::vector<double> x, double step) {
  std::vector<double> slopes;
  for (double& coordinate : x) {
    const double middle = coordinate, h = step * (1 + std::fabs(middle));
    const auto difference = [&](double by) {
      coordinate = middle + by;
      const double above = f(x);
      coordinate = middle - by;
      const double below = f(x);
      coordinate = middle;
      return above - below;
    };
    slopes.push_back((8 * difference(h) - difference(2 * h)) / (12 * h));
  }
  return slopes;
}

}  // namespace oracle
