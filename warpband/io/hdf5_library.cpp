#include <warpband/io/hdf5_library.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <complex>
#include <cstring>
#include <iterator>
#include <new>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>  // where newer versions keep what a file driver is made of
#endif

#include <warpband/core/error.hpp>

namespace wb::hdf5_library {

// ------------------------------------------------------------------------------------------------- sessions

namespace {

std::recursive_mutex& turns() {
  static std::recursive_mutex m;
  return m;
}

}  // namespace

session::session() : lock_(turns()) {
  static const bool once = H5dont_atexit() >= 0;  // too late, and refused, where the program used HDF5 before
  (void)once;
  unsigned version2 = 0;
  quiet_ = H5Eauto_is_v2(H5E_DEFAULT, &version2) >= 0 && version2 != 0 &&
           H5Eget_auto2(H5E_DEFAULT, &function_, &data_) >= 0 &&
           H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  plain_ = H5PLget_loading_state(&plugins_) >= 0 && H5PLset_loading_state(0) >= 0;
}

session::~session() {
  if (plain_) H5PLset_loading_state(plugins_);
  if (quiet_) H5Eset_auto2(H5E_DEFAULT, function_, data_);
}

// ------------------------------------------------------------------------------------------------- messages

std::string shown(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  if (text.size() > 200) text.replace(200, text.npos, "...");
  return text;
}

std::string reason() {
  std::string text;
  const auto innermost = [](unsigned n, const H5E_error2_t* error, void* to) noexcept -> herr_t {
    try {
      if (n == 0 && error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
    } catch (...) {
      return -1;
    }
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &text);
  return shown(text.empty() ? "HDF5 gives no reason" : text);
}

std::string list(const std::vector<std::size_t>& shape) {
  std::string text = "[";
  for (std::size_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

// ---------------------------------------------------------------------------------------------- memory, rows

handle memory_type(hdf5_element element) {
  switch (element) {
    case hdf5_element::uint8:
      return handle(H5Tcopy(H5T_NATIVE_UINT8));
    case hdf5_element::int8:
      return handle(H5Tcopy(H5T_NATIVE_INT8));
    case hdf5_element::int16:
      return handle(H5Tcopy(H5T_NATIVE_INT16));
    case hdf5_element::int32:
      return handle(H5Tcopy(H5T_NATIVE_INT32));
    case hdf5_element::int64:
      return handle(H5Tcopy(H5T_NATIVE_INT64));
    case hdf5_element::float32:
      return handle(H5Tcopy(H5T_NATIVE_FLOAT));
    case hdf5_element::float64:
      return handle(H5Tcopy(H5T_NATIVE_DOUBLE));
    case hdf5_element::complex64:
    case hdf5_element::complex128:
      break;
  }
  const handle part =
      memory_type(element == hdf5_element::complex64 ? hdf5_element::float32 : hdf5_element::float64);
  handle type(H5Tcreate(H5T_COMPOUND, bytes_of(element)));
  H5Tinsert(type.id(), "r", 0, part.id());
  H5Tinsert(type.id(), "i", bytes_of(element) / 2, part.id());
  return type;
}

std::size_t row_elements(const std::vector<std::size_t>& shape) {
  std::size_t n = 1;
  for (std::size_t i = 1; i < shape.size(); i++) n = times(n, shape[i]);
  return n;
}

handle select_rows(hid_t dataset, const std::vector<std::size_t>& shape, std::size_t first, std::size_t rows,
                   std::size_t axis) {
  handle space(H5Dget_space(dataset));
  if (shape.empty() || !space.valid()) return space;
  std::vector<hsize_t> start(shape.size(), 0), count(shape.begin(), shape.end());
  start[axis] = first;
  count[axis] = rows;
  if (H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0) {
    return handle();
  }
  return space;
}

handle memory_rows(const std::vector<std::size_t>& shape, std::size_t rows, std::size_t axis) {
  if (shape.empty()) return handle(H5Screate(H5S_SCALAR));
  std::vector<hsize_t> extent(shape.begin(), shape.end());
  extent[axis] = rows;
  return handle(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr));
}

void check_rows(const std::vector<std::size_t>& shape, std::size_t first, std::size_t rows) {
  const std::size_t total = shape.empty() ? 1 : shape[0];
  if (first > total || rows > total - first) {
    throw shape_error("rows", std::to_string(first) + " + " + std::to_string(rows),
                      "at most " + std::to_string(total) + " rows in all");
  }
}

// --------------------------------------------------------------------------------------------------- driver

namespace {

struct driven_file {
  H5FD_t base;  // what HDF5 sees, first
  open_file* to;
  haddr_t in_use, end;  // HDF5's "end of address" and "end of file"
};

const driven_file& as_driven(const H5FD_t* file) { return *reinterpret_cast<const driven_file*>(file); }
driven_file& as_driven(H5FD_t* file) { return *reinterpret_cast<driven_file*>(file); }

H5FD_t* driver_open(const char*, unsigned flags, hid_t access, haddr_t) {
  const void* info = H5Pget_driver_info(access);
  if (info == nullptr) return nullptr;
  open_file* to = *static_cast<open_file* const*>(info);
  if ((flags & H5F_ACC_TRUNC) != 0) {
    if (ftruncate(to->descriptor, 0) != 0) to->error = errno;
    to->bytes = 0;
  }
  auto* made = new (std::nothrow) driven_file{{}, to, 0, to->bytes};
  return made == nullptr ? nullptr : &made->base;
}

herr_t driver_close(H5FD_t* base) {
  delete &as_driven(base);
  return 0;
}

herr_t driver_query(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
  }
  return 0;
}

haddr_t driver_get_eoa(const H5FD_t* base, H5FD_mem_t) { return as_driven(base).in_use; }
haddr_t driver_get_eof(const H5FD_t* base, H5FD_mem_t) { return as_driven(base).end; }
herr_t driver_set_eoa(H5FD_t* base, H5FD_mem_t, haddr_t to) {
  as_driven(base).in_use = to;
  return 0;
}

herr_t driver_read(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* to) {
  char* next = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = pread(as_driven(base).to->descriptor, next, size, static_cast<off_t>(address));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) {  // past the end: not written yet, or cut off since
      std::memset(next, 0, size);
      break;
    }
    next += n;
    address += static_cast<haddr_t>(n);
    size -= static_cast<std::size_t>(n);
  }
  return 0;
}

herr_t driver_write(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, const void* from) {
  driven_file& file = as_driven(base);
  const char* next = static_cast<const char*>(from);
  file.end = std::max(file.end, address + size);
  while (size > 0 && file.to->error == 0 && !file.to->dropped) {
    const ssize_t n = pwrite(file.to->descriptor, next, size, static_cast<off_t>(address));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      file.to->error = errno;
      break;
    }
    next += n;
    address += static_cast<haddr_t>(n);
    size -= static_cast<std::size_t>(n);
  }
  return 0;
}

