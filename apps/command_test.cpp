// The `warpband` command as a user meets it: exit codes, one line of error, files.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <tests/command.hpp>
#include <tests/executors.hpp>
#include <tests/json.hpp>

namespace {

namespace fs = std::filesystem;

using wb::testing::outcome;

class command : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("warpband_command_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write("quick.toml",
          "title = \"quick\"\ncode.k = 40\nsweep.ebn0_db = [0, 30]\nstop.frame_errors = 5\nstop.max_frames = "
          "50\n");
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
  /// Runs `before warpband arguments` in the test's folder.
  outcome run(const std::string& arguments, const std::string& before = "") const {
    const std::string line = "cd '" + folder_.string() + "' && " + before + " '" WARPBAND_COMMAND "' " +
                             arguments + " > out.txt 2> err.txt < /dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, content(path("out.txt")),
            content(path("err.txt"))};
  }
  /// It fails with this code, one line that holds `part`, and nothing on stdout.
  void expect_error(int code, const std::string& arguments, const std::string& part,
                    const std::string& before = "") const {
    const outcome o = run(arguments, before);
    EXPECT_EQ(o.code, code) << arguments << "\n" << o.err;
    EXPECT_TRUE(o.err.starts_with("warpband: error: ")) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    EXPECT_EQ(o.out, "") << arguments;
  }
  fs::path folder_;
};

TEST_F(command, help_teaches) {
  for (const std::string arguments : {"--help", "sim --help", "info --help", "-h"}) {
    const outcome o = run(arguments);
    EXPECT_EQ(o.code, 0);
    EXPECT_EQ(o.err, "");
    EXPECT_NE(o.out.find("Examples:"), std::string::npos) << o.out;
  }
  const outcome version = run("--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("warpband ")) << version.out;
  const outcome keys = run("sim --help-scenario");
  EXPECT_EQ(keys.code, 0);
  EXPECT_NE(keys.out.find("extrinsic_scale"), std::string::npos);
}

TEST_F(command, examples_that_help_names_are_there) {
  const fs::path source = WARPBAND_SOURCE_DIR;
  if (!fs::exists(source / "examples")) GTEST_SKIP() << "no examples here";
  int found = 0;
  const auto check = [&](const std::string& text, const std::string& where) {
    const std::regex name("examples/[A-Za-z0-9_./-]*[A-Za-z0-9_]");
    for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i, found++)
      EXPECT_TRUE(fs::exists(source / i->str())) << where << ": " << i->str();
  };
  for (const std::string name : {"", "sim", "choose", "encode", "decode", "detect", "stream", "bench",
                                 "bench ceilings", "bench compare", "model", "info", "completion"})
    check(run(name + " --help").out, "warpband " + name + " --help");
  for (const fs::directory_entry& e : fs::recursive_directory_iterator(source / "examples"))
    if (e.path().extension() == ".toml") check(content(e.path()), e.path().string());
  EXPECT_GE(found, 6);
}

TEST_F(command, info_shows_the_machine) {
  const outcome text = run("info");
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("scalar"), std::string::npos);
  const auto json = wb::testing::parse_json(run("info --json").out);
  EXPECT_EQ(json["cuda"], wb::has_cuda());
  EXPECT_EQ(json["cuda_devices"].size(), wb::cuda_devices().size());
  EXPECT_EQ(json["cpu"]["instruction_sets"].size(), wb::available_isas().size());
  EXPECT_EQ(wb::testing::parse_json(run("info --json", "WARPBAND_ISA=scalar").out)["cpu"]["instruction_set"],
            "scalar");
}

TEST_F(command, used_wrongly_is_2) {
  expect_error(2, "", "a command is missing");
  expect_error(2, "smi", "did you mean sim?");
  expect_error(2, "simulate quick.toml", "did you mean sim?");
  expect_error(2, "sim", "a scenario is missing");
  expect_error(2, "sim quick.toml --thread 2", "did you mean --threads?");
  expect_error(2, "sim quick.toml another.toml", "\"another.toml\" is not known here");
  expect_error(2, "sim quick.toml --threads -1", "--threads");
  expect_error(2, "sim quick.toml --threads many", "--threads");
  expect_error(2, "sim quick.toml --seed -1", "--seed");
  expect_error(2, "sim quick.toml -o", "--output");
  expect_error(2, "sim quick.toml --device gpu", "expected cpu or cuda:N");
  expect_error(2, "sim quick.toml --device cuda:x", "expected cpu or cuda:N");
  expect_error(2, "sim quick.toml --device cuda:0 --threads 2", "--threads is for --device cpu");
  expect_error(2, "sim quick.toml --plot p.pdf", ".png or .svg");
  expect_error(2, "sim quick.toml --metric per --plot p.png", "--metric");
  expect_error(2, "sim quick.toml --metric ber", "add --plot");
  expect_error(2, "sim quick.toml -o p.png --plot p.png", "the same file");
}

