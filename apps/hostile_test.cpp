// The command with files that mean harm, signals, full disks and rivals: one line, exit 1.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <thread>

#include <tests/command.hpp>
#include <tests/json.hpp>
#include <warpband/io/hdf5.hpp>
#include <warpband/io/replacement.hpp>

namespace hostile_test {

namespace fs = std::filesystem;
using wb::testing::outcome;

class hostile : public ::testing::Test, protected wb::testing::command_folder {
 protected:
  static std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; i++) all += text;
    return all;
  }
};

#if WARPBAND_HDF5

/// Files that made libhdf5 overwrite its stack, crash, loop, wait for ever or fill the memory: those that
/// fuzzers found, and those beside the reference data. Files named untrusted_ still crash it: only
/// --untrusted survives those, and SECURITY.md names their faults.
TEST_F(hostile, files_that_mean_harm_are_refused_by_every_command) {
  std::vector<std::string> names;
  for (const fs::path& folder : {fs::path(WARPBAND_SOURCE_DIR) / "tests/fuzz/seeds/hdf5",
                                 fs::path(WARPBAND_REFDATA).parent_path() / "badfiles"}) {
    std::error_code missing;
    for (const auto& e : fs::directory_iterator(folder, missing)) {
      const std::string name = e.path().filename().string();
      if (name.starts_with("good_") || e.path().extension() != ".h5") continue;
      fs::copy(e.path(), folder_);
      names.push_back(name);
    }
  }
  if (names.empty()) GTEST_SKIP() << "no files beside the reference data " WARPBAND_REFDATA;
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  for (const std::string& name : names) {
    write("sim.toml",
          "code = {type = \"none\"}\nmodem.modulation = \"qpsk\"\nchannel = {type = \"file\", file = \"" +
              name +
              "\"}\nmassive = {solver = \"cholesky\", antennas = 4, users = 2}\nsweep.snr_db = 5\n"
              "stop = {frame_errors = 0, max_frames = 4}\n");
    write("stream.toml", "stream = {chain = \"detect\", items = 4, frames = 4, warmup = 1, source = \"" +
                             name +
                             "\"}\nmimo = {streams = 2, rx_antennas = 2}\nmodem.modulation = \"qpsk\"\n");
    for (const char* mode : {"", " --untrusted"}) {
      if (*mode == 0 && name.starts_with("untrusted_")) continue;
      for (const std::string& arguments :
           {"decode " + name + " -o out.h5 --code conv",
            "encode " + name + " -o out.h5 --code conv --memory 64M",
            "detect " + name + " -o out.h5 --qam 16 --detector mmse", std::string("sim sim.toml --quiet"),
            std::string("stream stream.toml --quiet")}) {
        const outcome o = run(arguments + mode, "timeout 600");
        EXPECT_EQ(o.code, 1) << name << ": " << arguments << mode << "\n" << o.err;
        EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1)
            << name << ": " << arguments << mode << o.err;
      }
    }
  }
  EXPECT_FALSE(fs::exists(path("out.h5")));
}

TEST_F(hostile, an_untrusted_file_gives_the_same_result) {
  {
    wb::hdf5_writer w(path("bits.h5"));
    w.create<std::uint8_t>("bits", {100, 40});
    std::vector<std::uint8_t> bits(4000);
    for (std::size_t i = 0; i < bits.size(); i++) bits[i] = i % 7 == 0;
    w.write("bits", 0, 100, bits.data());
    w.commit();
  }
  for (const std::string mode : {"", " --untrusted"})
    EXPECT_EQ(run("encode bits.h5 --code conv -o " + std::string(mode.empty() ? "a.h5" : "b.h5") + mode).code,
              0)
        << content(path("err.txt"));
  EXPECT_EQ(wb::hdf5_reader(path("a.h5")).read<std::uint8_t>("bits"),
            wb::hdf5_reader(path("b.h5")).read<std::uint8_t>("bits"));
}

#endif

TEST_F(hostile, scenarios_are_bounded) {
  write("deep.toml", repeated("a.", 100000) + "b = 1\n");
  write("long.toml", "title = \"" + std::string(2 << 20, 'x') + "\"\n");
  for (const std::string command : {"sim ", "stream ", "choose "}) {
    expect_error(1, command + "deep.toml", "line 1: a key has more than 32 parts");
    expect_error(1, command + "long.toml", "larger than 1 MiB: not a scenario");
    expect_error(1, command + "/dev/zero", "");
  }
}