herr_t driver_truncate(H5FD_t* base, hid_t, hbool_t) {
  driven_file& file = as_driven(base);
  if (file.end != file.in_use && file.to->error == 0 && !file.to->dropped &&
      ftruncate(file.to->descriptor, static_cast<off_t>(file.in_use)) != 0) {
    file.to->error = errno;
  }
  file.end = file.in_use;
  return 0;
}

handle driver() {
  H5FD_class_t made{};
#if H5_VERSION_GE(1, 13, 2)
  made.version = H5FD_CLASS_VERSION;
  made.value = static_cast<H5FD_class_value_t>(300);  // 256 to 511 need no registration
#endif
  made.name = "warpband";
  made.maxaddr = HADDR_MAX / 4;
  made.fc_degree = H5F_CLOSE_WEAK;
  made.fapl_size = sizeof(open_file*);
  made.open = driver_open;
  made.close = driver_close;
  made.query = driver_query;
  made.get_eoa = driver_get_eoa;
  made.set_eoa = driver_set_eoa;
  made.get_eof = driver_get_eof;
  made.read = driver_read;
  made.write = driver_write;
  made.truncate = driver_truncate;
  const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), made.fl_map);
  return handle(H5FDregister(&made));
}

}  // namespace

handle access_to(open_file& file) {
  handle access(H5Pcreate(H5P_FILE_ACCESS));
  const handle registered = driver();
  const open_file* to = &file;
  if (!registered.valid() || H5Pset_driver(access.id(), registered.id(), &to) < 0) return handle();
  return access;
}

}  // namespace wb::hdf5_library
