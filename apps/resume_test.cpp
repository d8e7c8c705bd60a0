// Simulations that are killed, interrupted, continued and taken further: the counts must be those of one run.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include <tests/command.hpp>
#include <tests/executors.hpp>
#include <tests/json.hpp>
#include <warpband/core/error.hpp>
#include <warpband/link/result.hpp>

namespace resume_test {

namespace fs = std::filesystem;
using json = nlohmann::json;
using seconds = std::chrono::duration<double>;

using wb::testing::outcome;

/// A point's counts, by "label, Eb/N0".
using counts = std::map<std::string, std::vector<json>>;

class resume : public ::testing::Test, protected wb::testing::command_folder {
 protected:
  void SetUp() override { write("quick.toml", quick()); }

  /// A quick scenario, whose points stop at errors and at frames.
  static std::string quick(int frame_errors = 5, int max_frames = 60) {
    return "title = \"quick\"\ncode.k = 40\nsweep.ebn0_db = [0, 1.3, 2.6]\nstop.frame_errors = " +
           std::to_string(frame_errors) + "\nstop.max_frames = " + std::to_string(max_frames) +
           "\n[[curve]]\nlabel = \"turbo\"\n[[curve]]\nlabel = \"none\"\ncode.type = \"none\"\n";
  }
  json read(const std::string& name) const { return wb::testing::parse_json(content(path(name))); }

  /// Starts `warpband arguments` in the test's folder.
  pid_t start(const std::vector<std::string>& arguments, const std::string& isa = "") const {
    std::vector<std::string> words{WARPBAND_COMMAND};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    const std::string folder = folder_.string();
    const pid_t child = fork();
    if (child != 0) return child;
    const auto redirect = [](const char* file, int to) {
      const int f = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
      return f >= 0 && dup2(f, to) >= 0;
    };
    ::signal(SIGINT, SIG_DFL);  // a test that runs in the background has it ignored
    if (chdir(folder.c_str()) != 0 || !redirect("out.txt", 1) || !redirect("err.txt", 2)) _exit(120);
    if (!isa.empty()) setenv("WARPBAND_ISA", isa.c_str(), 1);
    execv(argv[0], argv.data());
    _exit(121);
  }
  outcome finish(pid_t child) const {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(path("out.txt")),
            content(path("err.txt"))};
  }
  outcome run(const std::vector<std::string>& arguments, const std::string& isa = "") const {
    return finish(start(arguments, isa));
  }
  outcome run_well(const std::vector<std::string>& arguments, const std::string& isa = "") const {
    const outcome o = run(arguments, isa);
    EXPECT_EQ(o.code, 0) << o.err;
    return o;
  }
  void expect_error(int code, const std::vector<std::string>& arguments, const std::string& part) const {
    command_folder::expect_error(code, run(arguments), part);
  }

