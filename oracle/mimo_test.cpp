// The MIMO detectors of the oracle against each other where theory says that they agree, and closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <oracle/mimo.hpp>
#include <oracle/modem.hpp>

namespace oracle_mimo_test {

using oracle::mimo_use;
using complex = std::complex<double>;
using llrs = std::vector<double>;
constexpr double unlimited = std::numeric_limits<double>::infinity();

complex normal(std::mt19937_64& random) {
  std::normal_distribution<double> part(0, std::sqrt(0.5));
  const double re = part(random);
  return {re, part(random)};
}

struct drawn {
  mimo_use use;
  std::vector<int> sent;  // bits
};
drawn draw(int streams, int rx, int points, double n0, double prior, std::mt19937_64& random) {
  const auto alphabet = oracle::constellation(points);
  drawn d;
  d.use.points = points;
  d.use.n0 = n0;
  d.use.y.resize(static_cast<std::size_t>(rx));
  for (complex& y : d.use.y) y = std::sqrt(n0) * normal(random);
  for (int i = 0; i < rx * streams; ++i) d.use.h.push_back(normal(random));
  for (int k = 0; k < streams; ++k) {
    const std::size_t symbol = random() % alphabet.size();
    for (std::size_t mask = alphabet.size() / 2; mask > 0; mask /= 2) d.sent.push_back((symbol & mask) != 0);
    for (int r = 0; r < rx; ++r)
      d.use.y[static_cast<std::size_t>(r)] +=
          d.use.h[static_cast<std::size_t>(r * streams + k)] * alphabet[symbol];
  }
  if (prior > 0)
    for (int b = 0; b < d.use.bits(); ++b) d.use.prior.push_back(prior * normal(random).real());
  return d;
}

void expect_equal(const llrs& a, const llrs& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 1e-9 * (1 + std::fabs(b[i]))) << "bit " << i;
}

TEST(oracle_mimo, one_stream_is_the_demapper_with_maximum_ratio_combining) {
  std::mt19937_64 random(1);
  for (int points : {4, 16, 64, 256})
    for (int rx : {1, 3})
      for (int i = 0; i < 20; ++i) {
        const mimo_use use = draw(1, rx, points, 0.05, 0, random).use;
        complex matched = 0;
        double energy = 0;
        for (std::size_t r = 0; r < use.y.size(); ++r) {
          matched += std::conj(use.h[r]) * use.y[r];
          energy += std::norm(use.h[r]);
        }
        const llrs expected =
            oracle::demap(matched / energy, use.n0 / energy, 1, points, oracle::demapper::max_log);
        expect_equal(oracle::detect_ml(use, unlimited), expected);
        expect_equal(oracle::detect_kbest(use, points, false, unlimited), expected);
        expect_equal(oracle::detect_kbest(use, points, true, unlimited), expected);
        expect_equal(oracle::detect_trellis(use, oracle::trellis::one_pass, unlimited), expected);
        expect_equal(oracle::detect_trellis(use, oracle::trellis::multi_pass, unlimited), expected);
        expect_equal(oracle::detect_nway(use, 1, unlimited), expected);
        expect_equal(oracle::detect_ssfe(use, 0, unlimited), expected);
        for (auto rule : {oracle::linear::mf, oracle::linear::zf, oracle::linear::mmse})
          expect_equal(oracle::detect_linear(use, rule, unlimited), expected);
      }
}

TEST(oracle_mimo, all_survivors_are_all_candidates) {
  std::mt19937_64 random(2);
  for (double prior : {0.0, 3.0})
    for (int i = 0; i < 10; ++i) {
      for (int points : {4, 16}) {
        const mimo_use use = draw(2, 3, points, 0.2, prior, random).use;
        const llrs expected = oracle::detect_ml(use, unlimited);
        expect_equal(oracle::detect_kbest(use, points * points, false, unlimited), expected);
        expect_equal(oracle::detect_kbest(use, points * points, true, unlimited), expected);
      }
      const mimo_use use = draw(4, 4, 4, 0.2, prior, random).use;
      expect_equal(oracle::detect_kbest(use, 256, false, 5), oracle::detect_ml(use, 5));
      expect_equal(oracle::detect_nway(use, 1, 5, {4, 4, 4, 4}), oracle::detect_ml(use, 5));
    }
}

