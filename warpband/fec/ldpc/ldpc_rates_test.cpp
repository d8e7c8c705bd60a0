// Frame error rates of the LDPC decoder over AWGN against curves of other programs.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include <tests/ldpc.hpp>

namespace wb {
namespace ldpc_rates_test {

using testing::bytes;

/// One point of a curve of the reference data.
struct point {
  double ebn0_db = 0, ber = 0, fer = 0, frames = 0;
};
/// Points of a CSV file by the names of its header; empty where it is missing.
std::vector<point> read_curve(const std::string& name) {
  std::ifstream file(std::string(WARPBAND_REFDATA) + "/error_rates/" + name + ".csv");
  std::vector<point> curve;
  std::vector<std::string> columns;
  for (std::string line, cell; std::getline(file, line);) {
    std::istringstream cells(line);
    if (columns.empty()) {
      while (std::getline(cells, cell, ',')) columns.push_back(cell);
      continue;
    }
    point p;
    for (std::size_t i = 0; i < columns.size() && std::getline(cells, cell, ','); i++) {
      if (columns[i] == "ebn0_db") p.ebn0_db = std::stod(cell);
      if (columns[i] == "ber") p.ber = std::stod(cell);
      if (columns[i] == "fer") p.fer = std::stod(cell);
      if (columns[i] == "n_frames") p.frames = std::stod(cell);
    }
    curve.push_back(p);
  }
  return curve;
}

struct counts {
  double frames = 0, frame_errors = 0, bit_errors = 0;
  double fer() const { return frame_errors / frames; }
};
/// Random payloads in blocks until there are `enough` frame errors; errors are counted on information bits.
counts measure(executor& exec, const ldpc_code& code, const ldpc_decoder_config& config, double ebn0_db,
               double enough, double most_frames, std::uint64_t seed) {
  const std::size_t k = static_cast<std::size_t>(code.k()), n = static_cast<std::size_t>(code.n()),
                    block = 256;
  const ldpc_encoder encoder(code);
  const ldpc_decoder decoder(code, config);
  const double esn0_db = ebn0_db + 10 * std::log10(static_cast<double>(code.k()) / code.n());
  auto in = exec.make<float>(block, n);
  auto out = exec.make<std::uint8_t>(block, k);
  counts c;
  std::mt19937_64 random(seed);
  while (c.frame_errors < enough && c.frames < most_frames) {
    const bytes sent = testing::random_bytes_of_bits(static_cast<int>(k * block), random);
    const auto llr = testing::noisy(testing::encode_words(exec, encoder, sent, n), esn0_db, random);
    exec.upload(in.data(), llr.data(), in.bytes());
    decoder.run(exec, in, {.bits = out});
    const bytes got = exec.to_host(out);
    for (std::size_t w = 0; w < block; w++) {
      int errors = 0;
      for (std::size_t i = 0; i < k; i++) errors += got[w * k + i] != sent[w * k + i];
      c.bit_errors += errors;
      c.frame_errors += errors != 0;
    }
    c.frames += static_cast<double>(block);
  }
  return c;
}

struct curve {
  std::string file;
  ldpc_code code;
  ldpc_decoder_config config;
  std::vector<double> ebn0_db;
};
void PrintTo(const curve& c, std::ostream* out) { *out << c.file; }

class ldpc_rates : public ::testing::TestWithParam<curve> {};

/// Both are samples of the same probability: their distance is within 4 standard deviations of it.
TEST_P(ldpc_rates, are_those_of_the_reference) {
  const curve& c = GetParam();
  const auto reference = read_curve(c.file);
  if (reference.empty()) GTEST_SKIP() << c.file << " is not in '" << WARPBAND_REFDATA << "/error_rates'";
  cpu exec({.threads = 2, .instructions = {}});
  std::uint64_t seed = 50;
  for (double ebn0_db : c.ebn0_db) {
    const auto p = std::find_if(reference.begin(), reference.end(),
                                [&](const point& x) { return std::fabs(x.ebn0_db - ebn0_db) < 1e-6; });
    ASSERT_NE(p, reference.end());
    const double enough = testing::small_scale() ? 25 : 200;
    const counts got = measure(exec, c.code, c.config, ebn0_db, enough, 40000, seed++);
    const double pooled = (got.frame_errors + p->fer * p->frames) / (got.frames + p->frames);
    const double deviation = std::sqrt(pooled * (1 - pooled) * (1 / got.frames + 1 / p->frames));
    EXPECT_LT(std::fabs(got.fer() - p->fer), 4 * deviation)
        << "at " << ebn0_db << " dB: " << got.frame_errors << " of " << got.frames << " frames, " << got.fer()
        << ", in the reference " << p->fer;
    RecordProperty("fer_at_" + std::to_string(ebn0_db), std::to_string(got.fer()));
  }
}

constexpr auto layered = ldpc_schedule::layered, flooding = ldpc_schedule::flooding;
constexpr auto normalised = ldpc_algorithm::normalised_min_sum, sum_product = ldpc_algorithm::sum_product;

INSTANTIATE_TEST_SUITE_P(
    curves, ldpc_rates,
    ::testing::Values(curve{"aff3ctrun_wimax_2304_r1_2_layered_nms0p75_i20",
                            wimax_ldpc(2304, wimax_rate::r1_2),
                            {.algorithm = normalised, .scale = 0.75f, .iterations = 20, .schedule = layered},
                            {1.2, 1.4, 1.6}},
                      curve{"aff3ctrun_wimax_2304_r1_2_layered_spa_i20",
                            wimax_ldpc(2304, wimax_rate::r1_2),
                            {.algorithm = sum_product, .iterations = 20, .schedule = layered},
                            {1.2, 1.4}},
                      curve{"aff3ctrun_wimax_576_r5_6_layered_nms0p75_i10",
                            wimax_ldpc(576, wimax_rate::r5_6),
                            {.algorithm = normalised, .scale = 0.75f, .iterations = 10, .schedule = layered},
                            {3.5, 4.0}},
                      curve{"ldpc_n648_k540_hlayered_spa_i05_wi-fi",
                            wifi_ldpc(648, wifi_rate::r5_6),
                            {.algorithm = sum_product, .iterations = 5, .schedule = layered},
                            {3.5, 4.0}},
                      curve{"ldpc_n648_k540_hlayered_spa_i20_wi-fi",
                            wifi_ldpc(648, wifi_rate::r5_6),
                            {.algorithm = sum_product, .iterations = 20, .schedule = layered},
                            {3.25, 3.75}},
                      // Made with rotations to the left: another code of the same error rate.
                      curve{
                          "ldpc_n576_k288_hlayered_nms_i100_wimax",
                          wimax_ldpc(576, wimax_rate::r1_2),
                          {.algorithm = normalised, .scale = 0.825f, .iterations = 100, .schedule = layered},
                          {1.5, 2.0}},
                      curve{"ldpc_n576_k288_flooding_spa_i100_wimax",
                            wimax_ldpc(576, wimax_rate::r1_2),
                            {.algorithm = sum_product, .iterations = 100, .schedule = flooding},
                            {1.5, 2.0}}),
    [](const auto& i) {
      std::string name = i.param.file;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

/// Bit error rates of a program that is known to within 0.15 dB only.
TEST(ldpc_rates_padova, are_within_0_15_db) {
  const auto reference = read_curve("wimax_576_r1_2_flooding_spa_i50_padova");
  if (reference.empty()) GTEST_SKIP() << "no curve in '" << WARPBAND_REFDATA << "/error_rates'";
  cpu exec({.threads = 2, .instructions = {}});
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  const auto ber_at = [&](double ebn0_db) {
    std::size_t i = 1;
    while (i + 1 < reference.size() && reference[i].ebn0_db < ebn0_db) i++;
    const point &a = reference[i - 1], &b = reference[i];
    const double t = (ebn0_db - a.ebn0_db) / (b.ebn0_db - a.ebn0_db);
    return std::exp((1 - t) * std::log(a.ber) + t * std::log(b.ber));
  };
  for (double ebn0_db : {1.4, 1.8}) {
    const counts got = measure(exec, code, {.algorithm = sum_product, .iterations = 50, .schedule = flooding},
                               ebn0_db, testing::small_scale() ? 25 : 200, 20000, 60);
    const double ber = got.bit_errors / got.frames / code.k();
    const double noise = 1 + 4 / std::sqrt(got.frame_errors);
    EXPECT_LT(ber, ber_at(ebn0_db - 0.15) * noise) << ebn0_db;
    EXPECT_GT(ber, ber_at(ebn0_db + 0.15) / noise) << ebn0_db;
  }
}

/// What the narrow formats lose: on the same words, the number of frame errors is about that of float32.
TEST(ldpc_rates_of_formats, are_near_those_of_float32) {
  cpu exec({.threads = 2, .instructions = {}});
  const double frames = testing::small_scale() ? 256 : 2048;
  const auto errors = [&](ldpc_precision precision) {
    return measure(exec, wimax_ldpc(2304, wimax_rate::r1_2), {.iterations = 15, .precision = precision}, 1.4,
                   1e9, precision == ldpc_precision::float16 ? frames / 2 : frames, 70);
  };
  const counts exact = errors(ldpc_precision::float32), half = errors(ldpc_precision::float16),
               fixed = errors(ldpc_precision::int8);
  EXPECT_GT(exact.frame_errors, testing::small_scale() ? 5 : 100);
  EXPECT_NEAR(half.fer(), exact.fer(), 4 * std::sqrt(exact.fer() / half.frames));
  EXPECT_LT(fixed.fer(), exact.fer() * 1.35 + 4 * std::sqrt(exact.fer() / fixed.frames));
}

}  // namespace ldpc_rates_test
}  // namespace wb