TEST_F(command, failures_are_1_and_found_before_anything_runs) {
  expect_error(1, "sim missing.toml", "missing.toml: cannot read");
  expect_error(1, "sim .", "cannot read: it is a folder");
  write("unknown.toml", "sweep.ebn0_db = 1\ncode.kk = 40\n");
  expect_error(1, "sim unknown.toml", "unknown.toml: line 2: unknown key code.kk: did you mean code.k?");
  write("windows.toml", "sweep.ebn0_db = 1\ncode.k = 40\ndecoder.windows = 6\n");
  expect_error(1, "sim windows.toml", "line 3: decoder.windows = 6 is not allowed: expected 1 to k/8 = 5");
  expect_error(1, "sim quick.toml -o missing/r.json",
               "missing/r.json: cannot write: its folder does not exist");
  expect_error(1, "sim quick.toml -o .", "cannot write: it is a folder");
  expect_error(1, "sim quick.toml --plot missing/p.png", "missing/p.png: cannot write");
  expect_error(1, "sim quick.toml --plot p.png --reference none.csv:old",
               "none.csv: cannot read the reference");
  expect_error(1, "sim quick.toml --plot p.png", "set WARPBAND_PYTHON", "WARPBAND_PYTHON=/missing/python");
  expect_error(1, "sim quick.toml --device cuda:99", "\"cpu\" is always there");
  expect_error(1, "sim quick.toml -o quick.toml", "is read by this run");
  expect_error(1, "sim quick.toml -o ./../" + folder_.filename().string() + "/quick.toml",
               "is read by this run");
  expect_error(1, "sim quick.toml", "WARPBAND_ISA", "WARPBAND_ISA=mmx");
  EXPECT_FALSE(fs::exists(folder_ / "p.png"));
}

TEST_F(command, runs_a_scenario) {
  const outcome o = run("sim quick.toml -o r.json --threads 2 --quiet");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  for (const char* column :
       {"Es/N0", "Eb/N0", "frames", "bit errors", "BER", "FER", "95% interval", "Mb/s", "time"})
    EXPECT_NE(o.out.find(column), std::string::npos) << column;
  const auto r = wb::testing::parse_json(content(path("r.json")));
  EXPECT_EQ(r["complete"], true);
  EXPECT_EQ(r["machine"]["threads"], 2);
  const auto& points = r["curves"][0]["points"];
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0]["frame_errors"], 5);
  EXPECT_EQ(points[1]["frame_errors"], 0);
  EXPECT_EQ(points[1]["frames"], 50);
  // Nothing of this machine's folders is in it.
  EXPECT_EQ(content(path("r.json")).find(folder_.string()), std::string::npos);

  // The same counts again, whatever the threads; others with another seed.
  run("sim quick.toml -o again.json --threads 1");
  const auto again = wb::testing::parse_json(content(path("again.json")))["curves"][0]["points"];
  EXPECT_EQ(again[0]["frames"], points[0]["frames"]);
  EXPECT_EQ(again[0]["bit_errors"], points[0]["bit_errors"]);
  run("sim quick.toml -o other.json --seed 2");
  const auto other = wb::testing::parse_json(content(path("other.json")));
  EXPECT_EQ(other["curves"][0]["config"]["seed"], 2);
  EXPECT_NE(other["curves"][0]["points"][0]["bit_errors"], points[0]["bit_errors"]);
}

