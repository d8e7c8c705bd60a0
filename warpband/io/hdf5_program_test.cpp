// The program that reads HDF5 files: started, asked, missing, wrong, hostile; nothing of it is left behind.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <warpband/io/hdf5.hpp>
#include <warpband/io/hdf5_messages.hpp>

namespace hdf5_program_test {

namespace fs = std::filesystem;

class hdf5_program : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("warpband_hdf5_program_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// A file with an array x of [rows, columns] float32: 0, 1, 2, ...
  std::string written(const std::string& name, std::size_t rows, std::size_t columns) const {
    std::vector<float> x(rows * columns);
    for (std::size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i);
    wb::hdf5_writer file(path(name));
    file.create<float>("x", {rows, columns});
    file.write("x", 0, rows, x.data());
    file.set({{"k", std::int64_t{40}}});
    file.commit();
    return path(name);
  }
  /// A program that does what these lines of a shell do.
  std::string script(const std::string& name, const std::string& lines) const {
    std::ofstream(path(name)) << "#!/bin/sh\n" << lines << "\n";
    fs::permissions(path(name), fs::perms::owner_all);
    return path(name);
  }
  /// What hdf5_reader throws that is to use this program.
  static std::string failure(const std::string& file, const wb::hdf5_access& access) {
    try {
      const wb::hdf5_reader reader(file, access);
      (void)reader.read<float>("x");
    } catch (const wb::error& e) {
      return e.what();
    }
    return "";
  }
  static std::size_t descriptors() {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(hdf5_program, says_what_it_is) {
  const wb::hdf5_program about = wb::about_hdf5_program();
  EXPECT_TRUE(about.path.ends_with("/warpband-hdf5")) << about.path;
  EXPECT_TRUE(about.path.starts_with('/')) << about.path;
  EXPECT_EQ(about.library.find("1."), 0u) << about.library;
}

TEST_F(hdf5_program, a_missing_or_wrong_program_is_named) {
  const std::string file = written("x.h5", 2, 3);
  EXPECT_EQ(failure(file, {.program = path("none")}),
            path("none") + ": it reads HDF5 files and cannot be started: No such file or directory");
  std::ofstream(path("plain")) << "text";
  EXPECT_EQ(failure(file, {.program = path("plain")}),
            path("plain") + ": it reads HDF5 files and cannot be started: Permission denied");
  EXPECT_EQ(
      failure(file, {.program = script("ends", "exit 3")}),
      path("ends") + ": it reads HDF5 files and did not start: the program that read it ended: exit code 3");
  EXPECT_EQ(failure(file, {.program = script("talks", "printf '\\003\\000\\000\\000abc' >&3; sleep 100")}),
            path("talks") + ": it is not warpband-hdf5 of this version of Warpband");
  EXPECT_EQ(failure(file, {.program = script("shouts", "exec /bin/cat /dev/zero >&3")}),
            path("shouts") + ": it is not warpband-hdf5 of this version of Warpband");
  EXPECT_EQ(failure(file, {}), "");
}

/// The working folder and PATH are not searched, and nothing of the environment is handed on.
TEST_F(hdf5_program, is_taken_from_beside_the_library_alone) {
  const std::string file = written("x.h5", 2, 3);
  script("warpband-hdf5", "touch '" + path("was_here") + "'");
  const char* set = std::getenv("PATH");
  const std::string before = set != nullptr ? set : "";
  const fs::path working = fs::current_path();
  setenv("PATH", folder_.c_str(), 1);
  fs::current_path(folder_);
  EXPECT_EQ(failure(file, {}), "");
  fs::current_path(working);
  setenv("PATH", before.c_str(), 1);
  EXPECT_FALSE(fs::exists(path("was_here")));

  setenv("WARPBAND_SECRET", "x", 1);
  (void)failure(file, {.program = script("environment", "/usr/bin/env > '" + path("environment.txt") + "'")});
  unsetenv("WARPBAND_SECRET");
  std::ifstream text(path("environment.txt"));
  const std::string environment{std::istreambuf_iterator<char>(text), {}};
  EXPECT_EQ(environment.find("WARPBAND_SECRET"), std::string::npos) << environment;
}

TEST_F(hdf5_program, has_no_blocked_signal_and_a_process_group_of_its_own) {
  const std::string file = written("x.h5", 2, 3);
  sigset_t blocked, before;
  sigfillset(&blocked);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  // Without another process: a shell blocks signals while it starts one.
  const std::string lines =
      "for f in stat status; do while read -r line; do echo \"$line\"; done < /proc/self/$f; "
      "done > '" +
      path("shown.txt") + "'";
  (void)failure(file, {.program = script("shown", lines)});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::ifstream text(path("shown.txt"));
  const std::string status{std::istreambuf_iterator<char>(text), {}};
  EXPECT_NE(status.find("SigBlk:\t0000000000000000"), std::string::npos) << status;
  const std::size_t fields = status.find(") ");  // of stat: state, parent, process group
  ASSERT_NE(fields, std::string::npos) << status;
  std::istringstream numbers(status.substr(fields + 2));
  std::string state;
  pid_t parent = 0, group = 0;
  numbers >> state >> parent >> group;
  EXPECT_EQ(parent, getpid());
  EXPECT_NE(group, getpgrp());
}

/// Also where its parent has none of descriptors 0 to 2, and its own descriptors are those of the program.
TEST_F(hdf5_program, works_without_standard_descriptors) {
  const std::string file = written("x.h5", 2, 3);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto read = [&] {
    for (int i = 0; i < 3; i++) close(i);
    const bool good = failure(file, {}).empty();
    std::_Exit(good ? 7 : 8);
  };
  EXPECT_EXIT(read(), ::testing::ExitedWithCode(7), "");
}

TEST_F(hdf5_program, reads_pieces_of_any_size) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {7, 300000}, {3000, 1111}, {1, 5000000}}) {
    const std::string file = written("x.h5", rows, columns);
    const wb::hdf5_reader reader(file, {});
    EXPECT_EQ(reader.read<float>("x"), wb::hdf5_reader(file, {.trusted = true}).read<float>("x"));
    std::vector<float> some(columns * 2);
    if (rows > 2) {
      reader.read("x", rows - 2, 2, some.data());
      EXPECT_EQ(some.back(), static_cast<float>(rows * columns - 1));
    }
    EXPECT_THROW(reader.read("x", rows, 1, some.data()), wb::shape_error);
    EXPECT_EQ(reader.attribute("", "k"), wb::hdf5_attribute(std::int64_t{40}));  // the answers are in order
  }
}

