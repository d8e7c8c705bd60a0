#pragma once
// Arrays in .npy files, as numpy.save writes them: versions 1.0, 2.0 and 3.0 of the format, complex64 or
// complex128 in either byte order, in C order. complex128 is converted to complex64: NaN and infinities stay
// what they are, and a number beyond float32 is an error.
//
// The header is read strictly: its three entries once each, a shape of at most 32 axes, and a file of exactly
// the size that they say. Nothing is allocated by what a file says before its size agrees. Every failure is a
// file_error of one line.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <warpband/core/error.hpp>

namespace wb {

/// Whether the file begins as a .npy file does; false where it cannot be read.
bool is_npy(const std::string& path);

/// A .npy file that is read. Threads: one at a time for each object.
class npy_reader {
 public:
  /// Throws file_error.
  explicit npy_reader(const std::string& path);
  ~npy_reader();
  npy_reader(const npy_reader&) = delete;
  npy_reader& operator=(const npy_reader&) = delete;

  const std::string& path() const noexcept { return path_; }
  const std::vector<std::size_t>& shape() const noexcept { return shape_; }
  /// complex128 is converted.
  bool converts() const noexcept { return double_; }
  /// Rows [first, first + rows) of the first axis, each with all its elements; an array without axes is one
  /// row. Throws file_error, and shape_error where the array has no such rows.
  void read(std::size_t first, std::size_t rows, std::complex<float>* to) const;

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw file_error(path_, reason); }
  void parse(const std::string& header);
  void read_at(std::uint64_t offset, std::size_t bytes, void* to) const;

  std::string path_;
  int file_ = -1;
  std::uint64_t bytes_ = 0, start_ = 0;  // of the file; where numbers begin
  std::vector<std::size_t> shape_;
  bool double_ = false, swapped_ = false;
};

}  // namespace wb