  /// All that must not depend on how a result came about.
  static counts counts_of(const json& result) {
    counts values;
    for (const json& c : result["curves"])
      for (const json& p : c["points"])
        for (const char* key :
             {"frames", "bit_errors", "frame_errors", "erased_frames", "iterations_sum", "stopped_by"})
          values[c["label"].get<std::string>() + ", " + p["ebn0_db"].dump()].push_back(p[key]);
    return values;
  }
  /// Frames counted at each point, finished or not.
  static std::map<std::string, std::uint64_t> frames_of(const json& result) {
    std::map<std::string, std::uint64_t> frames;
    for (const char* kind : {"curves", "unfinished"})
      if (result.contains(kind))
        for (const json& c : result[kind])
          for (const json& p : c["points"]) {
            std::uint64_t& n = frames[c["label"].get<std::string>() + ", " + p["ebn0_db"].dump()];
            n = std::max(n, p["frames"].get<std::uint64_t>());
          }
    return frames;
  }
  bool has_leftovers() const {
    return std::any_of(fs::directory_iterator(folder_), fs::directory_iterator{}, [](const auto& f) {
      return f.path().filename().string().find(".tmp") != std::string::npos;
    });
  }
  /// Whether a child of this process runs. It is not waited for: its number stays its own.
  static bool is_running(pid_t child) {
    siginfo_t ended{};
    return waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
  }
  /// Waits until the file of `child` is there and holds something that `enough` takes.
  template <class Enough>
  void wait_for(pid_t child, const std::string& name, const Enough& enough) const {
    while (!fs::exists(folder_ / name) || !enough(read(name))) {
      if (!is_running(child)) {
        ADD_FAILURE() << name << " did not come: " << content(path("err.txt"));
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
};

class resume_killed : public resume, public ::testing::WithParamInterface<int> {
 protected:
  static std::string sweep_to_kill(bool small) {
    return "seed = 5\ncode.k = 512\nsweep.ebn0_db = { from = 0.0, to = 1.2, step = 0.3 }\n"
           "stop.frame_errors = " +
           std::string(small ? "20" : "600") + "\nstop.max_frames = " + (small ? "60" : "5000") +
           "\n[[curve]]\nlabel = \"log-MAP\"\n[[curve]]\nlabel = \"max-log-MAP\"\n"
           "decoder.algorithm = \"max-log-map\"\ncode.crc = \"crc24a\"\n"
           "decoder.early_stop = \"crc\"\n";
  }
  /// In seconds.
  double timed(const std::vector<std::string>& arguments) const {
    const auto begin = std::chrono::steady_clock::now();
    run_well(arguments);
    return seconds(std::chrono::steady_clock::now() - begin).count();
  }
  static void expect_grown(const std::map<std::string, std::uint64_t>& before,
                           const std::map<std::string, std::uint64_t>& after) {
    for (const auto& [point, frames] : before) {
      ASSERT_TRUE(after.contains(point)) << point;
      EXPECT_GE(after.at(point), frames) << point;
    }
  }
  /// To begin the sweep, or to go on with it.
  std::vector<std::string> arguments(const std::vector<std::string>& options) const {
    std::vector<std::string> list{"sim"};
    if (fs::exists(folder_ / "r.json"))
      list.insert(list.end(), {"--resume", "r.json"});
    else
      list.insert(list.end(), {"sweep.toml", "-o", "r.json"});
    list.insert(list.end(), options.begin(), options.end());
    return list;
  }
};
INSTANTIATE_TEST_SUITE_P(threads, resume_killed, ::testing::Values(1, 2),
                         ::testing::PrintToStringParamName());

TEST_P(resume_killed, at_random_moments_gives_the_counts_of_one_run) {
  const bool small = wb::testing::small_scale();
  const std::size_t wanted = small ? 10 : 50;
  const std::string threads = std::to_string(GetParam());
  write("sweep.toml", sweep_to_kill(small));
  const double start_up = timed({"sim", "quick.toml", "--quiet", "--threads", threads});
  const double whole_seconds =
      timed({"sim", "sweep.toml", "-o", "whole.json", "--quiet", "--threads", threads});
  const counts whole = counts_of(read("whole.json"));
  EXPECT_EQ(whole.size(), 10u);

  // Each life lasts up to twice its share of the whole, from none at all; longer ones on a machine that
  // became so slow that none has counted anything. A sweep that gets through is begun anew, until there were
  // as many kills as wanted.
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  double longest = 2.2 * whole_seconds / static_cast<double>(wanted) + 2 * start_up;
  std::uniform_real_distribution<double> life(0, 1);
  const std::vector<std::string> options{"--quiet", "--threads", threads, "--checkpoint", "0.02"};
  std::map<std::string, std::uint64_t> before;
  std::size_t kills = 0, sweeps = 0, with_progress = 0;
  const auto check_end = [&] {
    const json end = read("r.json");
    EXPECT_EQ(counts_of(end), whole);
    EXPECT_EQ(end["complete"], true);
    EXPECT_FALSE(end.contains("unfinished"));
    EXPECT_FALSE(end.contains("earlier_runs"));  // it was this program on this machine every time
    fs::remove(folder_ / "r.json");
    before.clear();
    sweeps++;
  };
  const auto enough = [&] { return kills >= wanted && (small || with_progress > 0); };
  while (!enough() && !HasFailure()) {
    const pid_t child = start(arguments(options));
    std::this_thread::sleep_for(seconds(longest * life(random)));
    kill(child, SIGKILL);
    const outcome o = finish(child);
    if (o.code != 128 + SIGKILL) {  // it was done before
      ASSERT_EQ(o.code, 0) << o.err;
      check_end();
      continue;
    }
    kills++;
    if (kills >= 10 && with_progress == 0) longest *= 1.2;
    if (!fs::exists(folder_ / "r.json")) {
      EXPECT_TRUE(before.empty());
      continue;
    }
    ASSERT_NO_THROW(wb::load_result(path("r.json"))) << content(path("r.json"));
    const auto after = frames_of(read("r.json"));
    with_progress += after != before;
    expect_grown(before, after);
    before = after;
  }
  EXPECT_TRUE(enough());
  run_well(arguments(options));
  EXPECT_FALSE(has_leftovers());
  check_end();
  RecordProperty("kills_with_progress", static_cast<int>(with_progress));
  RecordProperty("sweeps", static_cast<int>(sweeps));
}

TEST_F(resume, writes_checkpoints_while_a_point_goes_on) {
  write("long.toml",
        "code.k = 512\nsweep.ebn0_db = [0.3, 30]\nstop.frame_errors = 5\nstop.max_frames = 1000000000\n");
  const pid_t child = start({"sim", "long.toml", "-o", "r.json", "--checkpoint", "0.1", "--threads", "1"});
  std::uint64_t last = 0;
  for (int i = 0; i < 5; i++)
    wait_for(child, "r.json", [&](const json& r) {
      if (!r.contains("unfinished")) return false;
      const std::uint64_t frames = r["unfinished"][0]["points"][0]["frames"];
      return frames > last && (last = frames, true);
    });
  kill(child, SIGKILL);
  EXPECT_EQ(finish(child).code, 128 + SIGKILL);
  EXPECT_GE(read("r.json")["unfinished"][0]["points"][0]["frames"].get<std::uint64_t>(), last);
}

TEST_F(resume, ends_at_a_signal_with_the_state_of_the_point) {
  write("long.toml",
        "code.k = 40\nsweep.ebn0_db = [0, 30]\nstop.frame_errors = 5\nstop.max_frames = 1000000000000\n");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    fs::remove(folder_ / "r.json");
    const pid_t child =
        start({"sim", "long.toml", "-o", "r.json", "--threads", "1", "--checkpoint", "30", "--quiet"});
    wait_for(child, "r.json",
             [](const json& r) { return !r["curves"].empty() && !r["curves"][0]["points"].empty(); });
    kill(child, signal);
    const outcome o = finish(child);
    EXPECT_EQ(o.code, 1);
    EXPECT_EQ(o.err,
              "warpband: error: interrupted: 1 of 2 points finished, r.json holds the state: warpband sim "
              "--resume r.json goes on\n");
    const json r = read("r.json");
    EXPECT_EQ(r["complete"], false);
    EXPECT_EQ(r["curves"][0]["points"].size(), 1u);
    const json& point = r["unfinished"][0]["points"][0];
    EXPECT_EQ(point["ebn0_db"], 30.0);
    EXPECT_GT(point["frames"], 0);
    // To less than it has: it stays as it is, and the result is complete.
    run_well({"sim", "--resume", "r.json", "--max-frames", "1", "--quiet"});
    const json done = read("r.json");
    EXPECT_EQ(done["complete"], true);
    EXPECT_EQ(done["curves"][0]["points"][1]["frames"], point["frames"]);
    EXPECT_EQ(done["curves"][0]["config"]["stop"]["max_frames"], 1);
  }
}

TEST_F(resume, a_signal_ends_what_waits_for_its_input) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"sim", "fifo"}, {"sim", "--resume", "fifo"}, {"choose", "fifo"}}) {
    const pid_t child = start(arguments);
    int input = -1;
    while ((input = open(path("fifo").c_str(), O_WRONLY | O_NONBLOCK)) < 0) {  // until it is read
      ASSERT_EQ(errno, ENXIO);
      ASSERT_TRUE(is_running(child)) << arguments.front() << " ended before it read";
      std::this_thread::yield();
    }
    kill(child, SIGTERM);
    close(input);  // a process that survives the signal reads an empty file and exits with another code
    EXPECT_EQ(finish(child).code, 128 + SIGTERM) << arguments.front();
  }
}

