#pragma once
// Arrays in HDF5 files, as h5py, MATLAB and others read and write them.
//
// A record is a file whose root holds arrays with one common first axis, the batch, and attributes that say
// what they are. Element types: std::uint8_t, std::int16_t, std::int32_t, std::int64_t, float, double and
// std::complex<float>, the last as the compound {"r": float32, "i": float32} of h5py. Types are taken exactly
// (byte order apart): a float64 array is not read as float32, because what a file holds should be what its
// writer meant.
//
// Arrays that MATLAB saved (version 7.3: they have an attribute MATLAB_class) are read as MATLAB shows them:
// their axes, which the file has in reverse, come in MATLAB's order, complex numbers are the compound
// {"real", "imag"}, and numbers are converted, since MATLAB's are float64: to float32, NaN and infinities
// staying what they are, and to integers where they are whole. One that does not fit is a file_error, and so
// is a complex number where a real one is expected. Where a vector is expected a row is one too, [1, 1] is
// one element, and axes of one element that MATLAB drops at the end are there. remark() says that it was
// done.
//
// Links into other files are not followed, and filters are not loaded from plugins. Attributes are read by
// name alone, when type, size, precision and byte order are known to be good: HDF5 does not survive every
// damage to them. Faults that are left are libhdf5's own: hdf5_access.untrusted reads a file in a process of
// its own.
//
// Every failure of a file is a file_error of one line: the file, the array, what is there and what was
// expected. Nothing is printed. One thread at a time per object; calls on several objects take turns, as
// libhdf5 is not reentrant. Built where CMake's WARPBAND_HDF5 is on; the macro WARPBAND_HDF5 is then 1, else
// 0.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <warpband/core/error.hpp>

namespace wb {

/// The value of an attribute.
using hdf5_attribute = std::variant<std::int64_t, double, std::string>;
using hdf5_attributes = std::map<std::string, hdf5_attribute>;

/// What an array in a file is.
struct hdf5_array {
  std::vector<std::size_t> shape;
  std::string type;            // "uint8", "float32", "complex64", ... ; a description for types not read here
  std::size_t chunk_rows = 0;  // rows of a chunk; 0 where the array lies in one piece
  bool packed = false;         // by gzip or another filter: each chunk is unpacked as a whole
  std::size_t chunk_bytes = 0;  // unpacked, of the chunks that share their rows; 0 where it lies in one piece
  std::size_t block_bytes = 0;  // what is held while it is read, of an array that is converted
};

/// How files are read.
struct hdf5_access {
  /// In a process of its own, bounded by the rest of this: a file that makes libhdf5 crash, loop or fill the
  /// memory is then a file_error. See child_process and SECURITY.md. Opening takes a few ms more.
  bool untrusted = false;
  std::size_t memory = std::size_t{1} << 30;  // bytes, of that process
  double seconds = 10;                        // for each call, and one more for each 8 MiB that it reads
};
/// What readers take that are not told otherwise: one for the whole process, files being trusted at first.
/// Set it before threads read files.
hdf5_access default_hdf5_access();
void set_default_hdf5_access(const hdf5_access& access);

class untrusted_hdf5;

/// An HDF5 file that is read. Threads: one at a time for each object. Of one that was moved
/// from path() is empty, and every other call throws error.
class hdf5_reader {
 public:
  /// Throws file_error: not there, a folder, not HDF5, truncated.
  explicit hdf5_reader(const std::string& path, const hdf5_access& access = default_hdf5_access());
  ~hdf5_reader();
  hdf5_reader(hdf5_reader&&) noexcept;
  hdf5_reader(const hdf5_reader&) = delete;
  hdf5_reader& operator=(const hdf5_reader&) = delete;

  const std::string& path() const noexcept;
  bool has(const std::string& name) const;
  /// Names of the arrays in the root, sorted.
  std::vector<std::string> names() const;
  /// Throws file_error where there is no such array; the message names those that are there.
  hdf5_array describe(const std::string& name) const;
  /// Throws file_error unless the array is there and of element type T with `dimensions` axes. Returns its
  /// shape.
  template <class T>
  std::vector<std::size_t> expect(const std::string& name, std::size_t dimensions) const;
  /// Reads rows [first, first + rows) of the first axis, each with all its elements, into `to`; an array
  /// without axes is one row. Throws file_error, and shape_error where the array has no such rows.
  template <class T>
  void read(const std::string& name, std::size_t first, std::size_t rows, T* to) const;
  /// The whole array. Throws file_error, and memory_error where it does not fit.
  template <class T>
  std::vector<T> read(const std::string& name) const;
  /// An attribute of the root (name ""), of an array or a group; nothing where it has none of this name.
  /// Throws file_error where it is neither one number, h5py's bool nor one text (of at most 1 MiB).
  std::optional<hdf5_attribute> attribute(const std::string& name, const std::string& attribute) const;
  /// An attribute of the same that holds any count of numbers, of any width; empty where there is none of
  /// this name. Throws file_error where it holds something else, or more than 2^20.
  std::vector<double> attribute_numbers(const std::string& name, const std::string& attribute) const;
  /// "read as MATLAB wrote it: axes reversed, float64 converted", once an array of MATLAB was expected or
  /// read; without the last words where none is float64. Else empty.
  std::string remark() const;

 private:
  struct state;
  state& held() const;
  std::unique_ptr<state> state_;
  std::unique_ptr<untrusted_hdf5> untrusted_;  // in place of the state
};

/// An HDF5 file that is written: it appears on commit, in full, or not at all (see replacement).
/// Threads: one at a time.
class hdf5_writer {
 public:
  /// Throws file_error, see replacement.
  explicit hdf5_writer(const std::string& path);
  ~hdf5_writer();
  hdf5_writer(const hdf5_writer&) = delete;
  hdf5_writer& operator=(const hdf5_writer&) = delete;

  /// Adds a chunked array of this shape (the first axis is the batch). Chunks are about 1 MiB: whole
  /// rows, or parts of one. Rows that are never written read as zeros. "group/name" makes the group. Throws
  /// argument_error and shape_error.
  template <class T>
  void create(const std::string& name, const std::vector<std::size_t>& shape,
              const hdf5_attributes& attributes = {});
  /// Writes rows [first, first + rows). Throws shape_error, argument_error, and file_error (disk full, ...).
  template <class T>
  void write(const std::string& name, std::size_t first, std::size_t rows, const T* from);
  /// Sets attributes of the root.
  void set(const hdf5_attributes& attributes);
  /// Finishes the file and gives it its name. Throws file_error (disk full, ...). Call once.
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace wb