TEST_F(hdf5_program, a_limit_on_the_size_of_files_is_an_error) {
  const std::string file = written("x.h5", 4, 3000000);
  const std::string small = written("small.h5", 4, 30);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto read = [&] {
    const rlimit limit{8 << 20, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string text = failure(file, {});
    std::_Exit(
        text.find("(ulimit -f) is below a row") != std::string::npos && failure(small, {}).empty() ? 7 : 8);
  };
  EXPECT_EXIT(read(), ::testing::ExitedWithCode(7), "");
}

TEST_F(hdf5_program, threads_read_different_files_at_once) {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < 4; i++) files.push_back(written("x" + std::to_string(i) + ".h5", 10 + i, 50));
  std::vector<std::size_t> right(files.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < files.size(); i++)
    threads.emplace_back([&, i] {
      for (int n = 0; n < 5; n++) right[i] += wb::hdf5_reader(files[i]).read<float>("x").size();
    });
  for (std::thread& t : threads) t.join();
  for (std::size_t i = 0; i < files.size(); i++) EXPECT_EQ(right[i], 5 * 50 * (10 + i));
}

TEST_F(hdf5_program, leaves_no_process_and_no_descriptor_behind) {
  const std::string file = written("x.h5", 2, 3);
  (void)failure(file, {});
  const std::size_t before = descriptors();
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(failure(file, {}), "");
    EXPECT_NE(failure(file, {.program = path("none")}), "");
    EXPECT_NE(failure(file, {.program = script("ends", "exit 3")}), "");
    std::ofstream(path("no.h5")) << "\x89HDF\r\n\x1a\n";
    EXPECT_NE(failure(path("no.h5"), {}), "");
  }
  EXPECT_EQ(descriptors(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

/// A copy of the process (as Python's multiprocessing makes) does not disturb the original.
TEST_F(hdf5_program, a_forked_copy_of_its_parent_cannot_use_it) {
  auto reader = std::make_unique<wb::hdf5_reader>(written("x.h5", 2, 3));
  const pid_t child = fork();
  if (child == 0) {
    bool refused = false;
    try {
      (void)reader->read<float>("x");
    } catch (const wb::error& e) {
      refused = std::string(e.what()).find("a forked copy cannot use it") != std::string::npos;
    }
    reader.reset();
    _exit(refused ? 7 : 8);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(reader->read<float>("x").size(), 6u);
}

TEST_F(hdf5_program, one_that_hangs_or_loops_is_ended) {
  const std::string file = written("x.h5", 2, 3), damaged = file + ": it is truncated or damaged: ",
                    late = damaged + "it was not read within the time that it may take";
  // The greeting of this build, then nothing more, or work without end.
  wb::hdf5_messages::packed greeting;
  greeting << std::string(wb::hdf5_messages::greeting) << '\1' << 1 << std::string("1.10.8");
  const std::string text = greeting.take();
  const auto size = static_cast<std::uint32_t>(text.size());
  std::ofstream(path("greeting"), std::ios::binary)
      << std::string(reinterpret_cast<const char*>(&size), 4) << text;
  const std::string greet = "/bin/cat '" + path("greeting") + "' >&3; ";
  EXPECT_EQ(failure(file, {.seconds = 0.01, .program = script("waits", greet + "exec /bin/sleep 1000")}),
            late);
  EXPECT_EQ(failure(file, {.seconds = 0.9, .program = script("loops", greet + "while :; do :; done")}), late);
  EXPECT_EQ(failure(file, {.program = script("crashes", greet + "kill -SEGV $$")}),
            damaged + "the program that read it crashed: signal 11");
}

/// Answers of a program that an attacker has taken over. `answers` come in turn, whatever is asked.
TEST_F(hdf5_program, hostile_answers_are_refused) {
  const auto message = [](const std::string& text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    return std::string(reinterpret_cast<const char*>(&size), 4) + text;
  };
  using wb::hdf5_messages::packed;
  const std::string greeting = message(
      (packed() << std::string(wb::hdf5_messages::greeting) << '\1' << 1 << std::string("1.10.8")).take());
  const std::string good = message("k");
  const auto array = [&](const std::vector<std::size_t>& shape, std::size_t chunk_bytes = 0) {
    packed out;
    out << 'k' << shape << std::string("float32") << std::size_t{0} << '\0' << chunk_bytes << std::size_t{0};
    return message(out.take());
  };
  const std::size_t huge = std::size_t{1} << 62;
  const std::string file = written("x.h5", 2, 3);
  int n = 0;
  const auto answered = [&](const std::string& answers) {
    const std::string name = std::to_string(n++);
    std::ofstream(path("answers" + name), std::ios::binary) << greeting << good << answers;
    const std::string parrot =
        script("parrot" + name, "/bin/cat '" + path("answers" + name) + "' >&3; exec /bin/sleep 1000");
    return failure(file, {.seconds = 100, .program = parrot});
  };
  for (const std::string& text : {answered(message("f" + std::string(8, '\xff'))),  // a text without end
                                  answered(message("")),                            // nothing
                                  answered(message("z")),                           // no kind
                                  answered(array({huge, huge})),                    // overflows
                                  answered(array({0, huge, huge})),                 // and is empty
                                  answered(array({2, 3}, SIZE_MAX)),                // chunks
                                  answered(message("k" + std::string(8, '\xff'))),  // a list without end
                                  answered(std::string("\xff\xff\xff\xff", 4))})    // a message without end
  {
    EXPECT_TRUE(text.starts_with(file + ": ")) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  // Rows that were never written are what the window holds, zeros, and nothing of this process.
  const std::string text = answered(array({2, 3}) + good + good);
  EXPECT_EQ(text, "");
  const std::string escapes = answered(message((packed() << 'f' << std::string("a\nb\x1b[2J")).take()));
  EXPECT_EQ(escapes, file + ": a?b?[2J");
}

}  // namespace hdf5_program_test
