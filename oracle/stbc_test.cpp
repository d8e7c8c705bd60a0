// The searches of the oracle against the exhaustive one, and the determinants of the codes.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <oracle/modem.hpp>
#include <oracle/stbc.hpp>

namespace oracle_stbc_test {

using complex = std::complex<double>;
using oracle::space_time;

oracle::space_time_block code_of(space_time kind) {
  oracle::space_time_block code{kind, {}};
  if (kind == space_time::pair) code.v = oracle::silver_matrix();
  return code;
}
oracle::stbc_use draw(space_time kind, int points, int rx, double n0, std::mt19937_64& random) {
  std::normal_distribution<double> part(0, std::sqrt(0.5));
  const auto normal = [&] {
    const double re = part(random);
    return complex(re, part(random));
  };
  oracle::stbc_use use;
  use.code = code_of(kind);
  use.points = points;
  use.n0 = n0;
  for (int i = 0; i < 2 * rx; ++i) use.h.push_back(normal());
  const auto alphabet = oracle::constellation(points);
  std::vector<complex> x;
  for (int k = 0; k < use.code.symbols(); ++k) x.push_back(alphabet[random() % alphabet.size()]);
  const auto s = oracle::space_time_matrix(use.code, x);
  for (std::size_t slot = 0; slot < 2; ++slot)
    for (std::size_t r = 0; r < static_cast<std::size_t>(rx); ++r)
      use.y.push_back(use.h[2 * r] * s[slot] + use.h[2 * r + 1] * s[2 + slot] + std::sqrt(n0) * normal());
  return use;
}

TEST(oracle_stbc, conditional_search_equals_exhaustive) {
  std::mt19937_64 random(1);
  for (const space_time kind : {space_time::alamouti, space_time::pair, space_time::golden})
    for (const int points : {4, 16})
      for (int i = 0; i < (points == 4 ? 60 : 10); ++i) {
        const auto use = draw(kind, points, 1 + i % 3, i % 2 ? 0.3 : 0.03, random);
        const auto exhaustive = oracle::stbc_exhaustive(use), conditional = oracle::stbc_conditional(use);
        EXPECT_EQ(exhaustive.symbols, conditional.symbols);
        EXPECT_NEAR(exhaustive.metric, conditional.metric, 1e-10);
        EXPECT_NEAR(exhaustive.metric, oracle::stbc_metric(use, exhaustive.symbols), 1e-10);
        ASSERT_EQ(exhaustive.llr.size(), conditional.llr.size());
        for (std::size_t b = 0; b < exhaustive.llr.size(); ++b)
          EXPECT_NEAR(exhaustive.llr[b], conditional.llr[b], 1e-8);
        if (kind == space_time::pair) {
          EXPECT_EQ(oracle::stbc_literal(use), exhaustive.symbols);
        }
      }
}

TEST(oracle_stbc, every_antenna_sends_unit_energy) {
  const auto alphabet = oracle::constellation(4);
  for (const space_time kind : {space_time::alamouti, space_time::pair, space_time::golden}) {
    const auto code = code_of(kind);
    double energy[4] = {};
    const int count = code.symbols() == 2 ? 16 : 256;
    for (int index = 0; index < count; ++index) {
      std::vector<complex> x;
      for (int k = 0; k < code.symbols(); ++k)
        x.push_back(alphabet[static_cast<std::size_t>(index >> 2 * k & 3)]);
      const auto s = oracle::space_time_matrix(code, x);
      for (std::size_t e = 0; e < 4; ++e) energy[e] += std::norm(s[e]) / count;
    }
    for (const double e : energy) EXPECT_NEAR(e, 1, 1e-12);
  }
}

TEST(oracle_stbc, shapes_that_cannot_be_are_refused) {
  std::mt19937_64 random(2);
  auto use = draw(space_time::golden, 4, 2, 0.1, random);
  use.h.pop_back();
  EXPECT_THROW(oracle::stbc_conditional(use), std::invalid_argument);
  EXPECT_THROW(oracle::stbc_exhaustive(use), std::invalid_argument);
}

}  // namespace oracle_stbc_test
