// The parent of warpband-hdf5: starts it, asks it, and believes nothing that it answers.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include <warpband/io/confine.hpp>
#include <warpband/io/hdf5_messages.hpp>
#include <warpband/io/hdf5_source.hpp>

namespace wb {

namespace {

using namespace hdf5_messages;

constexpr std::size_t mebi = std::size_t{1} << 20;
constexpr std::size_t least_memory = 256 * mebi;
constexpr std::size_t slot_bytes = 2 * mebi;  // of the window, unless a row has more
constexpr std::size_t large_row = 16 * mebi;  // of which the window holds one
constexpr double bytes_per_second =
    8 * mebi;                    // that a call may need CPU time for, beside the seconds that all may
constexpr double patience = 30;  // seconds that a call may last for each second of CPU time

// -------------------------------------------------------------------------------------- where the program is

/// The file that this code is in: a command, a library or a module. Empty where the system does not say.
std::string this_file() {
  const auto here = reinterpret_cast<std::uintptr_t>(&this_file);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    char* end = nullptr;
    const std::uintptr_t first = std::strtoull(line.c_str(), &end, 16);
    const std::uintptr_t last = *end == '-' ? std::strtoull(end + 1, nullptr, 16) : 0;
    const std::size_t path = line.find('/');
    if (here >= first && here < last && path != std::string::npos) return line.substr(path);
  }
  return {};
}

std::string find_program() {
  const std::string name = "/warpband-hdf5";
  const std::string file = this_file(), folder = file.substr(0, file.rfind('/')),
                    above = folder.substr(0, folder.rfind('/')),
                    last = folder.substr(std::min(folder.size(), above.size() + 1));
  std::vector<std::string> paths;
  if (!file.empty()) paths.push_back(folder + name);
  if (last == "bin" || last == "lib" || last == "lib64") paths.push_back(above + "/libexec/warpband" + name);
  if (above.ends_with("/lib"))  // lib/x86_64-linux-gnu
    paths.push_back(above.substr(0, above.rfind('/')) + "/libexec/warpband" + name);
  if (last == "warpband.scripts") paths.push_back(above + "/warpband" + name);  // a wheel's command
#ifdef WARPBAND_LIBEXEC
  paths.emplace_back(WARPBAND_LIBEXEC "/warpband-hdf5");  // of programs that use the installed library
#endif
  for (const std::string& path : paths)
    if (access(path.c_str(), X_OK) == 0) return path;
  if (paths.empty()) throw error("warpband-hdf5, which reads HDF5 files, cannot be found: there is no /proc");
  const bool installed =
      paths.size() > 1 && (last == "bin" || last.starts_with("lib") || above.ends_with("/lib"));
  return paths[installed ? 1 : 0];
}

// --------------------------------------------------------------------------------------------- the processes

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The program ended, took too long, or answered what it was not asked for. The message is one line.
class program_error : public error {
 public:
  using error::error;
};

/// An open descriptor.
/// Threads: one at a time.
class descriptor {
 public:
  explicit descriptor(int file = -1) : file_(file) {}
  ~descriptor() { reset(); }
  descriptor(descriptor&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    reset(std::exchange(other.file_, -1));
    return *this;
  }
  int get() const { return file_; }
  void reset(int file = -1) {
    if (file_ >= 0) close(file_);
    file_ = file;
  }

 private:
  int file_;
};

/// The running program. Threads: one at a time.
class program {
 public:
  /// `file`: that it reads, or -1.
  program(int file, std::size_t memory, const std::optional<std::string>& path);
  ~program() { (void)end(); }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// Sends a request that may take so many seconds of CPU time; the answer must be received.
  void send(const std::string& request, double seconds);
  /// The next answer.
  std::string receive();
  /// Maps at least so many bytes of the window. Throws error.
  const char* window(std::size_t bytes);
  std::size_t window_bytes() const { return mapped_; }
  const hdf5_program& about() const { return about_; }

