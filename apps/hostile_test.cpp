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
#include <warpband/core/printable.hpp>
#include <warpband/io/hdf5.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/ofdm/fft/fft.hpp>

namespace hostile_test {

namespace fs = std::filesystem;
using wb::testing::outcome;

class hostile : public ::testing::Test, protected wb::testing::command_folder {
 protected:
  static std::string repeated(const std::string& text, int times) {
    std::string joined;
    for (int i = 0; i < times; i++) joined += text;
    return joined;
  }
};

#if WARPBAND_HDF5

/// Files that made libhdf5 overwrite its stack, crash, loop, wait for ever or fill the memory: those that
/// fuzzers found, and those beside the reference data.
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
    for (const std::string& arguments :
         {"decode " + name + " -o out.h5 --code conv",
          "encode " + name + " -o out.h5 --code conv --memory 64M",
          "detect " + name + " -o out.h5 --qam 16 --detector mmse --untrusted",
          std::string("sim sim.toml --quiet"), std::string("stream stream.toml --quiet")}) {
      const outcome o = run(arguments, "timeout 600");
      EXPECT_EQ(o.code, 1) << name << ": " << arguments << "\n" << o.err;
      EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << name << ": " << arguments << o.err;
    }
  }
  EXPECT_FALSE(fs::exists(path("out.h5")));
}

/// In this process a file may leave libhdf5 unable to clean up: the command ends as it says all the same.
TEST_F(hostile, a_trusted_file_with_damage_does_not_crash_the_command_at_its_end) {
  fs::copy(fs::path(WARPBAND_SOURCE_DIR) / "tests/fuzz/seeds/hdf5/external_list_empty_name.h5", folder_);
  for (const std::string command : {"encode", "decode"}) {
    const outcome o = run(command + " external_list_empty_name.h5 -o out.h5 --code lte-turbo --trusted",
                          "env ASAN_OPTIONS=detect_leaks=0");  // libhdf5 keeps what it read
    EXPECT_EQ(o.code, 1) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
}

/// A command that was copied without the program that reads for it.
TEST_F(hostile, a_command_without_its_program_names_it) {
  fs::create_directories(path("bin"));
  fs::copy(WARPBAND_COMMAND, path("bin/warpband"));
  fs::copy(fs::path(WARPBAND_SOURCE_DIR) / "tests/fuzz/seeds/hdf5/good_llr.h5", folder_);
  // In the working folder and in PATH: not what is looked for.
  write("warpband-hdf5", "#!/bin/sh\ntouch was_here\n");
  fs::permissions(path("warpband-hdf5"), fs::perms::owner_all);
  write("copy.sh", "shift\nPATH=$PWD:$PATH exec '" + path("bin/warpband") + "' \"$@\"\n");
  if (access("/usr/local/libexec/warpband/warpband-hdf5", X_OK) == 0) GTEST_SKIP() << "one is installed";
  const std::string missing = "libexec/warpband/warpband-hdf5: it reads HDF5 files and cannot be started: ";
  const outcome o = run("decode good_llr.h5 -o out.h5 --code conv", "sh copy.sh");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find(missing), std::string::npos) << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  const outcome info = run("info", "sh copy.sh");
  EXPECT_EQ(info.code, 0);
  EXPECT_NE(info.out.find(missing), std::string::npos) << info.out;
  EXPECT_FALSE(fs::exists(path("was_here")));
}

TEST_F(hostile, info_says_what_reads_files_and_how_it_is_confined) {
  const wb::hdf5_program about = wb::about_hdf5_program();
  const auto json = wb::testing::parse_json(run("info --json").out)["hdf5"];
  EXPECT_EQ(json["seccomp"], about.seccomp);
  EXPECT_EQ(json["landlock"], about.landlock);
  EXPECT_EQ(json["library"], about.library);
  const std::string text = run("info").out;
  EXPECT_NE(text.find(about.seccomp ? "confined by seccomp" : "NOT confined by seccomp"), std::string::npos);
}

