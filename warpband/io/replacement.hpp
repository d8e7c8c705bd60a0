#pragma once
// Files that are there in full or not at all.
#include <string>

namespace wb {

/// A new file beside `path`, which takes its name on commit; without a commit it is removed again and what
/// was at `path` stays. A symbolic link stays a link: what it points to is replaced. A process that is killed
/// leaves the new file, PATH.tmpPID-N, behind and `path` as it was; check_writable removes it later.
/// Threads: one at a time.
class replacement {
 public:
  /// Throws file_error: the folder is missing or not writable, the path is a folder or not a regular file.
  explicit replacement(const std::string& path);
  ~replacement();
  replacement(const replacement&) = delete;
  replacement& operator=(const replacement&) = delete;
  /// The new file's name until commit, for libraries that write by name. The file exists, is empty, and holds
  /// a lock (fcntl, of the open file). By the lock others see that it is being written.
  const std::string& name() const noexcept { return name_; }
  /// The file that will be replaced: `path` with links resolved.
  const std::string& target() const noexcept { return target_; }
  /// Adds text at the end. Throws file_error.
  void write(const std::string& text);
  /// Brings the new file to disk and gives it the path's name. Throws file_error. Call once.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& why) const;
  std::string path_, target_, name_;
  int file_ = -1;
};

/// Keeps a file for this object: while it lives, another one of the same file throws, in this process and in
/// others. Who writes a file again and again, as a long run does its result, claims it.
///
/// Two things say so, and both end with the process, however that ends. A lock (fcntl, of the open file) on
/// PATH.lock is seen by whoever sees the folder: also in other containers and, where the server has locks
/// (NFS with lockd, NFSv4), on other machines. The name of a socket is seen on this machine alone, in this
/// network namespace. It needs neither locks nor a folder that takes new files. The last owner removes
/// PATH.lock. A process that is killed leaves it, empty and without a lock: it is in nobody's way, and the
/// next claim of PATH takes it and removes it. Threads: one at a time.
class output_claim {
 public:
  /// Throws file_error: "another run writes it". What is there and no regular file is not claimed.
  explicit output_claim(const std::string& path);
  ~output_claim();
  output_claim(output_claim&& other) noexcept;
  output_claim(const output_claim&) = delete;
  output_claim& operator=(const output_claim&) = delete;

 private:
  int socket_ = -1, locked_ = -1;
  std::string lock_;  // the name of the locked file
};

/// Throws file_error where write_file would fail at once. Removes what processes that were killed while they
/// wrote this file left beside it; what a living process writes stays.
void check_writable(const std::string& path);
/// Whether two names are, or would be, one file.
bool same_place(const std::string& a, const std::string& b);
/// Replaces a file by `text`, in full or not at all. Throws file_error.
void write_file(const std::string& path, const std::string& text);

}  // namespace wb
