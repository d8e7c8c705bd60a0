#pragma once
// Arrays in HDF5 files, as h5py, MATLAB and others read and write them.
//
// A record is a file whose root holds arrays with one common first axis, the batch, and attributes that say
// what they are. Element types: std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, float,
// double, std::complex<float> and std::complex<double>, these two as the compound {"r", "i"} of h5py. Types
// are taken exactly (byte order apart): a float64 array is not read as float32, because what a file holds
// should be what its writer meant.
//
// Arrays that MATLAB saved (version 7.3: they have an attribute MATLAB_class), Octave (save -hdf5: groups
// with an attribute OCTAVE_NEW_FORMAT) and Julia's packages JLD2 and JLD (known by the words before the file)
// are read as these show them: their axes, which the file has in reverse, come in the program's order.
// Complex numbers are the compound {"real", "imag"} or {"re", "im"}. Numbers are converted, since theirs are
// float64 by default: to float32, NaN and infinities staying what they are, and to integers where they are
// whole. One that does not fit is a file_error, and so is a complex number where a real one is expected.
// Where a vector is expected a row is one too, and [1, 1] is one element. Axes of one element that MATLAB
// drops at the end are there. remark() says that it was done.
//
// By default libhdf5 runs in the program warpband-hdf5, started for each file, which can do nothing but read
// that file (confine.hpp): a file that makes libhdf5 crash, loop or fill the memory is a file_error. The
// program is searched beside the file that holds this code. If that is in a folder bin or lib, it is also
// searched in ../libexec/warpband. It is never searched in PATH or the working folder. With
// hdf5_access.trusted libhdf5 runs in this process, and a damaged file can end it. Then, and where files are
// written, its clean-up at the end of the process is off (H5dont_atexit): a program that uses libhdf5 itself
// closes its own files.
//
// Links into other files are not followed, and filters are not loaded from plugins.
//
// Every failure of a file is a file_error of one line: the file, the array, what is there and what was
// expected. Nothing is printed. One thread at a time per object. Calls on several objects run at the same
// time; in this process they take turns, as libhdf5 is not reentrant. Built where CMake's WARPBAND_HDF5 is
// on; the macro WARPBAND_HDF5 is then 1, else 0.
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
  bool trusted = false;    // in this process, unbounded: for files that you wrote. Opening takes 2 ms less
  bool untrusted = false;  // changes nothing: files are not trusted by default
  /// Bytes that the program may take. Absent: 256 MiB and four times the file's size.
  std::optional<std::size_t> memory = {};
  double seconds = 2;  // CPU time of a call, and one more for each 8 MiB of the file and of what it reads
  std::optional<std::string> program = {};  // the path of warpband-hdf5; absent: found as above
};
/// What readers take that are not told otherwise: one for the whole process.
/// Set it before threads read files.
hdf5_access default_hdf5_access();
void set_default_hdf5_access(const hdf5_access& access);

/// What reads files that are not trusted, and what keeps it from doing anything else.
struct hdf5_program {
  std::string path;      // of warpband-hdf5
  bool seccomp = false;  // it can make no system calls but a few; else the kernel or the build lacks them
  int landlock = 0;      // the kernel's version of it, by which it can open no file; 0: the kernel has none
  std::string library;   // "1.10.8", of HDF5
};
/// Starts the program. Throws file_error where it is missing or another one.
hdf5_program about_hdf5_program(const hdf5_access& access = default_hdf5_access());

/// An HDF5 file that is read. Threads: one at a time for each object. Of one that was moved
/// from path() is empty, and every other call throws error.
class hdf5_reader {
 public:
  /// Throws file_error: not there, a folder, not HDF5, truncated; and one that names warpband-hdf5 where that
  /// cannot be started.
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
  /// "read as MATLAB wrote it: axes reversed, float64 converted", once an array of MATLAB (Octave, Julia) was
  /// expected or read; without the last words where none is float64. Else empty.
  std::string remark() const;

 private:
  struct state;
  state& held() const;
  std::unique_ptr<state> state_;
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
