#pragma once
// Typed errors. Every message is one line that names what was wrong, its value and what is allowed.
#include <cstddef>
#include <stdexcept>
#include <string>

namespace wb {

/// Base of everything Warpband throws on purpose.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A setting the caller gave is not allowed: which, its value, what is allowed.
class argument_error : public error {
 public:
  argument_error(std::string argument, std::string value, std::string allowed)
      : error(argument + " = " + value + " is not allowed: expected " + allowed),
        argument_(std::move(argument)),
        value_(std::move(value)),
        allowed_(std::move(allowed)) {}
  const std::string& argument() const noexcept { return argument_; }
  const std::string& value() const noexcept { return value_; }
  const std::string& allowed() const noexcept { return allowed_; }

 private:
  std::string argument_, value_, allowed_;
};

/// An array's shape does not match the call.
class shape_error : public argument_error {
 public:
  using argument_error::argument_error;
};

/// A device is missing, refused work or failed.
class device_error : public error {
 public:
  using error::error;
};

/// An allocation failed. Nothing leaks and the executor stays usable.
class memory_error : public error {
 public:
  memory_error(std::size_t bytes, const std::string& where)
      : error("out of memory: " + std::to_string(bytes) + " bytes on " + where), bytes_(bytes) {}
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
};

/// A file cannot be read, written or understood.
class file_error : public error {
 public:
  file_error(const std::string& path, const std::string& reason) : error(path + ": " + reason), path_(path) {}
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace wb