 private:
  void start(const descriptor& channel, const descriptor& file);
  void greet();
  [[noreturn]] void fail(const std::string& why) {
    failed_ = why;
    throw program_error(why);
  }
  void check_usable() const {
    if (!failed_.empty()) throw program_error(failed_);
    if (getpid() != owner_) throw error("an hdf5_reader of another process: a forked copy cannot use it");
  }
  void wait_for(short events);
  void receive(void* to, std::size_t bytes);
  /// Ends the program; why it ended.
  std::string end();

  hdf5_program about_;
  descriptor channel_, shared_;
  pid_t child_ = -1, owner_ = getpid();
  double until_ = 0;
  void* window_ = nullptr;
  std::size_t mapped_ = 0, memory_;
  std::string failed_;
};

std::string system_error(const std::string& action) { return action + ": " + std::strerror(errno); }

program::program(int file, std::size_t memory, const std::optional<std::string>& path) : memory_(memory) {
  static const std::string found = find_program();
  about_.path = path.value_or(found);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw file_error(about_.path, system_error("cannot be started"));
  channel_.reset(ends[0]);
  descriptor other(ends[1]);
  fcntl(channel_.get(), F_SETFL, O_NONBLOCK);
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING, never_executable = 8;  // since Linux 6.3
  shared_.reset(memfd_create("warpband-hdf5", flags | never_executable));
  if (shared_.get() < 0 && errno == EINVAL) shared_.reset(memfd_create("warpband-hdf5", flags));
  // It may grow, here, and never shrink: what is mapped stays there.
  if (shared_.get() < 0 || fcntl(shared_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    throw file_error(about_.path, system_error("has no memory to share"));
  const descriptor none(file < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1);
  const confined_files to;
  const int least = std::max({to.channel, to.file, to.window}) + 1;  // copies that no dup2 below replaces
  start(descriptor(fcntl(other.get(), F_DUPFD_CLOEXEC, least)),
        descriptor(fcntl(file < 0 ? none.get() : file, F_DUPFD_CLOEXEC, least)));
  other.reset();  // the program alone has it now: its end is seen here
  try {
    greet();
  } catch (const error&) {
    (void)end();
    throw;
  }
}

/// Starts it with no more than its descriptors and no signal blocked or ignored, in a process group of its
/// own: Ctrl-C and Ctrl-Z are for its parent.
void program::start(const descriptor& channel, const descriptor& file) {
  const confined_files to;
  const descriptor window(fcntl(shared_.get(), F_DUPFD_CLOEXEC, to.window + 1));
  if (channel.get() < 0 || file.get() < 0 || window.get() < 0)
    throw file_error(about_.path, system_error("it reads HDF5 files and cannot be started"));
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int n : {0, 1, 2}) posix_spawn_file_actions_addopen(&files, n, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&files, channel.get(), to.channel);
  posix_spawn_file_actions_adddup2(&files, file.get(), to.file);
  posix_spawn_file_actions_adddup2(&files, window.get(), to.window);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  sigset_t none, signals;
  sigemptyset(&none);
  sigfillset(&signals);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &signals);
  std::string name = about_.path, bytes = std::to_string(memory_), libraries = "LD_LIBRARY_PATH=";
  const char* set = std::getenv("LD_LIBRARY_PATH");  // as this process found them
  if (set != nullptr) libraries += set;
  char* const arguments[] = {name.data(), bytes.data(), nullptr};
  char* const environment[] = {set != nullptr ? libraries.data() : nullptr, nullptr};
  const int wrong = posix_spawn(&child_, about_.path.c_str(), &files, &how, arguments, environment);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  if (wrong == 0) return;
  child_ = -1;
  throw file_error(about_.path,
                   std::string("it reads HDF5 files and cannot be started: ") + std::strerror(wrong));
}

void program::greet() {
  std::string answer;
  until_ = now() + 60;
  try {
    answer = receive();
  } catch (const program_error& e) {
    throw file_error(about_.path, std::string("it reads HDF5 files and did not start: ") + e.what());
  }
  try {
    unpacked in = read_back(answer);
    if (in.get<std::string>() != greeting) throw unpack_error("");
    about_.seccomp = in.get<char>() != 0;
    about_.landlock = in.get<int>();
    about_.library = in.get<std::string>();
    if (const std::size_t space = about_.library.rfind(' '); space != std::string::npos)
      about_.library.erase(0, space + 1);
  } catch (const unpack_error&) {
    throw file_error(about_.path, "it is not warpband-hdf5 of this version of Warpband");
  }
}

std::string program::end() {
  int status = 0;
  if (child_ < 0 || getpid() != owner_) return "the program that read it is gone";
  channel_.reset();
  if (window_ != nullptr) munmap(window_, mapped_);
  window_ = nullptr;
  mapped_ = 0;
  kill(child_, SIGKILL);  // of one that is ending this changes nothing
  const pid_t child = std::exchange(child_, -1);
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return "the program that read it is gone";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return "it was not read within the time that it may take";
  if (WIFSIGNALED(status))
    return "the program that read it crashed: signal " + std::to_string(WTERMSIG(status));
  return "the program that read it ended: exit code " + std::to_string(WEXITSTATUS(status));
}

void program::wait_for(short events) {
  for (;;) {
    const double left = until_ - now();
    pollfd one{channel_.get(), events, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::clamp(left * 1e3 + 1, 0., 1e6)));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) fail(std::strerror(errno));
    if (left > 0) continue;
    (void)end();
    fail("it was not read within the time that it may take");
  }
}

