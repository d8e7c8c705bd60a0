// Sweeps over settings and searches for a frame error rate, from the scenario to the result and back.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include <tests/json.hpp>
#include <tests/on_backends.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/link/result.hpp>

namespace wb {
namespace scenario_sweep_test {

scenario parsed(const std::string& text) { return parse_scenario(text, "s.toml"); }
const std::string turbo = "code.k = 40\n", at_1 = "sweep.ebn0_db = 1\n";

TEST(scenario_sweep, keys_become_settings_of_a_search) {
  const curve_config plain = parsed(turbo + "sweep.target_fer = 1e-2\n").curves.at(0);
  EXPECT_EQ(plain.target->fer, 1e-2);
  EXPECT_EQ(plain.target->width_db, fer_target{}.width_db);
  EXPECT_TRUE(plain.sweep_db.empty());
  EXPECT_EQ(plain.stop.max_frames, fer_target{}.max_frames);  // of all points together
  const curve_config bounded =
      parsed(turbo + "sweep = { target_fer = 0.1, target_width_db = 0.5, snr_db = { from = -3, to = 5 } }\n")
          .curves.at(0);
  EXPECT_EQ(bounded.link.axis, snr_axis::snr_db);
  EXPECT_EQ(bounded.target->least_db, -3);
  EXPECT_EQ(bounded.target->most_db, 5);
  EXPECT_EQ(bounded.target->width_db, 0.5);
  EXPECT_FALSE(parsed(turbo + at_1).curves.at(0).target);
}

TEST(scenario_sweep, es_n0_is_an_axis) {
  const scenario s = parsed(turbo +
                            "sweep.esn0_db = [-5, -4]\n[[curve]]\n[[curve]]\nsweep.snr_db = 1\n"
                            "[[curve]]\nsweep.esn0_db = { from = 0, to = 1, step = 0.5 }\n");
  ASSERT_EQ(s.curves.size(), 3u);
  EXPECT_EQ(s.curves[0].link.axis, snr_axis::esn0_db);
  EXPECT_EQ(s.curves[0].sweep_db, (std::vector<double>{-5, -4}));
  EXPECT_EQ(s.curves[1].link.axis, snr_axis::snr_db);
  EXPECT_EQ(s.curves[2].sweep_db, (std::vector<double>{0, 0.5, 1}));
  for (const char* other : {"ebn0_db", "snr_db"}) {
    try {
      parsed(turbo + "sweep.esn0_db = 1\nsweep." + other + " = 1\n");
      ADD_FAILURE() << other;
    } catch (const file_error& error) {
      EXPECT_NE(std::string(error.what()).find(std::string("sweep has both ") + other + " and esn0_db"),
                std::string::npos)
          << error.what();
    }
  }
}

class scenario_sweep_result : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "warpband_swept_" + std::to_string(getpid()) + ".json";
  }
  void TearDown() override { std::filesystem::remove(path_); }
  /// Runs a scenario's curves; the result, as it comes back from its file.
  run_result run(const std::string& text) {
    run_result r;
    r.source = parsed(text);
    cpu exec({.threads = 1});
    for (const curve_config& c : r.source.curves) {
      r.curves.push_back({c.label, c, {}, {}, false});
      run_curve(r.curves.back(), exec);
    }
    r.complete = true;
    return again(r);
  }
  run_result again(const run_result& r) {
    std::ofstream(path_) << result_json(r);
    return load_result(path_);
  }
  std::string path_;
};

TEST_F(scenario_sweep_result, comes_back_with_its_axis_of_es_n0) {
  const run_result r =
      run("code = { type = \"none\", k = 100 }\nmodem.modulation = \"qpsk\"\nsweep.esn0_db = [1, 2]\n"
          "channel.type = \"rayleigh\"\nmimo = { streams = 2, rx_antennas = 2 }\ndetector.type = \"mmse\"\n"
          "stop = { frame_errors = 0, max_frames = 5 }\n");
  ASSERT_EQ(r.curves.at(0).points.size(), 2u);
  EXPECT_EQ(r.curves[0].config.link.axis, snr_axis::esn0_db);
  EXPECT_EQ(r.curves[0].points[1].esn0_db, 2);
  EXPECT_NEAR(r.curves[0].points[1].snr_db, 2 + 10 * std::log10(2), 1e-12);
}

