#include <warpband/io/replacement.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <warpband/core/error.hpp>

namespace wb {

namespace fs = std::filesystem;

replacement::replacement(const std::string& path) : path_(path) {
  std::error_code status;
  fs::path target = fs::weakly_canonical(path, status);  // a link stays, what it points to is replaced
  if (status) target = path;
  target_ = target.string();
  struct stat there {};
  const bool exists = stat(target_.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) fail("it is a folder: name a file");
  if (exists && !S_ISREG(there.st_mode)) fail("it is not a regular file");
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
  if (exists) (void)fchmod(file_, there.st_mode & 07777);  // as it was, as far as we may
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
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0) fail(std::strerror(errno));
  if (rename(name_.c_str(), target_.c_str()) != 0) fail(std::strerror(errno));
  name_.clear();
}

void replacement::fail(const std::string& why) const {
  // A constructor that throws runs no destructor, but has nothing to undo either.
  throw file_error(path_, "cannot write: " + why);
}

void check_writable(const std::string& path) { const replacement r(path); }
void write_file(const std::string& path, const std::string& text) {
  replacement r(path);
  r.write(text);
  r.commit();
}

}  // namespace wb
