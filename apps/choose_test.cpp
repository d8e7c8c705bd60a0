// `warpband choose` as a user meets it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <tests/command.hpp>
#include <tests/json.hpp>
#include <warpband/link/scenario.hpp>

namespace choose_test {

namespace fs = std::filesystem;

using wb::testing::outcome;

class choose_command : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("warpband_choose_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write("mimo.toml",
          "title = \"2x2\"\ncode = { type = \"conv\", k = 200 }\nmodem.modulation = \"qpsk\"\n"
          "channel.type = \"rayleigh\"\nmimo = { streams = 2, rx_antennas = 2 }\nsweep.snr_db = 5\n"
          "stop = { frame_errors = 5, max_frames = 50 }\n");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  static std::string content(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  outcome run(const std::string& arguments, const std::string& before = "") const {
    const std::string line = "cd '" + folder_.string() + "' && " + before + " '" WARPBAND_COMMAND "' " +
                             arguments + " > out.txt 2> err.txt < /dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, content(path("out.txt")),
            content(path("err.txt"))};
  }
  void expect_error(int code, const std::string& arguments, const std::string& part,
                    const std::string& before = "") const {
    const outcome o = run(arguments, before);
    EXPECT_EQ(o.code, code) << arguments << "\n" << o.err;
    EXPECT_TRUE(o.err.starts_with("warpband: error: ")) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
  }
  fs::path folder_;
};

TEST_F(choose_command, writes_a_scenario_that_runs) {
  const outcome o =
      run("choose mimo.toml --fer 0.3 --width 1 --loss 0.7 -o chosen.toml --json all.json --quiet");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_NE(o.out.find("\n* "), std::string::npos) << o.out;
  const auto report = wb::testing::parse_json(content(path("all.json")));
  EXPECT_EQ(report["target"]["fer"], 0.3);
  EXPECT_EQ(report["axis"], "snr_db");
  const auto& chosen = report["settings"][report["chosen"].get<std::size_t>()];
  EXPECT_EQ(chosen["front"], true);
  EXPECT_LE(chosen["loss_db"].get<double>(), 0.7);
  EXPECT_GT(chosen["information_gbps"].get<double>(), 0);
  // 200 bits and a tail of six, at rate 1/2.
  EXPECT_NEAR(chosen["coded_gbps"].get<double>() / chosen["information_gbps"].get<double>(), 412.0 / 200,
              1e-9);
  std::size_t front = 0;
  for (const auto& s : report["settings"]) {
    front += s["front"].get<bool>();
    EXPECT_EQ(s["db"].is_null(), s["loss_db"].is_null());
    // Nothing that was measured is both faster and more accurate than the chosen one.
    if (s["db"].is_null()) continue;
    EXPECT_FALSE(s["db"].get<double>() < chosen["db"].get<double>() &&
                 s["information_gbps"].get<double>() > chosen["information_gbps"].get<double>());
  }
  EXPECT_GE(front, 1U);

  const wb::scenario written = wb::load_scenario(path("chosen.toml"));
  ASSERT_EQ(written.curves.size(), 1U);
  EXPECT_EQ(written.curves[0].label,
            "2x2: " + chosen["detector"].get<std::string>() + "; " + chosen["decoder"].get<std::string>());
  // 100 wrong frames of the target, whatever the scenario's rule was.
  EXPECT_EQ(written.curves[0].stop.frame_errors, 100U);
  EXPECT_EQ(written.curves[0].stop.max_frames, 3334U);
  EXPECT_NEAR(written.curves[0].stop.below_fer, 0.03, 1e-12);
  EXPECT_NE(o.out.find("Mb/s"), std::string::npos);
  EXPECT_EQ(o.out.find("Gb/s"), std::string::npos);
  EXPECT_NE(content(path("chosen.toml")).find(" Mb/s of information bits"), std::string::npos);
  const auto [least, greatest] =
      std::minmax_element(written.curves[0].sweep_db.begin(), written.curves[0].sweep_db.end());
  EXPECT_LT(*least, chosen["db"].get<double>());
  EXPECT_GT(*greatest, chosen["db"].get<double>());
  EXPECT_EQ(run("sim chosen.toml --quiet").code, 0);
}

TEST_F(choose_command, takes_one_of_several_curves) {
  write("two.toml",
        "code = { type = \"none\", k = 50 }\nsweep.ebn0_db = 1\nmodem.modulation = \"16qam\"\n"
        "[[curve]]\nlabel = \"a\"\n[[curve]]\nlabel = \"b\"\nchannel.type = \"rayleigh\"\n");
  expect_error(2, "choose two.toml", "two.toml has 2 curves: --curve LABEL names one of \"a\", \"b\"");
  expect_error(2, "choose two.toml --curve c", "expected one of \"a\", \"b\"");
  const outcome o = run("choose two.toml --curve b --fer 0.3 --width 1 -o b.toml");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(wb::load_scenario(path("b.toml")).curves[0].link.channel.type, "rayleigh");
}