TEST_F(command, interrupted_keeps_what_is_finished) {
  write("long.toml",
        "code.k = 40\nsweep.ebn0_db = [0, 30]\nstop.frame_errors = 5\nstop.max_frames = 1000000000000\n");
  // Interrupted, once the first point is in the file, by what started it.
  write("interrupted.sh",
        "(until grep -q '\"stopped_by\"' r.json 2> /dev/null; do kill -0 $$ || exit; sleep 0.05; done\n"
        "kill -TERM $$) &\n"
        "exec \"$@\"\n");
  const outcome o = run("sim long.toml -o r.json --quiet", "sh interrupted.sh");
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_EQ(
      o.err,
      "warpband: error: interrupted: 1 of 2 points finished, r.json holds the state: warpband sim --resume "
      "r.json goes on\n");
  const auto r = wb::testing::parse_json(content(path("r.json")));
  EXPECT_EQ(r["complete"], false);
  EXPECT_EQ(r["curves"][0]["points"].size(), 1u);
}

TEST_F(command, draws_through_a_python) {
  // One that notes what it is told.
  write("python",
        "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\nprintf '%s\\n' \"$@\" > told.txt\n[ ! -e refuse ]\n");
  fs::permissions(folder_ / "python", fs::perms::owner_all);
  write("plot.py", "");
  write("old.csv", "ebn0_db,ber,fer\n0,0.1,1\n");
  const std::string with = "WARPBAND_PYTHON=./python WARPBAND_PLOT=./plot.py";
  const outcome o =
      run("sim quick.toml -o r.json --plot p.svg --reference 'old.csv:as it was' --metric fer", with);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(content(path("told.txt")),
            "./plot.py\n--metric=fer\n--title=quick\n--reference=old.csv:as it was\n--\nr.json\np.svg\n");
  // Without -o the result is a temporary file.
  fs::create_directory(folder_ / "tmp");
  EXPECT_EQ(run("sim quick.toml --plot p.png", with + " TMPDIR=" + path("tmp")).code, 0);
  EXPECT_NE(content(path("told.txt")).find(path("tmp")), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_ / "tmp"));
  // A plot that fails leaves the result.
  write("refuse", "");
  const outcome refused = run("sim quick.toml -o kept.json --plot p.png", with);
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.err, "warpband: error: p.png: was not drawn: plot.py ended with exit code 1\n");
  EXPECT_EQ(wb::testing::parse_json(content(path("kept.json")))["complete"], true);
}

TEST_F(command, reproduces_through_a_python) {
  write("python",
        "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\nprintf '%s\\n' \"$@\" \"$WARPBAND_COMMAND\" > told.txt\necho "
        "a row\nexit 3\n");
  fs::permissions(folder_ / "python", fs::perms::owner_all);
  write("reproduce", "");
  const outcome o = run("reproduce li fig3.1 --quick --device cuda:0 --out folder",
                        "env -u WARPBAND_COMMAND WARPBAND_PYTHON=./python WARPBAND_REPRODUCE=./reproduce");
  EXPECT_EQ(o.code, 3) << o.err;  // that of the program
  EXPECT_EQ(o.out, "a row\n");
  EXPECT_EQ(content(path("told.txt")),
            "./reproduce\n--device=cuda:0\n--out=folder\n--quick\n--\nli\nfig3.1\n" WARPBAND_COMMAND "\n");
  expect_error(1, "reproduce", "WARPBAND_REPRODUCE names a file that is not there",
               "WARPBAND_REPRODUCE=/missing");
}

TEST_F(command, numbers_are_decimal) {
  EXPECT_NE(run("sim quick.toml --quiet --threads 010").out.find("10 threads"), std::string::npos);
  run("sim quick.toml --quiet --seed 10 -o a.json");
  run("sim quick.toml --quiet --seed 010 -o b.json");
  const auto a = wb::testing::parse_json(content(path("a.json"))),
             b = wb::testing::parse_json(content(path("b.json")));
  EXPECT_EQ(a["curves"][0]["points"][0]["bit_errors"], b["curves"][0]["points"][0]["bit_errors"]);
  EXPECT_EQ(a["curves"][0]["config"], b["curves"][0]["config"]);
}

TEST_F(command, tells_when_stdout_is_full) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string line = "'" WARPBAND_COMMAND "' info > /dev/full 2> '" + path("err.txt") + "'";
  const int status = std::system(line.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_NE(content(path("err.txt")).find("cannot write to standard output"), std::string::npos);
}

}  // namespace
