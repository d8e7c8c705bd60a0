#include <warpband/io/child_process.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>

namespace wb {

namespace {

constexpr std::size_t most_request = std::size_t{1} << 20;
constexpr double bytes_per_second = 8 * (1 << 20);
constexpr int child_socket = 3;  // after /dev/null as standard input, output and error

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void bound(int resource, rlim_t most) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  limit.rlim_cur = limit.rlim_max = std::min(limit.rlim_max, most);
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
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

void close_from(unsigned first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
#endif
  const long most = std::min(sysconf(_SC_OPEN_MAX), 65536L);
  for (long file = static_cast<long>(first); file < most; file++) close(static_cast<int>(file));
}

/// Signals as a new program has them. Those of a terminal and of its end are the parent's to answer.
void reset_signals() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGALRM, SIGCHLD})
    std::signal(signal, SIG_DFL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

/// The child may use processor time for one more request.
void allow_seconds(double seconds) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  rlimit limit{};
  getrlimit(RLIMIT_CPU, &limit);
  const auto more = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                    static_cast<rlim_t>(std::ceil(seconds)) + 1;
  limit.rlim_cur = std::min(limit.rlim_max, more);
  setrlimit(RLIMIT_CPU, &limit);
}

bool read_all(int file, void* to, std::size_t bytes) {
  for (char* next = static_cast<char*>(to); bytes > 0;) {
    const ssize_t n = read(file, next, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    next += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}
bool write_all(int file, const void* from, std::size_t bytes) {
  for (const char* next = static_cast<const char*>(from); bytes > 0;) {
    const ssize_t n = ::send(file, next, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    next += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

/// How long a request may take, whose answer has this many bytes.
double seconds_of(const child_limits& limits, std::size_t bytes) {
  return limits.seconds + static_cast<double>(bytes) / bytes_per_second;
}

/// What the child does until its parent closes the socket. A message is its length, of a request also the
/// most bytes of its answer, and its bytes.
[[noreturn]] void serve_requests(int socket, const child_limits& limits,
                                 const std::function<std::string(const std::string&)>& serve,
                                 const std::function<void()>& prepare) {
  try {
    reset_signals();
    if (socket != child_socket && dup2(socket, child_socket) != child_socket) _exit(1);
    close_from(child_socket + 1);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int file : {0, 1, 2})
      if (null < 0 || dup2(null, file) != file) _exit(1);
    close(null);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    bound(RLIMIT_CORE, 0);
    bound(RLIMIT_FSIZE, 0);
    bound(RLIMIT_NOFILE, static_cast<rlim_t>(limits.files));
    bound(RLIMIT_AS, address_bytes() + limits.memory);
    if (prepare) prepare();
    std::uint64_t sizes[2];
    while (read_all(child_socket, sizes, sizeof sizes) && sizes[0] <= most_request) {
      std::string request(sizes[0], '\0');
      if (!read_all(child_socket, request.data(), request.size())) break;
      allow_seconds(seconds_of(limits, sizes[1]));
      const std::string answer = serve(request);
      const std::uint64_t size = answer.size();
      if (!write_all(child_socket, &size, sizeof size) ||
          !write_all(child_socket, answer.data(), answer.size()))
        break;
    }
  } catch (const std::bad_alloc&) {
    _exit(3);
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

}  // namespace

child_process::child_process(const child_limits& limits, std::function<std::string(const std::string&)> serve,
                             const std::function<void()>& prepare)
    : limits_(limits) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw error(std::string("no process for an untrusted file: ") + std::strerror(errno));
  // No handler of this process may run in the child before it has its own.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  child_ = fork();
  if (child_ == 0) {
    reset_signals();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    serve_requests(ends[1], limits_, serve, prepare);
  }
  const int why = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  socket_ = ends[0];
  if (child_ < 0) {
    close(socket_);
    throw error(std::string("no process for an untrusted file: ") + std::strerror(why));
  }
  fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
}

child_process::~child_process() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(socket_);
}

void child_process::fail(const std::string& why) {
  failed_ = why;
  throw child_error(failed_);
}

void child_process::wait_for(short what, double until) {
  for (;;) {
    const double left = until - now();
    if (left <= 0) {
      kill(child_, SIGKILL);
      fail("it was not read within the time that it may take");
    }
    pollfd one{socket_, what, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::min(left * 1e3 + 1, 1e6)));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) fail(std::strerror(errno));
  }
}

bool child_process::send(const char* from, std::size_t bytes, double until) {
  while (bytes > 0) {
    const ssize_t n = ::send(socket_, from, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) return false;
    if (n < 0) {
      wait_for(POLLOUT, until);
      continue;
    }
    from += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}
bool child_process::receive(char* to, std::size_t bytes, double until) {
  while (bytes > 0) {
    const ssize_t n = recv(socket_, to, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 || (n < 0 && errno != EAGAIN)) return false;
    if (n < 0) {
      wait_for(POLLIN, until);
      continue;
    }
    to += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

std::string child_process::end_of_child() {
  int status = 0;
  kill(child_, SIGKILL);  // of one that is ending this changes nothing
  while (waitpid(child_, &status, 0) < 0)
    if (errno != EINTR) return "the process that read it is gone";
  child_ = -1;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return "it was not read within the time that it may take";
  if (WIFSIGNALED(status))
    return "the process that read it crashed: signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) == 3) return "it was not read within the memory that it may take";
  return "the process that read it ended: exit code " + std::to_string(WEXITSTATUS(status));
}

std::string child_process::ask(const std::string& request, std::size_t most) {
  if (!failed_.empty()) throw child_error(failed_);
  if (request.size() > most_request) throw child_error("a request is too long");
  const double until = now() + seconds_of(limits_, most);
  const std::uint64_t sizes[2] = {request.size(), most};
  std::string head(reinterpret_cast<const char*>(sizes), sizeof sizes);
  head += request;
  std::uint64_t size = 0;
  if (!send(head.data(), head.size(), until) || !receive(reinterpret_cast<char*>(&size), sizeof size, until))
    fail(end_of_child());
  if (size > most) fail("the process that read it answered more than it was asked for");
  std::string answer(size, '\0');
  if (!receive(answer.data(), answer.size(), until)) fail(end_of_child());
  return answer;
}

}  // namespace wb
