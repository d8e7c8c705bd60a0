#include <warpband/io/replacement.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include <warpband/core/error.hpp>

namespace wb {

namespace fs = std::filesystem;

namespace {

/// Locks an open file against other opens of it, until it is closed, be it by the death of its process.
#ifdef F_OFD_SETLK
bool set_lock(int file, short type) {
  struct flock whole {};
  whole.l_type = type;
  whole.l_whence = SEEK_SET;
  return fcntl(file, F_OFD_SETLK, &whole) == 0;
}
#else
bool set_lock(int, short) {
  errno = ENOTSUP;
  return false;
}
#endif
bool lock(int file) { return set_lock(file, F_WRLCK); }
/// Whether nobody holds a lock, neither this class nor a library that writes by name and locks with flock(2).
bool is_free(int file) {
  return flock(file, LOCK_EX | LOCK_NB) == 0 && flock(file, LOCK_UN) == 0 && lock(file);
}

/// Where a file of this name lies or would lie: links are followed, also one that points to nothing yet.
fs::path place_of(const std::string& path) {
  std::error_code status;
  fs::path place = fs::absolute(path, status);
  if (!status) place = fs::weakly_canonical(place, status);
  if (status) return path;
  for (int i = 0; i < 40 && fs::is_symlink(place, status); i++) {
    const fs::path to = fs::read_symlink(place, status);
    if (status) break;
    place = fs::weakly_canonical(place.parent_path() / to, status);
    if (status) return path;
  }
  return place;
}

/// The process in NAME.tmpPID-N, for the NAME given; 0 for any other name.
pid_t owner_of(const std::string& file, const std::string& name) {
  const std::string begin = name + ".tmp";
  if (!file.starts_with(begin)) return 0;
  const auto number = [&](std::size_t from, std::size_t to, std::size_t most_digits) {
    return from < to && to - from <= most_digits &&
           file.find_first_not_of("0123456789", from) >= std::min(to, file.size()) &&
           (file[from] != '0' || to - from == 1);
  };
  const std::size_t dash = file.find('-', begin.size());
  if (dash == std::string::npos || !number(begin.size(), dash, 9) || !number(dash + 1, file.size(), 2))
    return 0;
  return static_cast<pid_t>(std::stol(file.substr(begin.size(), dash - begin.size())));
}

/// Removes what killed processes left beside `target`. A file stays unless two things say that nobody writes
/// it: its process is gone, and nobody holds its lock, as a process does that cannot be seen from here (in
/// another container, on another machine).
void remove_leftovers(const fs::path& target) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  // fs::directory_iterator of libstdc++ ends the program if memory runs out.
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder.c_str()), closedir);
  if (listing == nullptr) return;  // a folder that cannot be read has nothing to remove
  while (const dirent* entry = readdir(listing.get())) {
    const pid_t owner = owner_of(entry->d_name, target.filename().string());
    if (owner <= 0) continue;
    if (owner != getpid() && (kill(owner, 0) == 0 || errno != ESRCH)) continue;
    const std::string leftover = (folder / entry->d_name).string();
    const int file = open(leftover.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    struct stat opened {};
    struct stat named {};
    if (fstat(file, &opened) == 0 && S_ISREG(opened.st_mode) && is_free(file) &&
        lstat(leftover.c_str(), &named) == 0 && named.st_ino == opened.st_ino &&
        named.st_dev == opened.st_dev)
      unlink(leftover.c_str());
    close(file);
  }
}

constexpr int none = -1, taken = -2;  // in the place of a descriptor

/// A socket's name without a file: the system gives it to one process at a time. The file is known by its
/// folder and its name, since a new file takes the place of the old one.
int claimed_name(const struct stat& folder, const std::string& file) {
  const std::string name = "warpband-output:" + std::to_string(folder.st_dev) + ":" +
                           std::to_string(folder.st_ino) + ":" +
                           std::to_string(std::hash<std::string>{}(file));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                           std::min(name.size(), sizeof address.sun_path - 1));
  const int opened = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (opened < 0 || bind(opened, reinterpret_cast<const sockaddr*>(&address), size) == 0) return opened;
  const int why = errno;
  close(opened);
  return why == EADDRINUSE ? taken : none;
}

