// The command where memory, reads and writes fail at any call (tests/faults.cpp): an exit code and one line,
// and files that are there in full or not at all.
#include <set>
#include <string>

#include <tests/command.hpp>
#include <tests/json.hpp>

namespace faults_test {

namespace fs = std::filesystem;
using wb::testing::outcome;

class faults : public ::testing::Test, protected wb::testing::command_folder {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer has its own malloc";
#endif
    const outcome loaded = run_with("malloc:0", "--version", "WARPBAND_CALLS=calls.txt");
    if (loaded.code != 0 || !loaded.err.empty() || !fs::exists(path("calls.txt")))
      GTEST_SKIP() << "no library is loaded before others here: " << loaded.err;
    write("quick.toml", "code.k = 40\nsweep.ebn0_db = [0, 1]\nstop = {frame_errors = 1, max_frames = 10}\n");
    write("stream.toml",
          "stream = {chain = \"detect\", items = 4, frames = 4, warmup = 1, stages = false}\n"
          "mimo = {streams = 2, rx_antennas = 2}\nmodem.modulation = \"qpsk\"\n");
  }
  outcome run_with(const std::string& fault, const std::string& arguments,
                   const std::string& more = "") const {
    return run(arguments, more + " LD_PRELOAD='" WARPBAND_FAULTS "' WARPBAND_FAULT=" + fault);
  }
  /// Calls of a kind that a run without a fault makes.
  long calls(const std::string& kind, const std::string& arguments) const {
    EXPECT_EQ(run_with(kind + ":0", arguments, "WARPBAND_CALLS=calls.txt").code, 0) << arguments;
    return std::stol(content(path("calls.txt")));
  }
  /// The first calls, and some among the rest, the same ones in each run of the test.
  static std::set<long> some_of(long total, int first, int rest) {
    std::set<long> some;
    for (long n = 1; n <= std::min<long>(total, first); n++) some.insert(n);
    for (int i = 0; i < rest; i++) some.insert(1 + (2 * i + 1) * total / (2 * rest) % std::max(total, 1L));
    return some;
  }
  /// Makes a call of each kind fail, alone and with all after it.
  void expect_ends_well(const std::string& arguments, const std::set<std::string>& outputs, int first,
                        int rest) const {
    for (const std::string kind : {"malloc", "read", "write"}) {
      const long total = calls(kind, arguments);
      for (const long n : some_of(total, first, rest))
        for (const char* and_later : {"", "+"}) {
          for (const std::string& name : outputs) fs::remove(path(name));
          const std::string fault = kind + ":" + std::to_string(n) + and_later;
          const outcome o = run_with(fault, arguments);
          EXPECT_TRUE(o.code == 0 || o.code == 1) << fault << " " << arguments << ": " << o.code << "\n"
                                                  << o.err;
          if (o.code == 1) {
            EXPECT_TRUE(o.err.starts_with("warpband: error: ")) << fault << " " << arguments << "\n" << o.err;
            EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << fault << "\n" << o.err;
          }
          for (const std::string& name : outputs)
            if (fs::exists(path(name))) {
              EXPECT_NO_THROW(wb::testing::parse_json(content(path(name)))) << fault << " " << arguments;
            } else {
              EXPECT_EQ(o.code, 1) << fault << " " << arguments;
            }
        }
    }
  }
};

TEST_F(faults, end_the_command_line_with_one_line) { expect_ends_well("--version", {}, 20, 40); }
TEST_F(faults, end_a_simulation_with_its_counts_or_none) {
  expect_ends_well("sim quick.toml -o r.json --quiet --threads 1 --force", {"r.json"}, 5, 40);
}
TEST_F(faults, end_a_resumed_simulation) {
  ASSERT_EQ(run("sim quick.toml -o r.json --quiet").code, 0);
  expect_ends_well("sim --resume r.json -o s.json --frame-errors 5 --quiet --threads 1 --force", {"s.json"},
                   5, 20);
}
TEST_F(faults, end_a_stream) {
  expect_ends_well("stream stream.toml --json t.json --quiet --threads 1", {"t.json"}, 5, 20);
}

}  // namespace faults_test
