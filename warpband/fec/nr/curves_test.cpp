// Block error rates of 5G NR's LDPC codes in white Gaussian noise against the stored curves of another
// program: flooding, 20 iterations, exact sum-product or min-sum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include <tests/nr.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/nr/rate_matching.hpp>

namespace wb {
namespace nr_curves_test {

using namespace testing;

struct curve_case {
  const char* name;
  int base_graph, k, n;
  ldpc_algorithm algorithm;
  double esn0_db;  // of a point of the curve
  int frames;
};
void PrintTo(const curve_case& c, std::ostream* out) { *out << c.name; }

struct curve_point {
  double esn0_db, error_rate;
};
std::vector<curve_point> stored_curve(const std::string& name) {
  std::string path = WARPBAND_REFDATA;
  path.append("/error_rates/nr_ldpc/").append(name).append(".csv");
  std::ifstream file(path);
  std::vector<curve_point> points;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::stringstream in(line);
    std::vector<double> values;
    for (std::string field; std::getline(in, field, ',');) values.push_back(std::stod(field));
    if (values.size() > 5) points.push_back({values[1], values[5]});
  }
  return points;
}
/// The curve's error rate at an Es/N0 between its points: a line in the logarithm, beyond the ends extended.
double at(const std::vector<curve_point>& curve, double esn0_db) {
  std::size_t i = 0;
  while (i + 2 < curve.size() && curve[i + 1].esn0_db < esn0_db) i++;
  const curve_point &a = curve[i], &b = curve[i + 1];
  const double share = (esn0_db - a.esn0_db) / (b.esn0_db - a.esn0_db);
  return std::exp((1 - share) * std::log(a.error_rate) + share * std::log(b.error_rate));
}

/// Frames in error of c.frames, QPSK.
int errors_of(const curve_case& c) {
  const auto exec = open_executor("cpu");
  const nr_rate_matcher matcher({.base_graph = c.base_graph, .k = c.k, .sent_bits = c.n});
  const nr_code_block& block = matcher.block();
  const int rows = matcher.rows(0);
  const ldpc_code code = block.code(rows);
  const ldpc_encoder encoder(code);
  const ldpc_decoder decoder(
      code, {.algorithm = c.algorithm, .iterations = 20, .schedule = ldpc_schedule::flooding});
  const std::size_t batch = 64, k = static_cast<std::size_t>(c.k), n = static_cast<std::size_t>(c.n),
                    padded = static_cast<std::size_t>(block.padded()),
                    codeword = static_cast<std::size_t>(block.codeword());
  auto bits = exec->make<std::uint8_t>(batch, padded), coded = exec->make<std::uint8_t>(batch, codeword),
       sent = exec->make<std::uint8_t>(batch, n), decided = exec->make<std::uint8_t>(batch, padded);
  auto llr = exec->make<float>(batch, n), soft = exec->make<float>(batch, codeword);
  view<std::uint8_t> coded_part = coded;
  coded_part.elements = static_cast<std::size_t>(code.n());
  view<const float> soft_part = view<float>(soft);
  soft_part.elements = coded_part.elements;
  std::mt19937_64 random(static_cast<unsigned>(c.n));
  const double n0 = std::pow(10, -c.esn0_db / 10);
  std::normal_distribution<float> noise(0.f, static_cast<float>(std::sqrt(n0 / 2)));
  int wrong = 0;
  for (int done = 0; done < c.frames; done += static_cast<int>(batch)) {
    for (std::size_t b = 0; b < batch; b++)
      for (std::size_t i = 0; i < padded; i++)
        bits.data()[b * padded + i] = static_cast<std::uint8_t>(i < k ? random() & 1 : 0);
    encoder.run(*exec, bits, coded_part);
    matcher.match(*exec, coded, 0, sent);
    for (std::size_t i = 0; i < n * batch; i++) {
      const float y = (sent.data()[i] == 0 ? 1.f : -1.f) * std::sqrt(0.5f) + noise(random);
      const float exact = static_cast<float>(std::sqrt(8.) / n0) * y;
      llr.data()[i] = std::clamp(exact, -20.f, 20.f);
    }
    matcher.combine(*exec, llr, 0, true, soft);
    decoder.run(*exec, soft_part, {.bits = decided});
    for (std::size_t b = 0; b < batch; b++)
      wrong += std::equal(bits.data() + b * padded, bits.data() + b * padded + k, decided.data() + b * padded)
                   ? 0
                   : 1;
  }
  return wrong;
}

class nr_ldpc_curves : public ::testing::TestWithParam<curve_case> {};

TEST_P(nr_ldpc_curves, lie_within_a_twentieth_of_a_db) {
  const curve_case& c = GetParam();
  const std::vector<curve_point> curve = stored_curve(c.name);
  if (curve.empty()) GTEST_SKIP() << "no refdata in '" << WARPBAND_REFDATA << "/error_rates/nr_ldpc'";
  const int wrong = errors_of(c);
  const double highest = c.frames * at(curve, c.esn0_db - 0.05),
               lowest = c.frames * at(curve, c.esn0_db + 0.05);
  RecordProperty("error_rate", std::to_string(static_cast<double>(wrong) / c.frames));
  RecordProperty("stored", std::to_string(at(curve, c.esn0_db)));
  // Three standard deviations of counting beyond what 0.05 dB are.
  EXPECT_LE(wrong, highest + 3 * std::sqrt(highest)) << "at 0.05 dB less " << highest;
  EXPECT_GE(wrong, lowest - 3 * std::sqrt(lowest)) << "at 0.05 dB more " << lowest;
}
INSTANTIATE_TEST_SUITE_P(
    , nr_ldpc_curves,
    ::testing::Values(
        curve_case{"nr_ldpc_k120_n240_ms_i20", 2, 120, 240, ldpc_algorithm::min_sum, 2.5, 8192},
        curve_case{"nr_ldpc_k1024_n2048_ms_i20", 2, 1024, 2048, ldpc_algorithm::min_sum, 2, 1024},
        curve_case{"nr_ldpc_k1024_n2048_spa_i20", 2, 1024, 2048, ldpc_algorithm::sum_product, 1.25, 1024},
        curve_case{"nr_ldpc_k640_n1920_spa_i20", 2, 640, 1920, ldpc_algorithm::sum_product, -1.0109, 1024},
        curve_case{"nr_ldpc_k4224_n8448_ms_i20", 1, 4224, 8448, ldpc_algorithm::min_sum, 2, 384},
        curve_case{"nr_ldpc_k8448_n12672_spa_i20", 1, 8448, 12672, ldpc_algorithm::sum_product, 3.1244, 256}),
    [](const auto& c) { return std::string(c.param.name); });

}  // namespace nr_curves_test
}  // namespace wb
