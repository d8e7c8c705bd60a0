// Results of massive MIMO: the way there and back, and refusals; and the intervals of what fails together.
#include <cmath>
#include <random>

#include <tests/codes.hpp>
#include <tests/result.hpp>
#include <tests/scenario.hpp>

namespace wb {
namespace massive_result_test {

using namespace testing;

const char* const text = R"(
code = { type = "conv", rate = "5/6", k = 45 }
modem.modulation = "qpsk"
channel.type = "rayleigh"
massive = { antennas = 10, users = 3, subcarriers = 32, symbols = 2 }
sweep.snr_db = [-4, 0, 30]
stop = { frame_errors = 20, max_frames = 50, below_bler = 0.01 }
[[curve]]
label = "exact"
massive.solver = "cholesky"
[[curve]]
label = "two iterations"
massive.solver = "cg"
massive.iterations = 2
[[curve]]
label = "precoded"
massive.solver = "zf"
massive.direction = "downlink"
channel = { type = "tdl", profile = "epa", spacing_hz = 60000 }
)";

using massive_result = result_folder;

TEST_F(massive_result, contradictions_are_refused) {
  const auto exec = open_scalar();
  run_result r;
  r.source = parse_scenario(text, "s.toml");
  r.curves.push_back(run_curve(r.source.curves[0], *exec));
  const std::string good = result_json(r);
  const auto refused = [&](const std::string& key, const std::string& value) {
    std::string bad = good;
    const std::size_t begin =
        bad.find("\"" + key + "\": ", bad.find("\"codewords\": {") + 13) + key.size() + 4;
    bad.replace(begin, bad.find_first_of(",\n", begin) - begin, value);
    write_file(path("bad.json"), bad);
    try {
      load_result(path("bad.json"));
    } catch (const file_error& error) {
      return std::string(error.what()).find("codewords." + key) != std::string::npos;
    }
    return false;
  };
  write_file(path("good.json"), good);
  EXPECT_NO_THROW(load_result(path("good.json")));
  EXPECT_TRUE(refused("errors", "100000"));
  EXPECT_TRUE(refused("errors", "0"));
  EXPECT_TRUE(refused("errors_squared", "1"));
  EXPECT_TRUE(refused("bit_errors_squared", "1"));
}

TEST(clustered, intervals_cover_what_fails_together) {
  // Each cluster draws its own probability from a beta distribution, and most of its trials follow it.
  std::mt19937_64 random(1);
  const std::uint64_t clusters = 60, size = 16;
  const double p = 0.1, a = 0.4, b = a * (1 - p) / p;
  int clustered = 0, independent = 0;
  const int runs = 2000;
  for (int r = 0; r < runs; r++) {
    std::gamma_distribution<double> x(a), y(b);
    std::uint64_t errors = 0, squares = 0;
    for (std::uint64_t c = 0; c < clusters; c++) {
      const double u = x(random), v = y(random);
      const auto e = std::binomial_distribution<std::uint64_t>(size, u / (u + v))(random);
      errors += e, squares += e * e;
    }
    const interval i = clustered_interval(errors, squares, clusters, size),
                   j = clopper_pearson(errors, clusters * size);
    clustered += i.low <= p && p <= i.high;
    independent += j.low <= p && p <= j.high;
  }
  EXPECT_GT(clustered, 0.93 * runs);    // within what the estimated variance of 60 clusters allows
  EXPECT_LT(independent, 0.85 * runs);  // which is why
}

TEST(clustered, limits_are_exact_ones) {
  // Errors of their own: nearly the exact interval of all trials, never narrower.
  const interval trials = clopper_pearson(100, 10000), i = clustered_interval(100, 100, 10000, 1);
  EXPECT_NEAR(i.low, trials.low, 1e-6);
  EXPECT_NEAR(i.high, trials.high, 1e-6);
  // Whole clusters: that of the clusters.
  const interval whole = clustered_interval(10 * 20, 10 * 20 * 20, 200, 20),
                 clusters = clopper_pearson(10, 200);
  EXPECT_NEAR(whole.low, clusters.low, 1e-3);
  EXPECT_NEAR(whole.high, clusters.high, 2e-3);
  EXPECT_EQ(clustered_interval(0, 0, 50, 8).low, 0);
  EXPECT_EQ(clustered_interval(0, 0, 50, 8).high, clopper_pearson(0, 50).high);
  EXPECT_EQ(clustered_interval(400, 3200, 50, 8).high, 1);
  EXPECT_EQ(clustered_interval(3, 9, 1, 8).low, 0);
  EXPECT_EQ(clustered_interval(3, 9, 1, 8).high, 1);
  EXPECT_EQ(blamed([] { clustered_interval(17, 17, 2, 8); }), "errors");
  EXPECT_EQ(blamed([] { clustered_interval(7, 6, 2, 8); }), "squares");
  EXPECT_EQ(blamed([] { clustered_interval(0, 0, 2, 0); }), "size");
}

}  // namespace massive_result_test
}  // namespace wb