TEST_F(resume, a_pipe_as_output_is_refused_and_left) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  const int fifo = open(path("fifo").c_str(), O_RDWR);
  ASSERT_GE(fifo, 0);
  const std::string text(4096, 'x');
  ASSERT_EQ(::write(fifo, text.data(), text.size()), 4096);
  expect_error(1, {"sim", "quick.toml", "-o", "fifo"}, "fifo: cannot write: it is not a regular file");
  int left = 0;
  EXPECT_EQ(ioctl(fifo, FIONREAD, &left), 0);
  EXPECT_EQ(left, 4096);
  close(fifo);
}

TEST_F(resume, titles_and_labels_do_not_steer_the_terminal) {
  write("odd.toml",
        "title = \"a\\u001b[31mb\"\ncode.k = 40\nsweep.ebn0_db = 0\nstop.max_frames = 10\n"
        "[[curve]]\nlabel = \"c\\u001b[2J\\nd\"\n[[curve]]\nlabel = \"none\"\ncode.type = \"none\"\n");
  const outcome o = run_well({"sim", "odd.toml", "--quiet"});
  EXPECT_EQ(o.out.find('\x1b'), std::string::npos);
  EXPECT_NE(o.out.find("a\\x1b[31mb\n"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("\nc\\x1b[2J\\nd\n"), std::string::npos) << o.out;
}

TEST_F(resume, goes_on_to_more_errors_and_more_frames_anywhere) {
  std::vector<std::string> isas;
  for (const wb::isa i : wb::available_isas()) isas.push_back(wb::isa_name(i));
  write("more.toml", quick(40, 500));
  run_well({"sim", "more.toml", "-o", "more.json", "--threads", "2"});
  const counts more = counts_of(read("more.json"));
  for (const std::string& isa : isas) {
    SCOPED_TRACE(isa);
    run_well({"sim", "quick.toml", "-o", "r.json", "--force", "--threads", "1"}, isas.front());
    EXPECT_NE(counts_of(read("r.json")), more);
    // First to more errors, then to more frames, each time elsewhere.
    run_well({"sim", "--resume", "r.json", "--frame-errors", "40", "--threads", "2"}, isa);
    EXPECT_EQ(read("r.json")["scenario"]["overrides"]["frame_errors"], 40);
    const outcome o =
        run_well({"sim", "--resume", "r.json", "--max-frames", "500", "--threads", "1"}, isas.back());
    EXPECT_NE(o.out.find("goes on from r.json: "), std::string::npos) << o.out;
    const json r = read("r.json");
    EXPECT_EQ(counts_of(r), more);
    EXPECT_EQ(r["complete"], true);
    EXPECT_EQ(r["machine"]["instruction_set"], isas.back());
    EXPECT_EQ(r["earlier_runs"][0]["machine"]["instruction_set"], isas.front());
    EXPECT_EQ(r["earlier_runs"][0]["machine"]["threads"], 1);
    for (const json& c : r["curves"]) {
      EXPECT_EQ(c["config"]["stop"]["frame_errors"], 40);
      EXPECT_EQ(c["config"]["stop"]["max_frames"], 500);
    }
  }
  // The same overrides without --resume, and the other name of -o.
  run_well({"sim", "quick.toml", "--json", "o.json", "--frame-errors", "40", "--max-frames", "500"});
  EXPECT_EQ(counts_of(read("o.json")), more);
  // One that has enough: the same counts, by the same machines.
  run_well({"sim", "--resume", "o.json", "-o", "same.json", "--threads", "3"});
  EXPECT_EQ(content(path("same.json")), content(path("o.json")));
  EXPECT_EQ(run({"sim", "quick.toml", "-o", "s.json", "--max-seconds", "1e-9", "--threads", "1"}).code, 0);
  EXPECT_EQ(read("s.json")["curves"][0]["points"][2]["stopped_by"], "time");
  run_well(
      {"sim", "--resume", "s.json", "--max-seconds", "0", "--frame-errors", "40", "--max-frames", "500"});
  EXPECT_EQ(counts_of(read("s.json")), more);
}

TEST_F(resume, goes_on_with_points_and_curves_of_another_scenario) {
  run_well({"sim", "quick.toml", "-o", "r.json"});
  const std::string r = content(path("r.json"));
  std::string text = quick(9, 200) + "[[curve]]\nlabel = \"16-QAM\"\nmodem.modulation = \"16qam\"\n";
  text.replace(text.find("[0, 1.3, 2.6]"), 13, "[-1, 0, 0.7, 1.3, 2.6]");
  write("denser.toml", text);
  run_well({"sim", "denser.toml", "-o", "whole.json"});
  run_well({"sim", "--resume", "r.json", "denser.toml", "-o", "out.json"});
  EXPECT_EQ(counts_of(read("out.json")), counts_of(read("whole.json")));
  EXPECT_EQ(content(path("r.json")), r);
  EXPECT_EQ(read("out.json")["scenario"]["text"], text);

  write("other.toml", quick() + "decoder = { iterations = 8 }\ncode.type = \"lte-turbo\"\n");
  text = quick();
  text.replace(text.find("label = \"turbo\"\n"), 16, "label = \"turbo\"\ndecoder.iterations = 8\n");
  write("other.toml", text);
  expect_error(1, {"sim", "--resume", "r.json", "other.toml"},
               "r.json: curve \"turbo\" was run with decoder.iterations = 6, now 8: expected the same");
  write("fewer.toml", "title = \"quick\"\ncode.k = 40\nsweep.ebn0_db = 0\n[[curve]]\nlabel = \"turbo\"\n");
  expect_error(1, {"sim", "--resume", "r.json", "fewer.toml"},
               "holds a point at Eb/N0 = 1.3 dB that fewer.toml");
  EXPECT_EQ(content(path("r.json")), r);
}

TEST_F(resume, keeps_the_seed_it_was_begun_with) {
  run_well({"sim", "quick.toml", "-o", "whole.json", "--seed", "77", "--frame-errors", "20"});
  run_well({"sim", "quick.toml", "-o", "r.json", "--seed", "77"});
  EXPECT_EQ(read("r.json")["curves"][0]["config"]["seed"], 77);
  expect_error(2, {"sim", "--resume", "r.json", "--seed", "77"}, "--seed is not for --resume");
  run_well({"sim", "--resume", "r.json", "--frame-errors", "20"});
  EXPECT_EQ(counts_of(read("r.json")), counts_of(read("whole.json")));
}

TEST_F(resume, says_when_another_program_began) {
  run_well({"sim", "quick.toml", "-o", "r.json"});
  json r = read("r.json");
  r["warpband"]["commit"] = "0123456789ab";
  write("r.json", r.dump());
  const outcome quiet = run_well({"sim", "--resume", "r.json", "--quiet", "-o", "q.json"});
  EXPECT_EQ(quiet.err, "");
  const outcome o = run_well({"sim", "--resume", "r.json", "--frame-errors", "9"});
  EXPECT_TRUE(o.err.starts_with("warpband: note: r.json was written by warpband ")) << o.err;
  EXPECT_NE(o.err.find("(commit 0123456789ab), this is "), std::string::npos) << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  const json resumed = read("r.json");
  EXPECT_EQ(resumed["earlier_runs"].size(), 1u);
  EXPECT_EQ(resumed["earlier_runs"][0]["warpband"]["commit"], "0123456789ab");
  EXPECT_EQ(resumed["warpband"]["commit"], wb::commit());
}

TEST_F(resume, refuses_what_is_no_result_and_leaves_it) {
  run_well({"sim", "quick.toml", "-o", "r.json"});
  const std::string good = content(path("r.json"));
  const auto refused = [&](const std::string& text, const std::string& part) {
    write("bad.json", text);
    expect_error(1, {"sim", "--resume", "bad.json"}, "bad.json: " + part);
    EXPECT_EQ(content(path("bad.json")), text);
  };
  refused("", "not a result: not JSON");
  refused(good.substr(0, good.size() / 2), "not a result: not JSON, or cut off, in line");
  refused("{}", "not a result: scenario is missing");
  json j = wb::testing::parse_json(good);
  j["curves"][0]["points"][0]["frame_errors"] = 999;
  refused(j.dump(),
          "not a result: curves[0].points[0].frame_errors = 999 is not allowed: expected an integer");
  j = wb::testing::parse_json(good);
  j["scenario"].erase("overrides");
  refused(j.dump(), "was written before results could be resumed");
  expect_error(1, {"sim", "--resume", "missing.json"}, "missing.json: cannot read");
  expect_error(1, {"sim", "--resume", "."}, "cannot read: it is a folder");
  expect_error(1, {"sim", "--resume", "r.json", "missing.toml"}, "missing.toml: cannot read");
  expect_error(1, {"sim", "--resume", "r.json", "quick.toml", "-o", "quick.toml"}, "is read by this run");
  expect_error(2, {"sim", "--resume", ""}, "--resume: the name of the file is empty");
  expect_error(2, {"sim", "quick.toml", "--checkpoint", "1"}, "add -o");
  expect_error(2, {"sim", "quick.toml", "-o", "o.json", "--checkpoint", "31"},
               "a number of seconds from 0 to 30");
  expect_error(2, {"sim", "quick.toml", "-o", "o.json", "--checkpoint", "nan"}, "\"nan\" is not allowed");
  expect_error(2, {"sim", "quick.toml", "--max-frames", "0"}, "expected an integer from 1 to");
  expect_error(2, {"sim", "quick.toml", "--max-seconds", "-1"}, "a number of seconds from 0 to 1e9");
  expect_error(2, {"sim", "quick.toml", "--frame-errors", "many"}, "\"many\" is not allowed");
  EXPECT_EQ(content(path("r.json")), good);
  EXPECT_FALSE(fs::exists(folder_ / "o.json"));
}

TEST_F(resume, removes_what_a_killed_write_left) {
  const std::string left = "r.json.tmp999999999-0", others = "x" + left;  // more than any process's number
  write(left, "{");
  write(others, "{");
  run_well({"sim", "quick.toml", "-o", "r.json"});
  EXPECT_FALSE(fs::exists(folder_ / left));
  EXPECT_TRUE(fs::exists(folder_ / others));
}

}  // namespace resume_test
