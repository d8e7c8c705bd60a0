// A process that answers requests: whatever happens in it, its parent gets an answer or one line.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <warpband/io/child_process.hpp>

namespace child_process_test {

/// Enough for any machine: where nothing else is meant a child does not fail for its time.
constexpr double patient = 600;

std::string repeated(const std::string& text) { return text + text; }

/// What the parent is told where the child does this.
std::string failure_of(const std::function<std::string(const std::string&)>& what,
                       const wb::child_limits& limits = {.seconds = patient}) {
  wb::child_process child(limits, what);
  std::string first;
  try {
    (void)child.ask("x", 100);
  } catch (const wb::child_error& e) {
    first = e.what();
  }
  try {  // it stays failed
    (void)child.ask("x", 100);
    ADD_FAILURE() << "a child that failed answered";
  } catch (const wb::child_error& e) {
    EXPECT_EQ(e.what(), first);
  }
  return first;
}

TEST(child_process, answers_requests_of_any_size) {
  wb::child_process child({.seconds = patient}, repeated);
  EXPECT_EQ(child.ask("ab", 4), "abab");
  EXPECT_EQ(child.ask("", 0), "");
  const std::string large(900000, 'x');
  EXPECT_EQ(child.ask(large, 1800000), large + large);
  EXPECT_THROW(child.ask(std::string(2 << 20, 'x'), 100), wb::child_error);
  EXPECT_EQ(child.ask("c", 4), "cc");
}

TEST(child_process, changes_nothing_here) {
  int n = 1;
  wb::child_process child({.seconds = patient}, [&](const std::string&) { return std::to_string(++n); });
  EXPECT_EQ(child.ask("", 8), "2");
  EXPECT_EQ(child.ask("", 8), "3");
  EXPECT_EQ(n, 1);
}

TEST(child_process, a_crash_is_told) {
  EXPECT_EQ(failure_of([](const std::string&) -> std::string {
              raise(SIGSEGV);
              return "";
            }),
            "the process that read it crashed: signal 11");
  EXPECT_EQ(failure_of([](const std::string&) -> std::string { _exit(7); }),
            "the process that read it ended: exit code 7");
  EXPECT_EQ(failure_of([](const std::string&) -> std::string { throw std::runtime_error("odd"); }),
            "the process that read it ended: exit code 1");
}

TEST(child_process, an_endless_loop_is_ended) {
  std::atomic<bool> never{false};
  const std::string late = "it was not read within the time that it may take";
  EXPECT_EQ(failure_of(
                [&](const std::string&) -> std::string {
                  while (!never) {
                  }
                  return "";
                },
                {.seconds = 0.2}),
            late);
  EXPECT_EQ(failure_of(
                [](const std::string&) -> std::string {
                  pause();
                  return "";
                },
                {.seconds = 0.2}),
            late);
}

TEST(child_process, memory_is_bounded) {
  const auto take = [](const std::string&) -> std::string {
    const std::size_t bytes = std::size_t{256} << 20;
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    return "has it";
  };
  EXPECT_EQ(failure_of(take, {.memory = std::size_t{64} << 20, .seconds = patient}),
            "it was not read within the memory that it may take");
  wb::child_process child({.memory = std::size_t{512} << 20, .seconds = patient}, take);
  EXPECT_EQ(child.ask("", 100), "has it");
}

TEST(child_process, has_no_files_of_its_parent_and_few_of_its_own) {
  const int here = open("/dev/null", O_RDONLY);
  ASSERT_GE(here, 0);
  const int high = fcntl(here, F_DUPFD, 100);
  wb::child_process child({.seconds = patient, .files = 6}, [=](const std::string&) {
    std::string open_ones;
    for (const int file : {here, high})
      if (file > 3 && fcntl(file, F_GETFD) != -1) open_ones += std::to_string(file) + " ";
    int opened = 0;
    while (open("/dev/null", O_RDONLY) >= 0) opened++;
    return open_ones + std::to_string(opened);
  });
  EXPECT_EQ(child.ask("", 100), "2");  // beside /dev/null three times and the socket
  close(high);
  close(here);
}

TEST(child_process, an_answer_that_is_too_long_is_refused) {
  EXPECT_EQ(failure_of([](const std::string&) { return std::string(101, 'x'); }),
            "the process that read it answered more than it was asked for");
}

TEST(child_process, leaves_no_process_behind) {
  pid_t of_child = 0;
  {
    wb::child_process child({.seconds = patient},
                            [](const std::string&) { return std::to_string(getpid()); });
    of_child = static_cast<pid_t>(std::stol(child.ask("", 20)));
    EXPECT_NE(of_child, getpid());
    EXPECT_EQ(kill(of_child, 0), 0);
  }
  EXPECT_EQ(kill(of_child, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace child_process_test
