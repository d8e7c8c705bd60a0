#pragma once
// A function that answers requests in a process of its own, with bounds on what that process may use: for
// work that a hostile input may crash, hang or fill memory with.
//
// The process is a copy of this one (fork). It has no open files but its end of a socket, cannot write files
// or start programs with more rights, leaves no core file, and ends when this object or this process does.
// Its memory, time and open files are bounded by the kernel, so that a fault inside the function ends in a
// child_error here. It has the rights of the user: code that a hostile input makes it run is not confined.
//
// One thread at a time per object.
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

#include <warpband/core/error.hpp>

namespace wb {

/// What a child process may use.
struct child_limits {
  std::size_t memory = std::size_t{1} << 30;  // bytes, beyond what this process has when it is copied
  double seconds = 10;                        // for each request, and one more for each 8 MiB of its answer
  int files = 8;                              // open at once, with three of /dev/null and the socket
};

/// The child ended, took too long, or answered more than it was asked for. The message is one line.
class child_error : public error {
 public:
  using error::error;
};

/// Threads: one at a time.
class child_process {
 public:
  /// `serve` runs in the child, once for each request. What it throws ends the child. `prepare` runs there
  /// first. Throws error where the system gives no process.
  child_process(const child_limits& limits, std::function<std::string(const std::string&)> serve,
                const std::function<void()>& prepare = {});
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  /// The answer to a request, of at most `most` bytes. Throws child_error; from then on every call does.
  std::string ask(const std::string& request, std::size_t most);

 private:
  [[noreturn]] void fail(const std::string& why);
  /// Moves bytes through the socket until the deadline. False where the child is gone.
  bool send(const char* from, std::size_t bytes, double until);
  bool receive(char* to, std::size_t bytes, double until);
  void wait_for(short what, double until);
  std::string end_of_child();

  child_limits limits_;
  pid_t child_ = -1;
  int socket_ = -1;
  std::string failed_;
};

}  // namespace wb