TEST_F(scenario_sweep_result, comes_back_with_what_was_swept) {
  const run_result r = run(turbo + at_1 + "sweep.decoder.iterations = [1, 2]\nstop.max_frames = 50\n");
  ASSERT_EQ(r.curves.size(), 2u);
  const auto config = wb::testing::parse_json(result_json(r))["curves"][1]["config"];
  EXPECT_EQ(config["sweep"]["family"], "s");
  EXPECT_EQ(config["sweep"]["parameters"]["decoder.iterations"], 2);
  EXPECT_EQ(r.curves[1].points.at(0).counts.frames, 50u);
}

TEST_F(scenario_sweep_result, goes_on_with_curves_known_by_their_settings) {
  const std::string stop = "stop = { frame_errors = 0, max_frames = 50 }\n";
  const run_result held = run("title = \"before\"\n" + turbo + at_1 + stop +
                              "[[curve]]\nlabel = \"a\"\n[[curve]]\nlabel = \"b\"\ndecoder.iterations = 2\n");
  // Other titles and labels, another order; even where a label was another curve's.
  const run_result r =
      resumed(held,
              parsed("title = \"after\"\n" + turbo + at_1 + stop +
                     "[[curve]]\nlabel = \"a\"\ndecoder.iterations = 2\n[[curve]]\nlabel = \"new\"\n"),
              path_);
  EXPECT_EQ(r.curves[0].points.at(0).counts, held.curves[1].points.at(0).counts);
  EXPECT_EQ(r.curves[1].points.at(0).counts, held.curves[0].points.at(0).counts);
  EXPECT_EQ(again(r).source.title, "after");
  // What was run apart goes on as a sweep, with another value more.
  const run_result swept =
      resumed(held, parsed(turbo + at_1 + stop + "sweep.decoder.iterations = [2, 6, 8]\n"), path_);
  EXPECT_EQ(swept.curves[0].points.size(), 1u);
  EXPECT_EQ(swept.curves[1].points.size(), 1u);
  EXPECT_TRUE(swept.curves[2].points.empty());
}

TEST_F(scenario_sweep_result, keeps_what_a_search_found) {
  const std::string search =
      "code = { type = \"none\", k = 100 }\nsweep.target_fer = 0.5\nsweep.target_width_db = 0.5\n";
  run_result r = run(search);
  ASSERT_TRUE(r.curves[0].found);
  const fer_target_result found = *r.curves[0].found;
  ASSERT_TRUE(found.reached());
  // All of 100 bits are right in half of the frames where Q(sqrt(2 Eb/N0)) = 1 - 2^(-1/100): 4.8156 dB.
  EXPECT_LT(*found.low_db, 4.8156);
  EXPECT_GT(*found.high_db, 4.8156);
  // It is not searched for again.
  cpu exec({.threads = 1});
  run_curve(
      r.curves[0], exec,
      {.progress = [](const auto&...) -> bool { throw std::runtime_error("ran again"); }, .finished = {}});
  // Another search is another curve, and so is a list of points.
  const auto refused = [&](const std::string& text) {
    try {
      resumed(r, parsed(text), path_);
    } catch (const file_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(refused("code = { type = \"none\", k = 100 }\nsweep.target_fer = 0.1\n")
                .find("target_fer = 0.5, now 0.1"),
            std::string::npos);
  EXPECT_NE(refused("code = { type = \"none\", k = 100 }\nsweep.ebn0_db = 1\n"), "");
  // One that ran out of frames goes on where it may have more.
  run_result poor = run(search + "stop.max_frames = 20\n");
  ASSERT_TRUE(poor.curves[0].found);
  EXPECT_EQ(poor.curves[0].found->outcome, fer_outcome::budget);
  run_result rich = resumed(poor, parsed(search), path_);
  run_curve(rich.curves[0], exec);
  EXPECT_TRUE(rich.curves[0].found->reached());
  EXPECT_EQ(rich.curves[0].found->low_db, found.low_db);
}

TEST_F(scenario_sweep_result, refuses_a_search_that_contradicts_itself) {
  run("code = { type = \"none\", k = 100 }\nsweep.target_fer = 0.5\nsweep.target_width_db = 2\n");
  std::ifstream in(path_);
  const auto good = wb::testing::parse_json(in);
  const auto refused = [&](const char* key, const nlohmann::json& value) {
    auto bad = good;
    bad["curves"][0]["target"][key] = value;
    std::ofstream(path_) << bad.dump();
    EXPECT_THROW(load_result(path_), file_error) << key;
  };
  refused("fer", 0.1);
  refused("outcome", "cancelled");
  refused("low_db", -200);
  refused("db", nullptr);
  refused("frames", 1);
  refused("more", 1);
}

}  // namespace scenario_sweep_test
}  // namespace wb
