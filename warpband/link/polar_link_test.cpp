// Polar codes in links.
#include <cmath>
#include <cstdio>
#include <fstream>

#include <tests/on_backends.hpp>
#include <tests/result.hpp>
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

/// A file with an order of reliability, from the scenario's folder; a result goes on with the same one only.
TEST(polar_link, takes_general_codes_from_files) {
  const scratch_folder folder;
  const auto write_order = [&](int first) {
    std::ofstream file(folder.path("order.txt"));
    for (int u = 0; u < 64; u++) file << (u == 0 ? first : u == first ? 0 : u) << ' ';
  };
  write_order(0);
  const std::string text =
      "sweep.ebn0_db = [1.0, 12.0]\nmodem.modulation = \"qpsk\"\nstop = { frame_errors = 5, max_frames = 40 "
      "}\n"
      "code = { type = \"polar\", kind = \"general\", k = 20, coded_bits = 64, crc_bits = 8, construction = "
      "\"custom\", reliability_file = \"order.txt\" }\ndecoder = { list_size = 4, adaptive = true, growing = "
      "true }\n";
  const run_result r = ran(text, *open_scalar(), folder.path("s.toml"));
  EXPECT_EQ(r.curves[0].points.at(1).counts.frame_errors, 0u);
  const std::string path = folder.path("r.json");
  write_file(path, result_json(r));
  EXPECT_EQ(result_json(load_result(path)), result_json(r));
  write_order(63);
  try {
    load_result(path);
    ADD_FAILURE() << "went on with another information set";
  } catch (const file_error& e) {
    EXPECT_NE(std::string(e.what()).find("was run with code.information_set_id = "), std::string::npos)
        << e.what();
  }
  std::ofstream(folder.path("order.txt")) << "0 1 two";
  EXPECT_THROW(ran(text, *open_scalar(), folder.path("s.toml")), file_error);
}

}  // namespace polar_link_test
}  // namespace wb
