// `warpband exit` as a user meets it.
#include <gtest/gtest.h>

#include <filesystem>

#include <tests/command.hpp>
#include <tests/json.hpp>

namespace exit_command_test {

namespace fs = std::filesystem;

using wb::testing::outcome;

class exit_command : public ::testing::Test, protected wb::testing::command_folder {
 protected:
  void SetUp() override { write("loop.toml", scenario()); }

  /// A loop of 2x2 QPSK; `changed` comes behind its keys.
  static std::string scenario(const std::string& sweep = "snr_db = [2, 6]",
                              const std::string& channel = "type = \"rayleigh\"",
                              const std::string& receiver = "[receiver]\nouter = 3\n",
                              const std::string& mimo =
                                  "[mimo]\nstreams = 2\nrx_antennas = 2\n"
                                  "[detector]\ntype = \"pic\"\n") {
    return "title = \"2x2 loop\"\n[code]\ntype = \"wifi-ldpc\"\nn = 648\n[modem]\nmodulation = \"qpsk\"\n" +
           mimo + receiver + "[channel]\n" + channel + "\n[sweep]\n" + sweep + "\n[stop]\nmax_frames = 10\n";
  }
};

TEST_F(exit_command, measures_each_point_of_the_sweep) {
  const outcome o = run("exit loop.toml --bits 20000 --json exit.json --quiet");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_NE(o.out.find("2x2 loop\nSNR 2 dB\n"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("SNR 6 dB\n"), std::string::npos) << o.out;
  const auto record = nlohmann::json::parse(content(path("exit.json")));
  EXPECT_EQ(record["command"], "exit");
  EXPECT_EQ(record["bits"], 20000);
  ASSERT_EQ(record["charts"].size(), 2u);
  for (const auto& chart : record["charts"]) {
    EXPECT_EQ(chart["prior"].size(), 11u);
    for (const char* curve : {"detector", "decoder"}) {
      ASSERT_EQ(chart[curve].size(), 11u);
      for (std::size_t i = 1; i < 11; i++)
        EXPECT_GT(chart[curve][i].get<double>(), chart[curve][i - 1].get<double>() - 0.02)
            << curve << " " << i;
    }
    ASSERT_EQ(chart["loop_detector"].size(), 3u);
    ASSERT_EQ(chart["loop_decoder"].size(), 3u);
    // Without a-priori information the loop and the curve start from the same detector.
    EXPECT_NEAR(chart["loop_detector"][0].get<double>(), chart["detector"][0].get<double>(), 0.02);
  }
  const auto &low = record["charts"][0], &high = record["charts"][1];
  EXPECT_GT(high["detector"][0].get<double>(), low["detector"][0].get<double>() + 0.1);
  EXPECT_EQ(high["decoder"], low["decoder"]);
  EXPECT_GT(high["loop_decoder"][2].get<double>(), 0.97);
  // Near 1 a decoder that stops early would know less.
  EXPECT_GT(high["decoder"][10].get<double>(), 0.99);
}

TEST_F(exit_command, an_snr_replaces_the_points) {
  write("ebn0.toml", scenario("ebn0_db = 6"));
  const outcome o = run("exit ebn0.toml --snr 4.5 --bits 2000 --quiet");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("SNR 4.5 dB\n"), std::string::npos) << o.out;
  // 2 streams, R = 1/2 and QPSK on two antennas: SNR = Eb/N0.
  EXPECT_NE(run("exit ebn0.toml --bits 2000 --quiet").out.find("SNR 6 dB\n"), std::string::npos);
  const std::string first = run("exit loop.toml --snr 4 --bits 2000 --quiet").out;
  EXPECT_EQ(run("exit loop.toml --snr 4 --bits 2000 --quiet --threads 1").out, first);
  EXPECT_NE(run("exit loop.toml --snr 4 --bits 2000 --quiet --seed 2").out, first);
}

TEST_F(exit_command, refuses_what_has_no_chart) {
  expect_error(2, "exit", "a scenario is missing");
  expect_error(2, "exit loop.toml --snr 200", "--snr");
  expect_error(2, "exit loop.toml --bits 0", "--bits");
  expect_error(2, "exit loop.toml --curve other",
               "--curve \"other\" is not allowed: expected one of \"2x2 loop\"");
  expect_error(2, "exit loop.toml -o exit.gif", "expected a name that ends in .pdf, .png or .svg");
  expect_error(1, "exit loop.toml --json loop.toml", "loop.toml");
  write("open.toml", scenario("snr_db = 1", "type = \"rayleigh\"", ""));
  expect_error(1, "exit open.toml", "receiver is missing: an EXIT chart is of a loop");
  write("block.toml", scenario("snr_db = 1", "type = \"rayleigh\"\nfading = \"block\""));
  expect_error(1, "exit block.toml", "expected channel.type = \"rayleigh\" with fading = \"fast\"");
  write("single.toml", scenario("snr_db = 1", "type = \"awgn\"", "", ""));
  expect_error(1, "exit single.toml", "expected mimo.streams, not antennas of kind \"single\"");
  write("search.toml", scenario("target_fer = 0.1"));
  expect_error(2, "exit search.toml", "--snr DB names one");
  write("many.toml", scenario("snr_db = { from = 1, to = 10, step = 1 }"));
  expect_error(2, "exit many.toml -o exit.png", "has 10 points: a figure shows at most 9");
}

TEST_F(exit_command, draws_through_a_python) {
  write("python",
        "#!/bin/sh\n[ \"$2\" = -c ] && exit 0\nprintf '%s\\n' \"$@\" > told.txt\n[ ! -e refuse ]\n");
  fs::permissions(folder_ / "python", fs::perms::owner_all);
  write("plot_exit.py", "");
  const std::string with = "WARPBAND_PYTHON=./python WARPBAND_PLOT_EXIT=./plot_exit.py";
  const std::string line = "exit loop.toml --snr 4 --bits 2000 --quiet";
  EXPECT_EQ(run(line + " --json e.json -o e.svg", with).code, 0);
  EXPECT_EQ(content(path("told.txt")), "-I\n./plot_exit.py\n--\ne.json\ne.svg\n");
  write("refuse", "");
  const outcome refused = run(line + " -o e.png", with);
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.err, "warpband: error: e.png: was not written: plot_exit.py ended with exit code 1\n");
}

}  // namespace exit_command_test