TEST_F(hostile, a_trusted_file_gives_the_same_result) {
  {
    wb::hdf5_writer w(path("bits.h5"));
    w.create<std::uint8_t>("bits", {100, 40});
    std::vector<std::uint8_t> bits(4000);
    for (std::size_t i = 0; i < bits.size(); i++) bits[i] = i % 7 == 0;
    w.write("bits", 0, 100, bits.data());
    w.commit();
  }
  std::vector<std::string> results;
  for (const std::string mode : {"", " --trusted", " --untrusted"}) {
    EXPECT_EQ(run("encode bits.h5 --code conv -o out.h5 --force" + mode).code, 0) << content(path("err.txt"));
    results.push_back(content(path("out.h5")));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

#endif

/// Modules, programs and settings beside downloaded results: nothing of them is executed.
TEST_F(hostile, code_of_the_working_folder_does_not_run) {
  const std::string note =
      "import os\nopen(os.path.join(" + ("'" + path() + "'") + ", 'ran'), 'a').write(__name__)\n";
  for (const char* module :
       {"matplotlib", "numpy", "cycler", "PIL", "sitecustomize", "usercustomize", "json", "csv", "argparse",
        "pathlib", "encodings", "reproduce", "warpband", "_error_rates", "_theory", "plot"})
    write(module + std::string(".py"), note);
  for (const char* program :
       {"python3", "python", "plot.py", "plot_front.py", "plot_exit.py", "plot_receive.py"}) {
    write(program, "#!/bin/sh\ntouch '" + path("ran") + "'\n");
    fs::permissions(folder_ / program, fs::perms::owner_all);
  }
  write("pyvenv.cfg", "home = .\n");
  fs::create_directories(folder_ / "scripts");
  fs::create_directories(folder_ / "curves");
  fs::create_directories(folder_ / "bench/results");
  write("scripts/make_sounding.py", note);
  write("quick.toml", "code.k = 40\nsweep.ebn0_db = 0\nstop = {frame_errors = 1, max_frames = 10}\n");
  write("awgn.toml", "code = { type = \"none\", k = 50 }\nsweep.ebn0_db = 1\n");
  ASSERT_EQ(run("sim quick.toml -o r.json --quiet").code, 0);
  // Whether this machine has matplotlib or not: to look for it is to start Python.
  const auto expect_nothing_runs = [&](const std::string& arguments, const std::string& before = "") {
    const outcome o = run(arguments, before);
    EXPECT_FALSE(fs::exists(path("ran"))) << before << " " << arguments << ": " << content(path("ran"));
    EXPECT_NE(o.code, 128) << o.err;
  };
  for (const char* arguments :
       {"plot r.json -o p.svg", "plot r.json --csv t.csv", "sim quick.toml --quiet --plot q.png",
        "choose awgn.toml --fer 0.3 --width 1 --max-frames 2000 --quiet --plot f.svg", "reproduce",
        "reproduce nothing", "info"})
    expect_nothing_runs(arguments);
  if (wb::has_cpu_fft()) {
    write("f.iq", std::string(8000, '\0'));
    expect_nothing_runs("receive f.iq --rate 3.84e6 --spacing 15 --quiet --plot s.png");
  }
  expect_nothing_runs("plot r.json --csv t.csv", "PYTHONPATH=. PYTHONHOME= PYTHONSTARTUP=numpy.py");
  expect_nothing_runs("plot r.json --csv t.csv", "PATH=.:$PATH WARPBAND_PYTHON=python3");
}

/// A matplotlibrc in the working folder changes no figure.
TEST_F(hostile, settings_of_the_working_folder_change_no_figure) {
  write("quick.toml", "code.k = 40\nsweep.ebn0_db = 0\nstop = {frame_errors = 1, max_frames = 10}\n");
  ASSERT_EQ(run("sim quick.toml -o r.json --quiet").code, 0);
  const outcome before = run("plot r.json -o a.svg");
  if (before.code != 0) GTEST_SKIP() << "no matplotlib here: " << before.err;
  write("matplotlibrc", "text.usetex: True\naxes.facecolor: red\nsvg.fonttype: none\n");
  const outcome after = run("plot r.json -o b.svg");
  EXPECT_EQ(after.code, 0) << after.err;
  EXPECT_EQ(content(path("a.svg")), content(path("b.svg")));
}

/// In a folder that is not `bin`, as one for downloads, the neighbours are anybody's.
TEST_F(hostile, a_program_elsewhere_starts_nothing_beside_it) {
  for (const char* folder : {"share/warpband", "here", "bin"}) fs::create_directories(folder_ / folder);
  for (const char* name :
       {"share/warpband/plot.py", "share/warpband/_error_rates.py", "pyvenv.cfg", "bin/python"})
    write(name, "#!/bin/sh\ntouch '" + path("ran") + "'\n");
  fs::permissions(folder_ / "bin/python", fs::perms::owner_all);
  write("quick.toml", "code.k = 40\nsweep.ebn0_db = 0\nstop = {frame_errors = 1, max_frames = 10}\n");
  ASSERT_EQ(run("sim quick.toml -o r.json --quiet").code, 0);
  std::error_code other_disk;
  fs::create_hard_link(WARPBAND_COMMAND, folder_ / "here/warpband", other_disk);
  if (other_disk) fs::copy_file(WARPBAND_COMMAND, folder_ / "here/warpband");
  const std::string line =
      "cd '" + path() + "' && here/warpband plot r.json --csv t.csv > out.txt 2> err.txt";
  const int status = std::system(line.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_NE(content(path("err.txt")).find("plot.py was not found: set WARPBAND_PLOT"), std::string::npos)
      << content(path("err.txt"));
  EXPECT_FALSE(fs::exists(path("ran")));
}

/// What a terminal obeys or does not show: none of it comes from titles, labels, versions or names of files.
TEST_F(hostile, no_file_steers_the_terminal) {
  // OSC 52 (the clipboard), C1 in UTF-8 and as a byte, a right-to-left override, an isolate.
  const std::string shown = "\\x1b]52;c;QQ==\\x07\\x9b31m\\u202e\\u2066x";
  const std::string toml = "\\u001b]52;c;QQ==\\u0007\\u009b31m\\u202e\\u2066x",
                    raw =
                        "\x1b]52;c;QQ==\x07\xc2\x9b"
                        "31m\xe2\x80\xae\xe2\x81\xa6x";
  const auto expect_harmless = [&](const outcome& o, const std::string& label) {
    for (const std::string& text : {o.out, o.err})
      for (const char* bad : {"\x1b", "\x07", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\x7f"})
        EXPECT_EQ(text.find(bad), std::string::npos) << label << ": " << wb::printable_lines(text);
    EXPECT_NE((o.out + o.err).find("52;c;QQ"), std::string::npos) << label << ": " << o.out << o.err;
  };
  write("s.toml", "title = \"" + toml +
                      "\"\ncode.k = 40\nsweep.ebn0_db = 0\nstop.max_frames = 10\n[[curve]]\nlabel = \"" +
                      toml + "\"\n[[curve]]\nlabel = \"b\"\nseed = 2\n");
  write("t.toml",
        "title = \"" + toml +
            "\"\nstream = {chain = \"detect\", items = 4, frames = 4, warmup = 1, stages = false}\n"
            "mimo = {streams = 2, rx_antennas = 2}\nmodem.modulation = \"qpsk\"\n[[run]]\nlabel = \"" +
            toml + "\"\n");
  ASSERT_EQ(run("sim s.toml -o r.json --quiet").code, 0);
  std::string result = content(path("r.json"));
  const std::string version = "\"version\": \"";
  result.insert(result.find(version) + version.size(), toml);
  write("v.json", result);
  write("bad.toml", "\"" + toml + "\" = 1\n");
  write("bad.json",
        "{\"scenario\": {\"overrides\": {}}, \"warpband\": 0, \"machine\": 0, \"curves\": [], \"" + toml +
            "\": 1}");
  write(raw + ".toml", "code.k = 0\n");
  for (const std::string& arguments :
       {std::string("sim s.toml"), std::string("sim s.toml --csv -"), std::string("sim s.toml -o - --quiet"),
        std::string("sim --resume v.json -o w.json --frame-errors 5"), std::string("stream t.toml"),
        std::string("stream t.toml --json -"), std::string("sim bad.toml"), std::string("stream bad.toml"),
        std::string("sim --resume bad.json"), std::string("plot r.json --csv -"), "sim '" + raw + ".toml'",
        "sim '" + raw + "'", "decode '" + raw + "' -o x.h5 --code conv", "info '--" + raw + "'",
        "sim s.toml --metric '" + raw + "' --plot p.png"})
    expect_harmless(run(arguments), arguments);
  EXPECT_NE(run("sim s.toml --quiet").out.find(shown), std::string::npos);
  // The texts themselves stay what they are, in files and in JSON.
  const auto printed = wb::testing::parse_json(run("sim s.toml -o - --quiet").out);
  EXPECT_EQ(printed["curves"][0]["label"], raw);
}

/// A closed descriptor must not become that of the result, into which tables and progress would be written.
TEST_F(hostile, closed_descriptors_do_not_reach_the_result) {
  write("quick.toml", "code.k = 40\nsweep.ebn0_db = [0, 1]\nstop = {frame_errors = 1, max_frames = 10}\n");
  for (const char* closed : {"<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    const std::string line =
        "cd '" + path() + "' && '" WARPBAND_COMMAND "' sim quick.toml --force -o r.json " + closed;
    fs::remove(path("r.json"));
    const int status = std::system(line.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 0) << closed;
    EXPECT_EQ(wb::testing::parse_json(content(path("r.json")))["complete"], true) << closed;
  }
}

/// `plot` draws no result that `sim --resume` refuses.
TEST_F(hostile, one_reader_serves_plot_and_resume) {
  write("quick.toml", "code.k = 40\nsweep.ebn0_db = 0\nstop = {frame_errors = 20, max_frames = 50}\n");
  ASSERT_EQ(run("sim quick.toml -o r.json --quiet").code, 0);
  const std::string good = content(path("r.json"));
  for (const auto& [key, value] : {std::pair("frames", 3), {"bit_errors", -1}, {"iterations_sum", 1000000}}) {
    auto r = wb::testing::parse_json(good);
    r["curves"][0]["points"][0][key] = value;
    write("bad.json", r.dump());
    const outcome resumed = run("sim --resume bad.json"), drawn = run("plot bad.json --csv t.csv");
    expect_error(1, resumed, "bad.json: not a result: curves[0].points[0].");
    expect_error(1, drawn, "bad.json: not a result: curves[0].points[0].");
    EXPECT_FALSE(fs::exists(path("t.csv")));
  }
  const outcome drawn = run("plot r.json --csv t.csv");
  if (drawn.code == 0) {  // there is a Python here
    EXPECT_NE(content(path("t.csv")).find("ebn0_db"), std::string::npos);
  }
}

TEST_F(hostile, scenarios_are_bounded) {
  write("deep.toml", repeated("a.", 100000) + "b = 1\n");
  write("long.toml", "title = \"" + std::string(2 << 20, 'x') + "\"\n");
  write("many.toml",
        "stream.items = 4\nlabel = \"" + std::string(9000, 'x') + "\"\n" + repeated("[[run]]\n", 60000));
  expect_error(1, "stream many.toml", "60000 [[run]] tables: at most 1000");
  write("title.toml", "title = \"" + std::string(20000, 'x') + "\"\n");
  for (const std::string command : {"sim ", "stream ", "choose "}) {
    expect_error(1, command + "title.toml", "title = a text of more than 10000 bytes is not allowed");
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