TEST_F(hostile, memory_is_bounded) {
  expect_error(2, "info --memory many", "expected a size like 512M");
  expect_error(2, "info --memory 0", "expected a size like 512M");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // with them there is no bound
  // The bound leaves room for the stacks of as many threads as the machine has, at most 8.4 MB each. H of a
  // frame has 640 MB and 12.8 MB more for each of them.
  const std::uint64_t items = 20'000'000 + std::uint64_t{400'000} * std::thread::hardware_concurrency();
  write("large.toml", "stream = {chain = \"detect\", items = " + std::to_string(items) +
                          ", frames = 4, warmup = 1}\n"
                          "mimo = {streams = 2, rx_antennas = 2}\nmodem.modulation = \"qpsk\"\n");
  const outcome o = run("stream large.toml --quiet --memory 16M");
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.err, "warpband: error: out of memory\n");
#endif
}

TEST_F(hostile, what_cannot_be_written_is_an_error) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  for (const std::string arguments :
       {"--help", "--version", "sim --help", "sim --help-scenario", "info", "completion bash"}) {
    const std::string line =
        std::string("'") + WARPBAND_COMMAND + "' " + arguments + " > /dev/full 2> '" + path("err.txt") + "'";
    const int status = std::system(line.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << arguments;
    EXPECT_EQ(content(path("err.txt")), "warpband: error: cannot write to standard output\n") << arguments;
  }
}

TEST_F(hostile, two_runs_do_not_write_one_file) {
  write("quick.toml", "code.k = 40\nsweep.ebn0_db = 0\nstop = {frame_errors = 1, max_frames = 10}\n");
  {
    const wb::output_claim other(path("r.json"));
    expect_error(1, "sim quick.toml -o r.json --quiet", "r.json: another run writes it");
    EXPECT_FALSE(fs::exists(path("r.json")));
  }
  EXPECT_EQ(run("sim quick.toml -o r.json --quiet").code, 0);
  const wb::output_claim other(path("r.json"));
  expect_error(1, "sim --resume r.json --frame-errors 9 --quiet", "r.json: another run writes it");
}

/// The terminal is closed while frames are made.
TEST_F(hostile, generating_frames_can_be_interrupted) {
  write("large.toml",
        "stream = {chain = \"detect\", items = 2000000, frames = 4, warmup = 1}\nmimo = {streams = 2, "
        "rx_antennas = 2}\n"
        "modem.modulation = \"qpsk\"\n");
  const pid_t child = fork();
  if (child == 0) {
    const int out = open(path("out.txt").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600),
              err = open(path("err.txt").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, 1);
    dup2(err, 2);
    execl(WARPBAND_COMMAND, "warpband", "stream", path("large.toml").c_str(), "--quiet", nullptr);
    _exit(127);
  }
  int status = 0;
  while (content(path("out.txt")).find("us/frame") == std::string::npos) {
    ASSERT_EQ(waitpid(child, &status, WNOHANG), 0) << content(path("err.txt"));
    usleep(1000);
  }
  kill(child, SIGHUP);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(content(path("err.txt")),
            "warpband: error: interrupted before the first frame was sent: nothing was run\n");
}

/// A signal while frames of the second run are made: the first one has its row and its record.
TEST_F(hostile, an_interrupted_stream_keeps_the_runs_that_are_finished) {
  write("two.toml",
        "stream = {chain = \"detect\", warmup = 1}\nmimo = {streams = 2, rx_antennas = 2}\n"
        "modem.modulation = \"qpsk\"\n"
        "[[run]]\nlabel = \"first\"\nstream = {items = 4, frames = 8}\n"
        "[[run]]\nlabel = \"second\"\nstream = {items = 2000000, seconds = 1e6}\n");
  // Terminated, once the first row is in the table, by what started it.
  write("interrupted.sh",
        "(until grep -q '^first' err.txt; do kill -0 $$ || exit; sleep 0.01; done\nkill -TERM $$) &\n"
        "exec \"$@\"\n");
  const outcome o = run("stream two.toml --quiet --json -", "sh interrupted.sh");
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_NE(o.err.find("\nfirst "), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("\nwarpband: error: interrupted: 1 of 2 runs finished"), std::string::npos) << o.err;
  const auto result = wb::testing::parse_json(o.out);
  EXPECT_EQ(result["runs"][0]["label"], "first");
  EXPECT_EQ(result["runs"][0]["counters"]["delivered"], 8);
}

}  // namespace hostile_test
