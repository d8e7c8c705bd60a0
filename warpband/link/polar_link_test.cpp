// Polar codes in links.
#include <cmath>
#include <cstdio>
#include <fstream>

#include <tests/on_backends.hpp>
#include <tests/scenario.hpp>
#include <warpband/link/sweep.hpp>

namespace wb {
namespace polar_link_test {

using namespace testing;

/// Frame errors of the simulator and of another program's curve, with the same rules.
TEST(polar_link, meets_a_curve_of_another_program) {
  std::ifstream file(std::string(WARPBAND_REFDATA) +
                     "/error_rates/nr_polar/nr_polar_ul_k64_n128_scl8_exact.csv");
  if (!file) GTEST_SKIP() << "no refdata: cannot open the curve of UCI with 64 of 128 bits";
  const auto exec = std::make_unique<cpu>(cpu_options{.threads = 1, .instructions = available_isas().back()});
  curve_result curve;
  curve.config = only_curve(
      "seed = 5\nsweep.ebn0_db = 1.5\nmodem.modulation = \"qpsk\"\n"
      "code = { type = \"polar\", k = 64, coded_bits = 128 }\n"
      "decoder.algorithm = \"sum-product\"\nstop = { frame_errors = 400, max_frames = 20000 }\n");
  run_curve(curve, *exec);
  const point_counts& counts = curve.points.at(0).counts;
  const double fer = static_cast<double>(counts.frame_errors) / static_cast<double>(counts.frames);
  double reference = 0;
  std::string line;
  for (std::getline(file, line); std::getline(file, line);) {
    double ebn0_db, esn0_db, frames, frame_errors, bit_errors, bler;
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf,%lf,%lf", &ebn0_db, &esn0_db, &frames, &frame_errors,
                          &bit_errors, &bler),
              6);
    if (ebn0_db == 1.5) reference = bler;
  }
  ASSERT_GT(reference, 0);
  // 400 errors have a standard deviation of 5 %; a tenth of a dB is 15 % here.
  EXPECT_NEAR(std::log(fer / reference), 0, small_scale() ? 0.6 : 0.3) << fer << ", reference " << reference;
}

}  // namespace polar_link_test
}  // namespace wb