TEST(oracle_mimo, two_streams_in_as_many_passes_are_exact) {
  std::mt19937_64 random(3);
  for (int points : {4, 16, 64})
    for (double n0 : {1.0, 0.1, 0.01})
      for (int i = 0; i < 10; ++i) {
        const mimo_use use = draw(2, 2 + i % 2, points, n0, 0, random).use;
        const llrs expected = oracle::detect_ml(use, unlimited);
        expect_equal(oracle::detect_trellis(use, oracle::trellis::multi_pass, unlimited), expected);
        expect_equal(oracle::detect_nway(use, 2, unlimited), expected);
        const mimo_use with_prior = draw(2, 2, points, n0, 4, random).use;
        expect_equal(oracle::detect_nway(with_prior, 2, unlimited), oracle::detect_ml(with_prior, unlimited));
      }
}

TEST(oracle_mimo, one_way_is_ssfe_and_the_stream_on_top_is_exact_with_two_streams) {
  std::mt19937_64 random(4);
  for (int points : {4, 16, 64, 256})
    for (int streams : {1, 2, 3, 4, 8})
      for (int i = 0; i < 10; ++i) {
        const mimo_use use = draw(streams, streams + i % 2, points, 0.1, 0, random).use;
        expect_equal(oracle::detect_nway(use, 1, 8), oracle::detect_ssfe(use, 0, 8));
        if (streams != 2 || points == 256) continue;
        const llrs exact = oracle::detect_ml(use, 8), first = oracle::detect_ssfe(use, 0, 8),
                   second = oracle::detect_ssfe(use, 1, 8);
        const std::size_t m = exact.size() / 2;
        for (std::size_t b = 0; b < m; ++b) {
          ASSERT_NEAR(first[b], exact[b], 1e-9);
          ASSERT_NEAR(second[m + b], exact[m + b], 1e-9);
        }
      }
}

TEST(oracle_mimo, lists_are_no_better_than_all_candidates) {
  // Where a list decides like ML its best candidate is the best of all, and each LLR is at least as large.
  std::mt19937_64 random(5);
  int different = 0;
  for (int i = 0; i < 100; ++i) {
    const mimo_use use = draw(3, 3, 16, 0.1, 0, random).use;
    const llrs exact = oracle::detect_ml(use, unlimited);
    for (const llrs& list :
         {oracle::detect_kbest(use, 16, false, unlimited), oracle::detect_kbest(use, 16, true, unlimited),
          oracle::detect_trellis(use, oracle::trellis::one_pass, unlimited),
          oracle::detect_nway(use, 2, unlimited)}) {
      bool same_decisions = true;
      for (std::size_t b = 0; b < exact.size(); ++b)
        same_decisions = same_decisions && (exact[b] < 0) == (list[b] < 0);
      for (std::size_t b = 0; b < exact.size(); ++b) {
        if (same_decisions) {
          ASSERT_GE(std::fabs(list[b]), std::fabs(exact[b]) * (1 - 1e-9));
        }
        different += std::fabs(list[b] - exact[b]) > 1e-6;
      }
    }
  }
  EXPECT_GT(different, 100);
}

TEST(oracle_mimo, without_noise_the_signs_are_the_bits) {
  std::mt19937_64 random(6);
  for (int points : {4, 16, 64})
    for (int streams : {1, 2, 3})
      for (int i = 0; i < 10; ++i) {
        drawn d = draw(streams, streams + i % 3, points, 1e-30, 0, random);
        d.use.n0 = 1e-6;
        std::vector<llrs> results{oracle::detect_kbest(d.use, 8, false, 8),
                                  oracle::detect_kbest(d.use, 8, true, 8),
                                  oracle::detect_trellis(d.use, oracle::trellis::one_pass, 8),
                                  oracle::detect_trellis(d.use, oracle::trellis::multi_pass, unlimited),
                                  oracle::detect_nway(d.use, 1, 8),
                                  oracle::detect_nway(d.use, streams, unlimited),
                                  oracle::detect_ssfe(d.use, streams - 1, 8),
                                  oracle::detect_linear(d.use, oracle::linear::zf, unlimited)};
        if (streams < 3 || points < 64) results.push_back(oracle::detect_ml(d.use, unlimited));
        for (std::size_t which = 0; which < results.size(); ++which)
          for (std::size_t b = 0; b < d.sent.size(); ++b)
            ASSERT_EQ(results[which][b] < 0, d.sent[b] == 1) << "detector " << which << ", bit " << b;
      }
}

TEST(oracle_mimo, a_prior_decides_where_the_channel_says_nothing) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20; ++i) {
    mimo_use use = draw(2, 2, 16, 1e15, 3, random).use;
    for (const llrs& out :
         {oracle::detect_ml(use, unlimited), oracle::detect_kbest(use, 256, false, unlimited),
          oracle::detect_kbest(use, 256, true, unlimited), oracle::detect_nway(use, 2, unlimited)})
      for (std::size_t b = 0; b < out.size(); ++b) ASSERT_NEAR(out[b], use.prior[b], 1e-6);
  }
}