void program::send(const std::string& request, double seconds) {
  check_usable();
  if (request.size() > most_request)
    throw argument_error("name", std::to_string(request.size()) + " bytes", "fewer than 2^20 bytes");
  // The kernel counts the CPU time of the process from its start.
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(child_, &clock) == 0 && clock_gettime(clock, &used) == 0) {
    const double cpu_seconds =
        static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec) + seconds;
    const rlimit limit{static_cast<rlim_t>(std::ceil(cpu_seconds)), RLIM_INFINITY};
    prlimit(child_, RLIMIT_CPU, &limit, nullptr);
  }
  until_ = now() + patience * seconds;
  const auto size = static_cast<std::uint32_t>(request.size());
  const std::string message = std::string(reinterpret_cast<const char*>(&size), sizeof size) + request;
  for (std::size_t sent = 0; sent < message.size();) {
    const ssize_t n = ::send(channel_.get(), message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
    if (n > 0) sent += static_cast<std::size_t>(n);
    if (n >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) fail(end());
    wait_for(POLLOUT);
  }
}

void program::receive(void* to, std::size_t bytes) {
  for (char* next = static_cast<char*>(to); bytes > 0;) {
    const ssize_t n = recv(channel_.get(), next, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 || (n < 0 && errno != EAGAIN)) fail(end());
    if (n < 0) {
      wait_for(POLLIN);
      continue;
    }
    next += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

std::string program::receive() {
  check_usable();
  std::uint32_t size = 0;
  receive(&size, sizeof size);
  if (size > most_answer) {
    (void)end();
    fail("the program that read it answered more than it was asked for");
  }
  std::string answer(size, '\0');
  receive(answer.data(), size);
  return answer;
}

const char* program::window(std::size_t bytes) {
  if (bytes > mapped_) {
    rlimit file_size{};
    getrlimit(RLIMIT_FSIZE, &file_size);  // the window is a file to the kernel
    if (bytes > file_size.rlim_cur)
      throw error("HDF5 rows of " + std::to_string(bytes) +
                  " bytes cannot be read: the limit on the size of files (ulimit -f) is below a row");
    if (window_ != nullptr) munmap(window_, std::exchange(mapped_, 0));
    window_ = nullptr;
    if (ftruncate(shared_.get(), static_cast<off_t>(bytes)) != 0)
      throw error(system_error("HDF5 rows cannot be read: no memory to share"));
    void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, shared_.get(), 0);
    if (mapped == MAP_FAILED) throw error(system_error("HDF5 rows cannot be read: no memory to share"));
    window_ = mapped;
    mapped_ = bytes;
  }
  return static_cast<const char*>(window_);
}

// ------------------------------------------------------------------------------------------------ the source

/// A text of the program on one line and not too long.
std::string one_line(std::string text) {
  constexpr std::size_t max_length = 2000;
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  if (text.size() > max_length) {
    text.resize(max_length);
    text += "...";
  }
  return text;
}

hdf5_array unpack_array(unpacked& from) {
  constexpr std::size_t max_elements = std::size_t{1}
                                       << 58;  // of elements and bytes: sums and products stay below 2^63
  hdf5_array a;
  a.shape = from.get<std::vector<std::size_t>>();
  a.type = one_line(from.get<std::string>());
  a.chunk_rows = from.get<std::size_t>();
  a.packed = from.get<char>() != 0;
  a.chunk_bytes = from.get<std::size_t>();
  a.block_bytes = from.get<std::size_t>();
  std::size_t elements = 1;
  for (const std::size_t axis : a.shape) {
    const std::size_t n = std::max<std::size_t>(axis, 1);
    if (n > max_elements / elements) throw unpack_error("an array is too large");
    elements *= n;
  }
  if (a.chunk_rows > max_elements || a.chunk_bytes > max_elements || a.block_bytes > max_elements)
    throw unpack_error("an array is too large");
  return a;
}

class file_in_program final : public hdf5_source {
  /// What `f` reads of a good answer; throws what the program's reader threw. `object` was asked for, which a
  /// program that ends did not read: an attribute or an array; empty for the file.
  template <class F>
  auto ask(const std::string& object, const std::string& request, F f) try {
    const std::lock_guard hold(lock_);
    program_.send(request, seconds_);
    const std::string answer = program_.receive();
    unpacked in = good(answer);
    return f(in);
  } catch (const program_error& e) {
    fail(object, e.what());
  } catch (const unpack_error& e) {
    fail(object, e.what());
  }
  [[noreturn]] void fail(const std::string& object, const std::string& why) const {
    throw file_error(path_, (object.empty() ? "it" : one_line(object) + " cannot be read, it") +
                                " is truncated or damaged: " + why);
  }
  unpacked good(const std::string& answer) const {
    unpacked in = read_back(answer);
    const char kind = in.get<char>();
    if (kind == 'k') return in;
    if (kind == 'f') throw file_error(path_, one_line(in.get<std::string>()));
    const std::string argument = one_line(in.get<std::string>()), value = one_line(in.get<std::string>()),
                      allowed = one_line(in.get<std::string>());
    if (kind == 's') throw shape_error(argument, value, allowed);
    throw argument_error(argument, value, allowed);
  }

 public:
  file_in_program(int file, std::uint64_t bytes, std::string path, const hdf5_access& access)
      : path_(std::move(path)),
        seconds_(access.seconds + static_cast<double>(bytes) / bytes_per_second),
        program_(file, access.memory.value_or(least_memory + 4 * bytes), access.program) {
    (void)ask("", (packed() << call::open).take(), [](unpacked&) { return 0; });
  }

  bool has(const std::string& name) override {
    return ask(name, (packed() << call::has << name).take(),
               [](unpacked& in) { return in.get<char>() != 0; });
  }
  std::vector<std::string> names() override {
    return ask("", (packed() << call::names).take(),
               [](unpacked& in) { return in.get<std::vector<std::string>>(); });
  }
  hdf5_array describe(const std::string& name) override {
    const std::lock_guard hold(lock_);
    if (const auto known = arrays_.find(name); known != arrays_.end()) return known->second;
    return arrays_[name] = ask(name, (packed() << call::describe << name).take(), unpack_array);
  }
  std::vector<std::size_t> expect(hdf5_element element, const std::string& name,
                                  std::size_t dimensions) override {
    const std::lock_guard hold(lock_);
    const hdf5_array a =
        ask(name, (packed() << call::expect << element << name << std::uint64_t{dimensions}).take(),
            unpack_array);
    if (a.shape.size() != dimensions)
      throw file_error(path_, "the program that read it answered something else");
    arrays_[name] = a;
    return a.shape;
  }
  void read(hdf5_element element, const std::string& name, std::size_t first, std::size_t rows,
            void* to) override;
  std::optional<hdf5_attribute> attribute(const std::string& name, const std::string& attribute) override {
    return ask("attribute " + attribute, (packed() << call::attribute << name << attribute).take(),
               [](unpacked& in) -> std::optional<hdf5_attribute> {
                 switch (in.get<char>()) {
                   case '0':
                     return in.get<std::int64_t>();
                   case '1':
                     return in.get<double>();
                   case '2':
                     return in.get<std::string>();
                   default:
                     return std::nullopt;
                 }
               });
  }
  std::vector<double> attribute_numbers(const std::string& name, const std::string& attribute) override {
    return ask("attribute " + attribute, (packed() << call::numbers << name << attribute).take(),
               [](unpacked& in) { return in.get<std::vector<double>>(); });
  }
  std::string remark() override {
    return one_line(
        ask("", (packed() << call::remark).take(), [](unpacked& in) { return in.get<std::string>(); }));
  }

 private:
  std::string path_;
  double seconds_;
  std::recursive_mutex lock_;
  program program_;
  std::map<std::string, hdf5_array> arrays_;
};

/// In pieces of whole rows: while one is copied out of a half of the window, the program reads the next into
/// the other.
void file_in_program::read(hdf5_element element, const std::string& name, std::size_t first, std::size_t rows,
                           void* to) try {
  const std::lock_guard hold(lock_);
  const hdf5_array a = describe(name);
  std::size_t row = bytes_of(element);
  for (std::size_t i = 1; i < a.shape.size(); i++) row *= a.shape[i];
  const std::size_t total = a.shape.empty() ? 1 : a.shape[0];
  if (first > total || rows > total - first)
    throw shape_error("rows", std::to_string(first) + " + " + std::to_string(rows),
                      "at most " + std::to_string(total) + " rows in all");
  const auto request = [&](const rows_request& r) {
    return (packed() << call::read << element << name << r).take();
  };
  if (rows == 0 || row == 0) return ask(name, request({first, 0, 0, 0}), [](unpacked&) {});  // of this type

  const std::size_t slot = std::max(slot_bytes, row), slots = row > large_row ? 1 : 2;
  std::size_t piece = slot / row;
  if (a.chunk_rows > 1 && piece > a.chunk_rows) piece -= piece % a.chunk_rows;
  const char* from = program_.window(slots * slot);
  const std::size_t pieces = (rows - 1) / piece + 1;
  const auto rows_of = [&](std::size_t i) { return std::min(piece, rows - i * piece); };
  const auto start = [&](std::size_t i) {
    program_.send(request({first + i * piece, rows_of(i), program_.window_bytes(), i % slots * slot}),
                  seconds_ + static_cast<double>(slots * slot) / bytes_per_second);
  };
  for (std::size_t i = 0; i < std::min(slots, pieces); i++) start(i);
  for (std::size_t i = 0; i < pieces; i++) {
    const std::string answer = program_.receive();
    try {
      (void)good(answer);
    } catch (...) {  // the answers that are under way belong to this call
      for (std::size_t k = i + 1; k < std::min(i + slots, pieces); k++) (void)program_.receive();
      throw;
    }
    std::memcpy(static_cast<char*>(to) + i * piece * row, from + i % slots * slot, rows_of(i) * row);
    if (i + slots < pieces) start(i + slots);
  }
} catch (const program_error& e) {
  fail(name, e.what());
} catch (const unpack_error& e) {
  fail(name, e.what());
}

}  // namespace

std::unique_ptr<hdf5_source> hdf5_in_program(int descriptor, std::uint64_t bytes, const std::string& path,
                                             const hdf5_access& access) {
  return std::make_unique<file_in_program>(descriptor, bytes, path, access);
}

hdf5_program about_hdf5_program(const hdf5_access& access) {
  const program started(-1, least_memory, access.program);
  return started.about();
}

}  // namespace wb
