#pragma once
// What reading and writing with libhdf5 share: its identifiers, turns and messages, and the driver through
// which it reaches a file. Not installed as an interface: it needs <hdf5.h>.
#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <warpband/io/hdf5_source.hpp>

namespace wb::hdf5_library {

/// An HDF5 identifier, closed at the end.
/// Threads: one at a time, within a session.
class handle {
 public:
  handle() = default;
  explicit handle(hid_t id) : id_(id) {}
  handle(handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  handle& operator=(handle&& other) noexcept {
    if (this != &other) {
      close();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
    }
    return *this;
  }
  ~handle() { close(); }
  hid_t id() const { return id_; }
  bool valid() const { return id_ >= 0; }
  /// False where HDF5 could not close it.
  bool close() { return id_ < 0 || H5Idec_ref(std::exchange(id_, H5I_INVALID_HID)) >= 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

/// Held while HDF5 is called: one thread at a time, HDF5 prints nothing, and loads no filters of a file's
/// choice from plugins. What the program has set for both is put back. The first one keeps HDF5 from running
/// its clean-up when the program ends, which crashes on what a damaged file leaves behind.
/// Threads: any number; they take turns.
class session {
 public:
  session();
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
  unsigned plugins_ = 0;
  bool quiet_ = false, plain_ = false;
};

/// A text of a file on one line and not too long: names in a file may hold anything.
std::string shown(std::string text);
/// What HDF5 says where its last call failed first, made short.
std::string reason();
/// "[3, 4]".
std::string list(const std::vector<std::size_t>& shape);

/// The type in memory and, since this machine's byte order is as good as any, in files.
handle memory_type(hdf5_element element);

inline constexpr std::size_t max_size = std::numeric_limits<std::ptrdiff_t>::max();
inline constexpr std::size_t mib = std::size_t{1} << 20;
/// a * b, or `max_size` where that is less.
inline std::size_t times(std::size_t a, std::size_t b) {
  return b != 0 && a > max_size / b ? max_size : a * b;
}
/// Elements of a row: of all axes but the first.
std::size_t row_elements(const std::vector<std::size_t>& shape);

/// The part of a dataset's space that rows [first, first + rows) of an axis take; not valid where HDF5
/// refuses.
handle select_rows(hid_t dataset, const std::vector<std::size_t>& shape, std::size_t first, std::size_t rows,
                   std::size_t axis = 0);
/// The same rows in memory. With the same axes: HDF5 is many times slower between spaces that differ.
handle memory_rows(const std::vector<std::size_t>& shape, std::size_t rows, std::size_t axis = 0);
/// Throws shape_error where an array has no such rows.
void check_rows(const std::vector<std::size_t>& shape, std::size_t first, std::size_t rows);

/// An open file that HDF5 reads or writes. It opens none itself, so that it can work where nothing may be
/// opened. It does not get over a write that fails (a full disk): it cannot close the file any more, and
/// tries again when the program ends. So no write fails for it: the first error is kept here, and everything
/// after it is dropped.
struct open_file {
  int descriptor = -1;
  std::uint64_t bytes = 0;  // when HDF5 opens it
  int error = 0;            // errno of a write
  bool dropped = false;     // nobody wants the file any more
};
/// Settings of H5Fopen and H5Fcreate for a file, which must outlive the identifier; the name that these
/// functions get means nothing. Not valid where HDF5 has no memory.
handle access_to(open_file& file);
/// The name for them: HDF5 asks for the working folder where a name is not absolute.
inline constexpr char no_name[] = "/";

}  // namespace wb::hdf5_library
