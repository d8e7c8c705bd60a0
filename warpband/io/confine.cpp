#include <warpband/io/confine.hpp>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace wb {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;  // no filter is known to be right
#endif

/// A filter of system calls, as the kernel's packet filter runs it: in order, to the first answer.
class filter {
 public:
  filter() {
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    load_number();
  }
  void allow(long call) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  /// A call whose first argument is this descriptor.
  void allow_on(long call, int file) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4);
    load_argument(0);
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(file), 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    add(BPF_RET | BPF_K, refusal);
  }
  /// mprotect: nothing becomes executable.
  void allow_protection() {
    add(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4);
    load_argument(2);
    add(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    add(BPF_RET | BPF_K, refusal);
  }
  /// mmap: anonymous memory and the window, not executable.
  void allow_maps(int window) {
    add(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 8);
    load_argument(2);
    add(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 5, 0);
    load_argument(3);
    add(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 2, 0);
    load_argument(4);
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(window), 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    add(BPF_RET | BPF_K, refusal);
  }
  bool install() {
    add(BPF_RET | BPF_K, refusal);
    sock_fprog program{static_cast<unsigned short>(size_), code_.data()};
    return size_ < code_.size() && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
  }

 private:
  static constexpr std::uint32_t refusal = SECCOMP_RET_ERRNO | 1;  // EPERM

  void add(int code, std::uint32_t value, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    if (size_ < code_.size()) code_[size_++] = {static_cast<std::uint16_t>(code), if_true, if_false, value};
  }
  void load_number() { add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)); }
  /// Its lower half: the kernel takes no more of what is asked for here. Both machines begin with it.
  void load_argument(std::uint32_t i) { add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args) + 8 * i); }

  std::array<sock_filter, 128> code_{};
  std::size_t size_ = 0;
};

bool filter_calls(const confined_files& files) {
  if (architecture == 0) return false;
  filter f;
  f.allow_on(SYS_read, files.channel);
  f.allow_on(SYS_write, files.channel);
  f.allow_on(SYS_pread64, files.file);
  f.allow_maps(files.window);
  f.allow_protection();
  for (const long call : {SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_futex, SYS_getrandom,
                          SYS_clock_gettime, SYS_gettimeofday, SYS_restart_syscall, SYS_exit, SYS_exit_group})
    f.allow(call);
  return f.install();
}

/// linux/landlock.h, of which older systems have only the first numbers.
struct ruleset {
  std::uint64_t files = 0, net = 0, scope = 0;
};
constexpr long create_ruleset = 444, restrict_self = 446;  // of every architecture

/// Handles all rights that the kernel knows and grants none.
int forbid_files() {
  const long version = syscall(create_ruleset, nullptr, 0, 1);
  if (version < 1) return 0;
  constexpr std::uint64_t rights[] = {0x1fff, 0x3fff, 0x7fff, 0x7fff, 0xffff};  // of versions 1 to 5
  ruleset handled;
  handled.files = rights[std::min(version, 5L) - 1];
  if (version >= 4) handled.net = 3;
  if (version >= 6) handled.scope = 3;
  const std::size_t size = version < 4 ? 8 : version < 6 ? 16 : 24;
  const long rules = syscall(create_ruleset, &handled, size, 0);
  if (rules < 0) return 0;
  const bool done = syscall(restrict_self, rules, 0) == 0;
  close(static_cast<int>(rules));
  return done ? static_cast<int>(version) : 0;
}

void close_others(const confined_files& files) {
  const int last = std::max({files.channel, files.file, files.window});
  for (int file = 3; file < last; file++)
    if (file != files.channel && file != files.file && file != files.window) close(file);
#ifdef SYS_close_range
  if (syscall(SYS_close_range, static_cast<unsigned>(last) + 1, ~0U, 0U) == 0) return;
#endif
  rlimit open_files{};
  getrlimit(RLIMIT_NOFILE, &open_files);
  const rlim_t end = std::min<rlim_t>(open_files.rlim_cur, 65536);
  for (rlim_t file = static_cast<rlim_t>(last) + 1; file < end; file++) close(static_cast<int>(file));
}

/// Bytes of addresses that this process has.
std::size_t address_bytes() {
  unsigned long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re"); file != nullptr) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void bound(__rlimit_resource_t resource, rlim_t limit) {
  rlimit limits{};
  getrlimit(resource, &limits);
  limits.rlim_cur = limits.rlim_max = std::min(limits.rlim_max, limit);
  setrlimit(resource, &limits);
}

}  // namespace

confinement confine(const confined_files& files, std::size_t memory) noexcept {
  const std::size_t mapped = address_bytes();
  close_others(files);
  bound(RLIMIT_CORE, 0);
  bound(RLIMIT_FSIZE, 0);
  bound(RLIMIT_AS, mapped > RLIM_INFINITY - memory ? RLIM_INFINITY : mapped + memory);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return {};
  confinement done;
  done.landlock = forbid_files();
  done.seccomp = filter_calls(files);
  return done;
}

}  // namespace wb
