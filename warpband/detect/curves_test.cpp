// Error rates and mutual information without a code, against those of Sionna in the reference data.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <tests/mimo.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace detect_curves_test {

using wb::detector_config;
using namespace wb::testing;

/// A mean over uses, the bits of which are not independent.
struct statistic {
  double n = 0, sum = 0, squares = 0;
  void add(double value) {
    n++;
    sum += value;
    squares += value * value;
  }
  double mean() const { return sum / n; }
  /// Standard deviation of the difference to the same mean over `others` independent uses.
  double deviation(double others) const {
    return std::sqrt((squares / n - mean() * mean()) * (1 / n + 1 / others));
  }
};

/// "mimo_uncoded_4x4_16qam_kbest16" as a setting.
detector_config setting_of(const std::string& name) {
  int rx = 0, streams = 0, qam = 0;
  char detector[16] = "";
  EXPECT_EQ(std::sscanf(name.c_str(), "mimo_uncoded_%dx%d_%dqam_%15s", &rx, &streams, &qam, detector), 4)
      << name;
  const std::string which = detector;
  if (which.starts_with("kbest")) {
    detector_config c = kbest_setting(streams, rx, qam, std::stoi(which.substr(5)));
    c.llr_clip = 20;  // as the reference has it
    search_in(c).sort = wb::stream_sort::norm;
    return c;
  }
  return setting(which == "lmmse" ? mmse : which, streams, rx, qam);
}

void compare(const std::string& name) {
  const std::string path = WARPBAND_REFDATA "/error_rates/mimo/" + name + ".csv";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "no refdata: cannot open '" << path << "'";
  const detector_config c = setting_of(name);
  const auto exec = wb::open_executor("cpu");
  std::seed_seq seed(name.begin(), name.end());
  std::mt19937_64 random(seed);
  std::string line;
  std::getline(file, line);
  ASSERT_EQ(line, "snr_db,ber,bits,bit_errors,ver,vectors,mutual_information_per_bit");
  int points = 0;
  while (std::getline(file, line)) {
    std::stringstream row(line);
    std::vector<double> v;
    for (std::string cell; std::getline(row, cell, ',');) v.push_back(std::stod(cell));
    ASSERT_EQ(v.size(), 7U) << line;
    const double n0 = c.streams * std::pow(10, -v[0] / 10), reference_uses = v[5];
    const bool slow = c.type == "ml" && c.streams == 4 && c.qam > 4;
    const std::size_t uses = small_scale() ? slow ? 200 : 1000 : slow ? 8000 : 25000;
    if (v[4] * std::min(static_cast<double>(uses), reference_uses) < 50)
      continue;  // too few errors to compare
    const mimo_batch batch = draw_mimo(c, uses, {n0, n0 * (1 + 1e-9)}, random);
    const mimo_result got = detect(*exec, c, batch);
    statistic errors, wrong, information;
    const std::size_t m = batch.bits();
    for (std::size_t i = 0; i < batch.uses(); i++) {
      double count = 0, bits = 0;
      for (std::size_t e = i * m; e < (i + 1) * m; e++) {
        count += got.bits[e] != batch.sent[e];
        const double toward = batch.sent[e] == 0 ? got.llr[e] : -got.llr[e];
        bits += 1 - (std::max(0., -toward) + std::log1p(std::exp(-std::fabs(toward)))) / std::log(2);
      }
      errors.add(count / static_cast<double>(m));
      wrong.add(count > 0);
      information.add(bits / static_cast<double>(m));
    }
    // Four deviations of both samples, and the digits of the file.
    const auto expect = [&](const statistic& s, double reference, double digits, const char* quantity) {
      EXPECT_LE(std::fabs(s.mean() - reference), 4 * s.deviation(reference_uses) + digits)
          << name << " at " << v[0] << " dB: " << quantity << " " << s.mean() << ", reference " << reference;
    };
    expect(errors, v[1], 5e-5 * v[1], "bit error rate");
    expect(wrong, v[4], 5e-5 * v[4], "vector error rate");
    expect(information, v[6], 5e-6, "mutual information per bit");
    points++;
  }
  EXPECT_GE(points, small_scale() ? 2 : 4) << path;
}