TEST_F(choose_command, says_what_is_allowed) {
  for (const char* fer : {"0", "1", "-0.1", "x", "nan"})
    expect_error(2, std::string("choose mimo.toml --fer ") + fer, "expected a rate above 0 and below 1");
  expect_error(2, "choose mimo.toml --loss -1", "expected 0 to 100 dB");
  expect_error(2, "choose mimo.toml --width 0", "expected 0.01 to 10 dB");
  expect_error(2, "choose mimo.toml --max-frames 0", "expected an integer from 1");
  expect_error(2, "choose mimo.toml --plot p.gif", "a name that ends in .pdf, .png or .svg");
  expect_error(2, "choose", "a scenario is missing");
  expect_error(2, "choose mimo.toml -o a --json a", "a is named twice");
  expect_error(1, "choose mimo.toml -o mimo.toml", "is read by this run");
  expect_error(1, "choose mimo.toml -o missing/c.toml", "its folder does not exist");
  expect_error(1, "choose missing.toml", "cannot read");
  write("downlink.toml",
        "sweep.snr_db = 1\ncode.type = \"none\"\nmodem.modulation = \"qpsk\"\n"
        "channel.type = \"rayleigh\"\nmassive = { solver = \"cholesky\", direction = \"downlink\" }\n");
  expect_error(1, "choose downlink.toml", "downlink.toml: massive.direction = downlink is not allowed");
  expect_error(2, "choose mimo.toml --latency 100", "--latency is for massive MIMO");
  expect_error(2, "choose mimo.toml --latency 0", "expected microseconds above 0");
}

TEST_F(choose_command, writes_scenarios_of_other_antennas_that_run) {
  write("massive.toml",
        "code = { type = \"conv\", k = 20 }\nsweep.snr_db = 1\nmodem.modulation = \"qpsk\"\n"
        "channel.type = \"rayleigh\"\n"
        "massive = { solver = \"cholesky\", antennas = 8, users = 2, subcarriers = 32, symbols = 2 }\n");
  write("stbc.toml",
        "code = { type = \"conv\", k = 60 }\nsweep.snr_db = 1\nmodem.modulation = \"qpsk\"\n"
        "channel.type = \"rayleigh\"\nstbc.type = \"golden\"\n");
  write("harq.toml",
        "sweep.snr_db = 1\ncode = { type = \"lte-transport\", transport_block_size = 40, "
        "resource_elements = 66 }\n");
  for (const std::string name : {"massive", "stbc", "harq"}) {
    const outcome o =
        run("choose " + name + ".toml --fer 0.3 --width 1 -o chosen.toml --json all.json --quiet");
    ASSERT_EQ(o.code, 0) << name << o.err;
    const auto report = wb::testing::parse_json(content(path("all.json")));
    const auto& chosen = report["settings"][report["chosen"].get<std::size_t>()];
    EXPECT_EQ(chosen["front"], true);
    EXPECT_EQ(chosen.contains("transmissions"), name == "harq");
    EXPECT_EQ(run("sim chosen.toml --quiet").code, 0) << name;
  }
}

TEST_F(choose_command, chooses_symbols_and_streams_within_a_latency) {
  write("massive.toml",
        "code.type = \"none\"\nsweep.snr_db = 1\nmodem.modulation = \"qpsk\"\nchannel.type = \"rayleigh\"\n"
        "massive = { solver = \"cholesky\", antennas = 4, users = 2, subcarriers = 4, symbols = 2 }\n");
  const std::string line = "choose massive.toml --fer 0.3 --width 1 --quiet --json all.json --latency ";
  ASSERT_EQ(run(line + "1e9").code, 0);
  const auto report = wb::testing::parse_json(content(path("all.json")));
  const auto& batching = report["batching"];
  EXPECT_EQ(batching["latency_us"], 1e9);
  ASSERT_EQ(batching["pairs"].size(), 10U);  // 1 and 2 symbols, 1 to 16 streams
  const auto& best = batching["pairs"][batching["chosen"].get<std::size_t>()];
  for (const auto& pair : batching["pairs"])
    EXPECT_LE(pair["symbols_per_second"].get<double>(), best["symbols_per_second"].get<double>());
  const outcome none = run(line + "1e-3");
  EXPECT_EQ(none.code, 0);
  EXPECT_NE(none.out.find("no pair keeps the latency"), std::string::npos);
  EXPECT_TRUE(wb::testing::parse_json(content(path("all.json")))["batching"]["chosen"].is_null());
}

TEST_F(choose_command, says_that_no_setting_reaches_the_target) {
  write("awgn.toml", "code = { type = \"none\", k = 50 }\nsweep.ebn0_db = 1\n");
  expect_error(1, "choose awgn.toml --fer 0.3 --max-frames 5 --quiet",
               "fer = 0.3 is reached by no setting: 1 setting: 0 on the front");
}

TEST_F(choose_command, draws_through_a_python) {
  write("python",
        "#!/bin/sh\n[ \"$2\" = -c ] && exit 0\nprintf '%s\\n' \"$@\" > told.txt\n[ ! -e refuse ]\n");
  fs::permissions(folder_ / "python", fs::perms::owner_all);
  write("plot_front.py", "");
  write("awgn.toml", "code = { type = \"none\", k = 50 }\nsweep.ebn0_db = 1\n");
  const std::string with = "WARPBAND_PYTHON=./python WARPBAND_PLOT_FRONT=./plot_front.py";
  const std::string line = "choose awgn.toml --fer 0.3 --width 1 --quiet";
  EXPECT_EQ(run(line + " --json f.json --plot f.svg", with).code, 0);
  EXPECT_EQ(content(path("told.txt")), "-I\n./plot_front.py\n--\nf.json\nf.svg\n");
  fs::create_directory(folder_ / "tmp");
  EXPECT_EQ(run(line + " --plot f.png", with + " TMPDIR=" + path("tmp")).code, 0);
  EXPECT_NE(content(path("told.txt")).find(path("tmp")), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_ / "tmp"));
  write("refuse", "");
  const outcome refused = run(line + " --plot f.png", with);
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.err, "warpband: error: f.png: was not written: plot_front.py ended with exit code 1\n");
}

}  // namespace choose_test