/// An open file of this name that no other process has locked. `none` where the folder takes no new file or
/// the file system has no locks.
int locked_file(const std::string& name) {
  for (;;) {
    const int file = open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (file < 0) return none;
    if (!lock(file)) {
      const bool is_taken = errno == EAGAIN || errno == EACCES;
      close(file);
      return is_taken ? taken : none;
    }
    // The last owner may have removed it between the two calls.
    struct stat opened {};
    struct stat named {};
    if (fstat(file, &opened) == 0 && lstat(name.c_str(), &named) == 0 && named.st_ino == opened.st_ino &&
        named.st_dev == opened.st_dev)
      return file;
    close(file);
  }
}

}  // namespace

replacement::replacement(const std::string& path) : path_(path) {
  const fs::path target = place_of(path);
  target_ = target.string();
  struct stat existing {};
  const bool exists = stat(target_.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) fail("it is a folder: name a file");
  if (exists && !S_ISREG(existing.st_mode)) fail("it is not a regular file");
  if (exists && access(target_.c_str(), W_OK) != 0) fail(std::strerror(errno));
  if (target.filename().empty()) fail("it is a folder: name a file");
  for (int i = 0; i == 0 || (file_ < 0 && errno == EEXIST && i < 100);
       i++) {  // one that was left behind stays
    name_ = target_ + ".tmp" + std::to_string(getpid()) + "-" + std::to_string(i);
    file_ = open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (file_ < 0) {
    name_.clear();
    fail(errno == ENOENT ? "its folder does not exist" : std::strerror(errno));
  }
  (void)lock(file_);                                          // says that somebody is at it
  if (exists) (void)fchmod(file_, existing.st_mode & 07777);  // as it was, as far as we may
}

replacement::~replacement() {
  if (file_ >= 0) close(file_);
  if (!name_.empty()) unlink(name_.c_str());
}

void replacement::write(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file_, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(std::strerror(errno));
    done += static_cast<std::size_t>(n);
  }
}

void replacement::commit() {
  if (fsync(file_) != 0) fail(std::strerror(errno));
  // Closed last: until then the lock keeps the new file from being taken for a leftover.
  if (rename(name_.c_str(), target_.c_str()) != 0) fail(std::strerror(errno));
  name_.clear();
  // The new name is to be on disk too. Not every file system can do that, and the file is there in any case.
  const fs::path folder = fs::path(target_).parent_path();
  const int opened = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened >= 0) {
    (void)fsync(opened);
    close(opened);
  }
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0) fail(std::strerror(errno));
}

void replacement::fail(const std::string& why) const {
  // A constructor that throws runs no destructor, but has nothing to undo either.
  throw file_error(path_, "cannot write: " + why);
}

output_claim::output_claim(const std::string& path) {
  const fs::path target = place_of(path);
  struct stat status {};
  if (stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (stat(folder.c_str(), &status) != 0) return;  // which writing says
  socket_ = claimed_name(status, target.filename().string());
  if (socket_ != taken) {
    lock_ = target.string() + ".lock";
    locked_ = locked_file(lock_);
  }
  if (socket_ != taken && locked_ != taken) return;
  if (socket_ >= 0) close(socket_);
  throw file_error(path, "another run writes it: give this one another name");
}
output_claim::~output_claim() {
  if (locked_ >= 0) {
    // Before the lock ends: whoever opened the file sees that it has no name any more. What is not empty was
    // somebody's before.
    struct stat status {};
    if (fstat(locked_, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0) unlink(lock_.c_str());
    close(locked_);
  }
  if (socket_ >= 0) close(socket_);
}
output_claim::output_claim(output_claim&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      locked_(std::exchange(other.locked_, -1)),
      lock_(std::move(other.lock_)) {}

void check_writable(const std::string& path) {
  const replacement r(path);
  remove_leftovers(r.target());
}
bool same_place(const std::string& a, const std::string& b) {
  std::error_code none;
  return place_of(a) == place_of(b) || fs::equivalent(a, b, none);
}
void write_file(const std::string& path, const std::string& text) {
  replacement r(path);
  r.write(text);
  r.commit();
}

}  // namespace wb
