// What a confined process can do, and everything that it must not be able to do.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <warpband/io/confine.hpp>

namespace confine_test {

namespace fs = std::filesystem;
constexpr std::size_t mib = std::size_t{1} << 20;

/// What a confined process does, and what it returns: 0, or the errno of a call that failed.
struct attempt {
  std::string name;
  std::function<long()> call;
};
long tried(long result) { return result < 0 ? errno : 0; }

class confined : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("warpband_confine_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream(path("read")) << "content";
    std::ofstream(path("kept")) << "content";
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel_), 0);
    file_ = open(path("read").c_str(), O_RDWR);  // also for writing: that it cannot write is not for that
    window_ = memfd_create("window", 0);
    other_ = open(path("kept").c_str(), O_RDWR);
    ASSERT_TRUE(file_ >= 0 && window_ >= 0 && other_ >= 0);
    ASSERT_EQ(ftruncate(window_, 4096), 0);
  }
  void TearDown() override {
    for (const int file : {channel_[0], channel_[1], file_, window_, other_})
      if (file >= 0) close(file);
    fs::remove_all(folder_);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Makes the attempts in a confined process. Returns what they gave; empty where it ended before the last,
  /// or where the kernel has no seccomp.
  std::vector<long> results(const std::vector<attempt>& attempts, std::size_t memory = 1024 * mib) {
    const std::size_t bytes = (attempts.size() + 2) * sizeof(long);
    auto* shared =
        static_cast<long*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const pid_t child = fork();
    if (child == 0) {
      const wb::confinement done =
          wb::confine({.channel = channel_[1], .file = file_, .window = window_}, memory);
      shared[0] = done.seccomp ? 1 : 2;
      if (done.seccomp)
        for (std::size_t i = 0; i < attempts.size(); i++) shared[i + 2] = attempts[i].call();
      shared[1] = 1;
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    has_seccomp_ = shared[0] == 1;
    std::vector<long> given;
    if (has_seccomp_) {
      EXPECT_EQ(shared[1], 1) << "it ended: status " << status;
    }
    if (has_seccomp_ && shared[1] == 1) given.assign(shared + 2, shared + 2 + attempts.size());
    munmap(shared, bytes);
    return given;
  }

  fs::path folder_;
  int channel_[2] = {-1, -1}, file_ = -1, window_ = -1, other_ = -1;
  bool has_seccomp_ = false;
};

#define WB_SKIP_WITHOUT_SECCOMP() \
  if (!has_seccomp_) GTEST_SKIP() << "this kernel or architecture has no seccomp"

TEST_F(confined, forbidden_things_are_refused) {
  const std::string kept = path("kept"), made = path("new"), read_only = path("read");
  char byte = 'x';
  iovec part{&byte, 1};
  const pid_t parent = getpid();
  io_uring_params ring{};
  const rlimit larger{RLIM_INFINITY, RLIM_INFINITY};
  // By number: a function of the C library may use another call than its name says, or none.
  const auto call = [](long number, auto... arguments) { return tried(syscall(number, arguments...)); };
  std::vector<attempt> attempts{
      {"open for reading", [&] { return call(SYS_openat, AT_FDCWD, kept.c_str(), O_RDONLY); }},
      {"open for writing", [&] { return call(SYS_openat, AT_FDCWD, kept.c_str(), O_WRONLY); }},
      {"create", [&] { return call(SYS_openat, AT_FDCWD, made.c_str(), O_CREAT | O_WRONLY, 0600); }},
      {"open through /proc", [&] { return call(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR); }},
      {"unlink", [&] { return call(SYS_unlinkat, AT_FDCWD, kept.c_str(), 0); }},
      {"rename", [&] { return call(SYS_renameat2, AT_FDCWD, kept.c_str(), AT_FDCWD, made.c_str(), 0); }},
      {"link", [&] { return call(SYS_linkat, AT_FDCWD, kept.c_str(), AT_FDCWD, made.c_str(), 0); }},
      {"symbolic link", [&] { return call(SYS_symlinkat, kept.c_str(), AT_FDCWD, made.c_str()); }},
      {"make a folder", [&] { return call(SYS_mkdirat, AT_FDCWD, made.c_str(), 0700); }},
      {"make a pipe", [&] { return call(SYS_mknodat, AT_FDCWD, made.c_str(), S_IFIFO | 0600, 0); }},
      {"change permissions", [&] { return call(SYS_fchmodat, AT_FDCWD, kept.c_str(), 0777); }},
      {"truncate by name", [&] { return call(SYS_truncate, kept.c_str(), 0L); }},
      {"list a folder", [&] { return call(SYS_getdents64, 0, &byte, 1); }},
      {"look for a file", [&] { return call(SYS_faccessat, AT_FDCWD, kept.c_str(), R_OK); }},
      {"write the file", [&] { return call(SYS_pwrite64, file_, &byte, 1L, 0L); }},
      {"write on another descriptor", [&] { return call(SYS_write, file_, &byte, 1L); }},
      {"write on standard error", [&] { return call(SYS_write, 2, &byte, 1L); }},
      {"write parts", [&] { return call(SYS_writev, file_, &part, 1); }},
      {"read on another descriptor", [&] { return call(SYS_read, file_, &byte, 1L); }},
      {"truncate the file", [&] { return call(SYS_ftruncate, file_, 0L); }},
      {"shrink the window", [&] { return call(SYS_ftruncate, window_, 0L); }},
      {"allocate in the file", [&] { return call(SYS_fallocate, file_, 0, 0L, 4096L); }},
      {"seal the window", [&] { return call(SYS_fcntl, window_, F_ADD_SEALS, F_SEAL_WRITE); }},
      {"copy a descriptor", [&] { return call(SYS_dup, file_); }},
      {"map the file for writing",
       [&] { return call(SYS_mmap, nullptr, 4096L, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0L); }},
      {"map the file", [&] { return call(SYS_mmap, nullptr, 4096L, PROT_READ, MAP_PRIVATE, file_, 0L); }},
      {"map memory that executes",
       [&] {
         return call(SYS_mmap, nullptr, 4096L, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
       }},
      {"map the window to execute it",
       [&] { return call(SYS_mmap, nullptr, 4096L, PROT_READ | PROT_EXEC, MAP_SHARED, window_, 0L); }},
      {"make memory executable",
       [&] {
         void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         return call(SYS_mprotect, page, 4096L, PROT_READ | PROT_EXEC);
       }},
      {"socket", [&] { return call(SYS_socket, AF_INET, SOCK_STREAM, 0); }},
      {"local socket", [&] { return call(SYS_socket, AF_UNIX, SOCK_STREAM, 0); }},
      {"pair of sockets", [&] { return call(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, &ring); }},
      {"send a descriptor", [&] { return call(SYS_sendmsg, channel_[1], &ring, 0); }},
      {"execute", [&] { return call(SYS_execve, "/bin/true", nullptr, nullptr); }},
      {"execute a descriptor",
       [&] { return call(SYS_execveat, file_, "", nullptr, nullptr, AT_EMPTY_PATH); }},
      {"start a process", [&] { return call(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L); }},
      {"kill the parent", [&] { return call(SYS_kill, parent, SIGTERM); }},
      {"kill by a thread", [&] { return call(SYS_tgkill, parent, parent, SIGTERM); }},
      {"queue a signal", [&] { return call(SYS_rt_sigqueueinfo, parent, SIGTERM, &ring); }},
      {"trace the parent", [&] { return call(SYS_ptrace, PTRACE_ATTACH, parent, 0L, 0L); }},
      {"write into the parent",
       [&] { return call(SYS_process_vm_writev, parent, &part, 1L, &part, 1L, 0L); }},
      {"read from the parent", [&] { return call(SYS_process_vm_readv, parent, &part, 1L, &part, 1L, 0L); }},
      {"raise a limit", [&] { return call(SYS_prlimit64, 0, RLIMIT_CPU, &larger, nullptr); }},
      {"io_uring", [&] { return call(SYS_io_uring_setup, 1, &ring); }},
      {"bpf", [&] { return call(SYS_bpf, 0, &ring, 1); }},
      {"name space", [&] { return call(SYS_unshare, 0x10000000); }},
      {"mount", [&] { return call(SYS_mount, "none", "/", "tmpfs", 0L, nullptr); }},
      {"shared memory", [&] { return call(SYS_shmget, 1, 4096L, 0600); }},
      {"memory file", [&] { return call(SYS_memfd_create, "x", 0); }},
      {"keys", [&] { return call(SYS_keyctl, 0, 0, 0); }},
      {"who the user is", [&] { return call(SYS_getuid); }},
      {"another filter's settings", [&] { return call(SYS_prctl, 22, 0L, 0L, 0L, 0L); }},
      {"wait for ever", [&] { return call(SYS_ppoll, nullptr, 0L, nullptr, nullptr, 0L); }},
#ifdef SYS_open
      {"open by its old number", [&] { return call(SYS_open, kept.c_str(), O_RDWR); }},
      {"unlink by its old number", [&] { return call(SYS_unlink, kept.c_str()); }},
      {"rename by its old number", [&] { return call(SYS_rename, kept.c_str(), made.c_str()); }},
      {"fork by its old number", [&] { return call(SYS_fork); }},
      {"open by the number of another interface",
       [&] { return call(SYS_open | 0x40000000, kept.c_str(), O_RDWR); }},
#endif
  };
  const std::vector<long> given = results(attempts);
  WB_SKIP_WITHOUT_SECCOMP();
  ASSERT_EQ(given.size(), attempts.size());
  for (std::size_t i = 0; i < attempts.size(); i++) EXPECT_EQ(given[i], EPERM) << attempts[i].name;
  EXPECT_EQ(content(kept), "content");
  EXPECT_EQ(content(read_only), "content");
  EXPECT_FALSE(fs::exists(made));
  EXPECT_EQ(lseek(window_, 0, SEEK_END), 4096);
}

#ifndef __SANITIZE_ADDRESS__  // which makes system calls of its own: the program that reads has no sanitizer

/// The other end of a pipe sees it, while the process lives.
TEST_F(confined, other_descriptors_are_closed) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(channel_[0]);
    (void)wb::confine({.channel = channel_[1], .file = file_, .window = window_}, 1024 * mib);
    char byte = 0;
    _exit(read(channel_[1], &byte, 1) == 0 ? 7 : 8);  // until its parent closes the channel
  }
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(std::exchange(channel_[0], -1));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  close(ends[0]);
}

