// Polar codes in scenarios, sweeps and results.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include <tests/codes.hpp>
#include <tests/result.hpp>
#include <tests/scenario.hpp>

namespace wb {
namespace polar_link_test {

using namespace testing;

const std::string text_of_scenario = R"(
title = "polar"
code = { type = "polar", k = 64, coded_bits = 128 }
modem.modulation = "qpsk"
sweep.ebn0_db = [0.0, 1.0]
stop = { frame_errors = 6, max_frames = 40 }
[[curve]]
label = "UCI"
[[curve]]
label = "DCI"
code = { kind = "DCI", k = 40, coded_bits = 108, rnti = 4660 }
decoder = { list_size = 2, algorithm = "Sum_Product" }
[[curve]]
label = "plain"
code = { kind = "plain", k = 32, crc_bits = 11 }
decoder.list_size = 1
[[curve]]
label = "conv"
code = { type = "conv", k = 64 }
)";

TEST(polar_link, of_a_scenario) {
  const scenario s = parse_scenario(text_of_scenario, "s.toml");
  ASSERT_EQ(s.curves.size(), 4u);
  const auto code = [&](std::size_t i) { return completed(s.curves[i].link).code; };
  EXPECT_EQ(code(0).type, "polar");
  EXPECT_EQ(testing::k_in(code(0)), 64);
  EXPECT_EQ(sizes_of(code(0)).n, 128u);
  EXPECT_EQ(testing::polar_in(code(0)).code.kind, polar_kind::uci);
  EXPECT_EQ(testing::polar_in(code(0)).decoder.list_size, 8);
  EXPECT_EQ(testing::polar_in(code(1)).code.kind, polar_kind::dci);
  EXPECT_EQ(testing::polar_in(code(1)).code.rnti, 4660);
  EXPECT_EQ(testing::polar_in(code(1)).decoder.algorithm, polar_algorithm::sum_product);
  EXPECT_EQ(testing::polar_in(code(1)).decoder.list_size, 2);
  EXPECT_EQ(testing::polar_in(code(2)).code.crc_bits, 11);
  EXPECT_EQ(sizes_of(code(2)).n, 128u);
  EXPECT_EQ(code(3).type, "conv");
  // Eb is that of the message's bits, without the CRC.
  EXPECT_EQ(code_rate(completed(s.curves[0].link)), 0.5);

  const std::string base = "sweep.ebn0_db = 1\ncode.type = \"polar\"\ncode.coded_bits = 128\n";
  EXPECT_REFUSED(base + "code.k = 11", "line 4: code.k = 11 is not allowed: expected 12 to 1706");
  EXPECT_REFUSED(base + "code.k = 128", "line 3: code.coded_bits = 128 is not allowed");
  EXPECT_REFUSED(base + "code.kind = \"ulsch\"",
                 "line 4: code.kind = \"ulsch\" is not allowed: expected \"uci\"");
  EXPECT_REFUSED(base + "code.rnti = 7", "line 4: code.rnti has no meaning with code.kind = \"uci\"");
  EXPECT_REFUSED(base + "code.crc = \"crc24a\"",
                 "line 4: code.crc has no meaning with code.type = \"polar\"");
  EXPECT_REFUSED(base + "decoder.list_size = 5",
                 "line 4: decoder.list_size = 5 is not allowed: expected 1, 2, 4");
  EXPECT_REFUSED(base + "decoder.iterations = 5", "line 4: decoder.iterations has no meaning");
  EXPECT_REFUSED(base + "decoder.algorithm = \"viterbi\"",
                 "line 4: decoder.algorithm = \"viterbi\" is not allowed: expected \"min-sum\"");
  EXPECT_REFUSED("sweep.ebn0_db = 1\ndecoder.list_size = 8",
                 "line 2: decoder.list_size has no meaning with code.type = \"lte-turbo\"");
}

TEST(polar_link, a_result_is_a_state_to_go_on_from) {
  const auto exec = open_scalar();
  const auto begun = [&] {
    run_result r;
    r.source = parse_scenario(text_of_scenario, "s.toml");
    r.origin.machine = describe_machine(*exec);
    for (const curve_config& c : r.source.curves) r.curves.push_back({c.label, c, {}, {}, false});
    return r;
  };
  run_result whole = begun(), part = begun();
  for (curve_result& c : whole.curves) run_curve(c, *exec);
  const scratch_folder folder;
  const std::string path = folder.path("r.json");
  for (std::size_t i = 0; i < part.curves.size(); i++)
    for (bool more = true; more;) {
      run_curve(part.curves[i], *exec,
                {.progress = [](const curve_result&, std::size_t, const point_counts&) { return false; },
                 .finished = {}});
      more = part.curves[i].cancelled;
      write_file(path, result_json(part));
      part = load_result(path);
    }
  for (std::size_t i = 0; i < whole.curves.size(); i++) {
    ASSERT_EQ(whole.curves[i].points.size(), part.curves[i].points.size());
    for (std::size_t n = 0; n < whole.curves[i].points.size(); n++)
      expect_same(part.curves[i].points[n].counts, whole.curves[i].points[n].counts);
    EXPECT_GT(whole.curves[i].points[0].counts.frame_errors, 0u);
  }
  using json = nlohmann::ordered_json;
  json good = json::parse(result_json(whole));
  EXPECT_EQ(good["curves"][0]["config"]["code"].dump(),
            R"({"type":"polar","k":64,"kind":"uci","coded_bits":128,"rate":0.5})");
  EXPECT_EQ(good["curves"][1]["config"]["code"]["rnti"], 4660);
  EXPECT_EQ(good["curves"][1]["config"]["decoder"].dump(), R"({"algorithm":"sum-product","list_size":2})");
  good["curves"][0]["config"]["decoder"]["list_size"] = 4;
  EXPECT_NE(refusal(folder.path("bad.json"), good.dump()).find("was run with decoder.list_size = 4, but"),
            std::string::npos);
}

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