TEST(oracle_mimo, filters_equal_their_closed_forms) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 20; ++i) {
    const mimo_use use = draw(2, 3, 16, 0.3, 0, random).use;
    // The inverse of a 2 x 2 Gram matrix by its determinant.
    double a = 0, d = 0;
    complex b = 0;
    for (std::size_t r = 0; r < 3; ++r) {
      a += std::norm(use.h[2 * r]);
      d += std::norm(use.h[2 * r + 1]);
      b += std::conj(use.h[2 * r]) * use.h[2 * r + 1];
    }
    const auto zf = oracle::filter(use, oracle::linear::zf);
    EXPECT_NEAR(zf.variance[0], use.n0 * d / (a * d - std::norm(b)), 1e-9 * zf.variance[0]);
    EXPECT_NEAR(zf.variance[1], use.n0 * a / (a * d - std::norm(b)), 1e-9 * zf.variance[1]);
    // SINR of MMSE: 1 / (N0 [(H^H H + N0)^-1]_kk) - 1.
    const double e = a + use.n0, f = d + use.n0, inverse = 1 / (e * f - std::norm(b));
    const auto mmse = oracle::filter(use, oracle::linear::mmse);
    EXPECT_NEAR(1 / mmse.variance[0], 1 / (use.n0 * f * inverse) - 1, 1e-9 / mmse.variance[0]);
    EXPECT_NEAR(1 / mmse.variance[1], 1 / (use.n0 * e * inverse) - 1, 1e-9 / mmse.variance[1]);
    const auto mf = oracle::filter(use, oracle::linear::mf);
    EXPECT_NEAR(mf.variance[0], use.n0 / a + std::norm(b) / (a * a), 1e-9 * mf.variance[0]);
    EXPECT_GE(mf.variance[0], mmse.variance[0]);
    EXPECT_GE(zf.variance[0], mmse.variance[0]);
  }
  // The variance is that of the error.
  mimo_use use = draw(4, 5, 4, 0.2, 0, random).use;
  const auto points = oracle::constellation(4);
  for (auto rule : {oracle::linear::mf, oracle::linear::zf, oracle::linear::mmse}) {
    constexpr int runs = 20000;
    std::vector<double> sum(4), expected;
    for (int i = 0; i < runs; ++i) {
      std::vector<complex> s;
      for (int k = 0; k < 4; ++k) s.push_back(points[random() % 4]);
      for (std::size_t r = 0; r < 5; ++r) {
        use.y[r] = std::sqrt(use.n0) * normal(random);
        for (std::size_t k = 0; k < 4; ++k) use.y[r] += use.h[4 * r + k] * s[k];
      }
      const auto out = oracle::filter(use, rule);
      expected = out.variance;
      for (std::size_t k = 0; k < 4; ++k) sum[k] += std::norm(out.value[k] - s[k]);
    }
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(sum[k] / runs / expected[k], 1, 0.05);
  }
}

TEST(oracle_mimo, refuses_bad_shapes) {
  std::mt19937_64 random(9);
  const mimo_use good = draw(2, 2, 16, 1, 1, random).use;
  EXPECT_NO_THROW(oracle::detect_ml(good, 8));
  mimo_use bad = good;
  bad.h.pop_back();
  EXPECT_THROW(oracle::detect_ml(bad, 8), std::invalid_argument);
  bad = good;
  bad.prior.pop_back();
  EXPECT_THROW(oracle::detect_kbest(bad, 4, false, 8), std::invalid_argument);
  bad = good;
  bad.y.pop_back();
  EXPECT_THROW(oracle::detect_nway(bad, 1, 8), std::invalid_argument);
  bad = good;
  bad.n0 = 0;
  EXPECT_THROW(oracle::detect_linear(bad, oracle::linear::mf, 8), std::invalid_argument);
  bad = good;
  bad.points = 2;
  EXPECT_THROW(oracle::detect_trellis(bad, oracle::trellis::one_pass, 8), std::invalid_argument);
  EXPECT_THROW(oracle::detect_ssfe(good, 0, 8), std::invalid_argument);
  EXPECT_THROW(oracle::detect_nway(good, 3, 8), std::invalid_argument);
  EXPECT_THROW(oracle::detect_kbest(good, 0, false, 8), std::invalid_argument);
  EXPECT_THROW(oracle::detect_ml(draw(3, 3, 256, 1, 0, random).use, 8), std::invalid_argument);
}

}  // namespace oracle_mimo_test