TEST_F(confined, what_reading_needs_is_allowed) {
  char text[8] = "";
  const std::vector<attempt> attempts{
      {"read the file",
       [&] { return pread(file_, text, 7, 0) == 7 && std::strcmp(text, "content") == 0 ? 0 : errno; }},
      {"map the window",
       [&] {
         void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, window_, 0);
         if (page == MAP_FAILED) return long{errno};
         static_cast<char*>(page)[4095] = 'y';
         return tried(munmap(page, 4096));
       }},
      {"take and give back memory",
       [&] {
         for (std::size_t bytes = 1; bytes < 64 * mib; bytes *= 3) {
           std::vector<char> some(bytes, 'x');
           some.resize(2 * bytes);
           if (some[0] != 'x') return long{1};
         }
         return long{0};
       }},
      {"throw",
       [&] {
         try {
           throw std::string("x");
         } catch (const std::string&) {
           return long{0};
         }
       }},
      {"answer", [&] { return write(channel_[1], "z", 1) == 1 ? 0 : errno; }},
  };
  const std::vector<long> given = results(attempts);
  WB_SKIP_WITHOUT_SECCOMP();
  ASSERT_EQ(given.size(), attempts.size());
  for (std::size_t i = 0; i < given.size(); i++) EXPECT_EQ(given[i], 0) << attempts[i].name;
  char byte = 0;
  EXPECT_EQ(pread(window_, &byte, 1, 4095), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_EQ(read(channel_[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'z');
}

TEST_F(confined, memory_is_bounded) {
  const auto take = [](std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? long{errno} : tried(munmap(memory, bytes));
  };
  const std::vector<long> given = results(
      {{"little", [&] { return take(32 * mib); }}, {"much", [&] { return take(128 * mib); }}}, 64 * mib);
  WB_SKIP_WITHOUT_SECCOMP();
  EXPECT_EQ(given, (std::vector<long>{0, ENOMEM}));
}

#endif
#undef WB_SKIP_WITHOUT_SECCOMP

}  // namespace confine_test