/// H of more antennas than streams to R, and y to Q^H y: the same LLRs.
void reduce_antennas(mimo_batch& b) {
  using complex = std::complex<double>;
  const auto n = static_cast<std::size_t>(b.streams), rx = static_cast<std::size_t>(b.rx), uses = b.uses();
  std::vector<std::complex<float>> h(uses * n * n), y(uses * n);
  for (std::size_t i = 0; i < uses; i++) {
    std::vector<std::vector<complex>> columns(n + 1, std::vector<complex>(rx));
    for (std::size_t r = 0; r < rx; r++) {
      for (std::size_t k = 0; k < n; k++) columns[k][r] = b.h[i * b.gains() + r * n + k];
      columns[n][r] = b.y[i * rx + r];
    }
    for (std::size_t k = 0; k < n; k++) {
      double energy = 0;
      for (const complex& x : columns[k]) energy += std::norm(x);
      h[(i * n + k) * n + k] = static_cast<float>(std::sqrt(energy));
      for (complex& x : columns[k]) x /= std::sqrt(energy);
      for (std::size_t j = k + 1; j <= n; j++) {
        complex along = 0;
        for (std::size_t r = 0; r < rx; r++) along += std::conj(columns[k][r]) * columns[j][r];
        for (std::size_t r = 0; r < rx; r++) columns[j][r] -= along * columns[k][r];
        (j < n ? h[(i * n + k) * n + j] : y[i * n + k]) = std::complex<float>(along);
      }
    }
  }
  b.rx = b.streams;
  b.h = h;
  b.y = y;
}

/// "ep_64x16_16qam_l10_b0p9": error rates of expectation propagation, and of MMSE with the same noise.
void compare_ep(const std::string& name, int rx, int streams, int qam) {
  const std::string path = WARPBAND_REFDATA "/error_rates/ep/" + name + ".csv";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "no refdata: cannot open '" << path << "'";
  const auto exec = wb::open_executor("cpu");
  std::seed_seq seed(name.begin(), name.end());
  std::mt19937_64 random(seed);
  std::string line;
  std::getline(file, line);
  ASSERT_EQ(line.substr(0, 56), "snr_db,frames,ep_frame_errors,ep_bit_errors,ep_ber,ep_mi");
  int points = 0;
  while (std::getline(file, line)) {
    std::stringstream row(line);
    std::vector<double> v;
    for (std::string cell; std::getline(row, cell, ',');) v.push_back(std::stod(cell));
    ASSERT_EQ(v.size(), 12U) << line;
    const double n0 = streams * std::pow(10, -v[0] / 10), reference_uses = v[1];
    const std::size_t uses = small_scale() ? 500 : rx > 16 ? 4000 : 20000;
    if (v[10] * static_cast<double>(uses) < 50) continue;
    const detector_config drawn = setting("ep", streams, rx, qam),
                          c = ep_setting(streams, streams, qam, 10, 0.9f);
    mimo_batch batch = draw_mimo(drawn, uses, {n0, n0 * (1 + 1e-9)}, random);
    if (rx > streams) reduce_antennas(batch);
    const mimo_result got = detect(*exec, c, batch);
    statistic errors, wrong;
    const std::size_t m = batch.bits();
    for (std::size_t i = 0; i < batch.uses(); i++) {
      double count = 0;
      for (std::size_t e = i * m; e < (i + 1) * m; e++) count += got.bits[e] != batch.sent[e];
      errors.add(count / static_cast<double>(m));
      wrong.add(count > 0);
    }
    const auto expect = [&](const statistic& s, double reference, const char* quantity) {
      EXPECT_LE(std::fabs(s.mean() - reference), 4 * s.deviation(reference_uses) + 5e-5 * reference)
          << name << " at " << v[0] << " dB: " << quantity << " " << s.mean() << ", reference " << reference;
    };
    expect(errors, v[4], "bit error rate");
    const double right = (1 - v[10]) * static_cast<double>(uses);
    if (right >= 50) expect(wrong, v[10], "vector error rate");
    points++;
  }
  EXPECT_GE(points, small_scale() ? 3 : 6) << path;
}

TEST(detect_curve_of_ep, at_4x4_16qam_equals_the_reference) { compare_ep("ep_4x4_16qam_l10_b0p9", 4, 4, 16); }
TEST(detect_curve_of_ep, at_8x8_64qam_equals_the_reference) { compare_ep("ep_8x8_64qam_l10_b0p9", 8, 8, 64); }
TEST(detect_curve_of_ep, at_64x16_16qam_equals_the_reference) {
  compare_ep("ep_64x16_16qam_l10_b0p9", 64, 16, 16);
}

class detect_curve : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(uncoded, detect_curve,
                         ::testing::Values("2x2_4qam_ml", "2x2_4qam_lmmse", "2x2_4qam_zf", "2x2_16qam_ml",
                                           "2x2_16qam_lmmse", "2x2_16qam_zf", "2x2_64qam_ml",
                                           "2x2_64qam_lmmse", "2x2_64qam_zf", "4x4_4qam_ml", "4x4_4qam_lmmse",
                                           "4x4_4qam_zf", "4x4_4qam_kbest4", "4x4_16qam_ml",
                                           "4x4_16qam_lmmse", "4x4_16qam_zf", "4x4_16qam_kbest4",
                                           "4x4_16qam_kbest16"),
                         [](const auto& curve) { return "of_" + std::string(curve.param); });

TEST_P(detect_curve, equals_the_reference) { compare("mimo_uncoded_" + std::string(GetParam())); }

}  // namespace detect_curves_test
