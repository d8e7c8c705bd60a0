#include <warpband/io/hdf5.hpp>

#include <fcntl.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <set>
#include <type_traits>
#include <utility>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>  // where newer versions keep what a file driver is made of
#endif

#include <warpband/core/decimal.hpp>
#include <warpband/io/hdf5_group.hpp>
#include <warpband/io/hdf5_header.hpp>
#include <warpband/io/hdf5_untrusted.hpp>
#include <warpband/io/replacement.hpp>

namespace wb {

namespace {

// ------------------------------------------------------------------------------------------------ handles

/// An HDF5 identifier, closed at the end.
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
/// choice from plugins. What the program has set for both is put back.
class session {
 public:
  session() : lock_(mutex()) {
    // What a damaged file leaves behind in HDF5 makes it complain when the program ends.
    static const bool once =
        H5open() >= 0 && std::atexit([] { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }) == 0;
    (void)once;
    unsigned version2 = 0;
    quiet_ = H5Eauto_is_v2(H5E_DEFAULT, &version2) >= 0 && version2 != 0 &&
             H5Eget_auto2(H5E_DEFAULT, &function_, &data_) >= 0 &&
             H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
    plain_ = H5PLget_loading_state(&plugins_) >= 0 && H5PLset_loading_state(0) >= 0;
  }
  ~session() {
    if (plain_) H5PLset_loading_state(plugins_);
    if (quiet_) H5Eset_auto2(H5E_DEFAULT, function_, data_);
  }
  /// In a copy of the process that was made while this was held: by another thread there, as the system
  /// counts threads.
  static void renew_lock() { new (&mutex()) std::recursive_mutex; }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

 private:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex m;
    return m;
  }
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
  unsigned plugins_ = 0;
  bool quiet_ = false, plain_ = false;
};

// ------------------------------------------------------------------------------------------------ messages

/// A text of a file on one line and not too long: names in a file may hold anything.
std::string shown(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  if (text.size() > 200) text = text.substr(0, 200) + "...";
  return text;
}

/// What HDF5 says where its last call failed first, made short.
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
  const std::string mark = "error message = '";  // of a failed system call, between file names and addresses
  if (const std::size_t at = text.find(mark); at != std::string::npos) {
    text = text.substr(at + mark.size());
    text.resize(std::min(text.size(), text.find('\'')));
  }
  return shown(text.empty() ? "HDF5 gives no reason" : text);
}

std::string list(const std::vector<std::size_t>& shape) {
  std::string text = "[";
  for (std::size_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

// --------------------------------------------------------------------------------------------------- types

template <class T>
constexpr const char* type_name = nullptr;
template <>
constexpr const char* type_name<std::uint8_t> = "uint8";
template <>
constexpr const char* type_name<std::int16_t> = "int16";
template <>
constexpr const char* type_name<std::int32_t> = "int32";
template <>
constexpr const char* type_name<std::int64_t> = "int64";
template <>
constexpr const char* type_name<float> = "float32";
template <>
constexpr const char* type_name<double> = "float64";
template <>
constexpr const char* type_name<std::complex<float>> = "complex64";

/// The type in memory and, since this machine's byte order is as good as any, in files.
template <class T>
handle memory_type() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return handle(H5Tcopy(H5T_NATIVE_UINT8));
  if constexpr (std::is_same_v<T, std::int16_t>) return handle(H5Tcopy(H5T_NATIVE_INT16));
  if constexpr (std::is_same_v<T, std::int32_t>) return handle(H5Tcopy(H5T_NATIVE_INT32));
  if constexpr (std::is_same_v<T, std::int64_t>) return handle(H5Tcopy(H5T_NATIVE_INT64));
  if constexpr (std::is_same_v<T, float>) return handle(H5Tcopy(H5T_NATIVE_FLOAT));
  if constexpr (std::is_same_v<T, double>) return handle(H5Tcopy(H5T_NATIVE_DOUBLE));
  if constexpr (std::is_same_v<T, std::complex<float>>) {
    handle type(H5Tcreate(H5T_COMPOUND, sizeof(T)));
    H5Tinsert(type.id(), "r", 0, H5T_NATIVE_FLOAT);
    H5Tinsert(type.id(), "i", sizeof(float), H5T_NATIVE_FLOAT);
    return type;
  }
}

bool equal(hid_t type, hid_t little, hid_t big) {
  return H5Tequal(type, little) > 0 || H5Tequal(type, big) > 0;
}

/// All bits of the element are the number's, in one of the two usual orders. HDF5 takes other layouts, and
/// those of a damaged file, whose conversion may write past the end.
bool is_plain(hid_t type) {
  const H5T_order_t order = H5Tget_order(type);
  return H5Tget_precision(type) == 8 * H5Tget_size(type) && H5Tget_offset(type) == 0 &&
         (order == H5T_ORDER_LE || order == H5T_ORDER_BE);
}

bool is_float16(hid_t type) {
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  return H5Tget_size(type) == 2 && is_plain(type) && H5Tget_norm(type) == H5T_NORM_IMPLIED &&
         H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
         sign == 15 && exponent == 10 && exponent_bits == 5 && mantissa == 0 && mantissa_bits == 10 &&
         H5Tget_ebias(type) == 15;
}

/// h5py's bool: an enumeration of bytes with FALSE and TRUE.
bool is_bool(hid_t type) {
  std::int8_t no = -1, yes = -1;
  const handle base(H5Tget_super(type));
  return H5Tget_size(type) == 1 && base.valid() && H5Tget_size(base.id()) == 1 && is_plain(base.id()) &&
         H5Tget_nmembers(type) == 2 && H5Tenum_valueof(type, "FALSE", &no) >= 0 &&
         H5Tenum_valueof(type, "TRUE", &yes) >= 0 && no == 0 && yes == 1;
}

/// A compound of two floats of these names, side by side: "complex64", "complex128" or nothing.
std::string describe_complex(hid_t type, const char* real_name, const char* imaginary_name) {
  const std::size_t size = H5Tget_size(type);
  if (H5Tget_nmembers(type) != 2) return "";
  const int r = H5Tget_member_index(type, real_name), i = H5Tget_member_index(type, imaginary_name);
  if (r < 0 || i < 0) return "";
  const std::size_t at_r = H5Tget_member_offset(type, static_cast<unsigned>(r));
  const std::size_t at_i = H5Tget_member_offset(type, static_cast<unsigned>(i));
  // HDF5 does not look whether they are inside.
  if (at_r + at_i != size / 2 || (at_r != 0 && at_i != 0)) return "";
  const handle real(H5Tget_member_type(type, static_cast<unsigned>(r)));
  const handle imaginary(H5Tget_member_type(type, static_cast<unsigned>(i)));
  const auto both = [&](hid_t little, hid_t big) {
    return equal(real.id(), little, big) && equal(imaginary.id(), little, big);
  };
  if (size == 8 && both(H5T_IEEE_F32LE, H5T_IEEE_F32BE)) return "complex64";
  if (size == 16 && both(H5T_IEEE_F64LE, H5T_IEEE_F64BE)) return "complex128";
  return "";
}

std::string describe_type(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      if (std::has_single_bit(size) && size <= 8 && is_plain(type)) {
        return (H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int") + std::to_string(8 * size);
      }
      break;
    case H5T_FLOAT:
      if (equal(type, H5T_IEEE_F32LE, H5T_IEEE_F32BE)) return "float32";
      if (equal(type, H5T_IEEE_F64LE, H5T_IEEE_F64BE)) return "float64";
      if (is_float16(type)) return "float16";
      break;
    case H5T_COMPOUND:
      if (const std::string found = describe_complex(type, "r", "i"); !found.empty()) return found;
      break;
    case H5T_ENUM:
      if (is_bool(type)) return "bool";
      break;
    case H5T_STRING:
      return "string";
    default:
      break;
  }
  return "another type";
}

// --------------------------------------------------------------------------------------------------- sizes

constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max();
constexpr std::size_t most_packed = 2048;  // times smaller; deflate comes to 1032

/// a * b, or `most` where that is less.
std::size_t times(std::size_t a, std::size_t b) { return b != 0 && a > most / b ? most : a * b; }

/// Elements of a row: of all axes but the first.
std::size_t row_elements(const std::vector<std::size_t>& shape) {
  std::size_t n = 1;
  for (std::size_t i = 1; i < shape.size(); i++) n = times(n, shape[i]);
  return n;
}

/// The part of a dataset's space that rows [first, first + rows) of an axis take; not valid where HDF5
/// refuses.
handle select_rows(hid_t dataset, const std::vector<std::size_t>& shape, std::size_t first, std::size_t rows,
                   std::size_t axis = 0) {
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

/// The same rows in memory. With the same axes: HDF5 is many times slower between spaces that differ.
handle memory_rows(const std::vector<std::size_t>& shape, std::size_t rows, std::size_t axis = 0) {
  if (shape.empty()) return handle(H5Screate(H5S_SCALAR));
  std::vector<hsize_t> extent(shape.begin(), shape.end());
  extent[axis] = rows;
  return handle(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr));
}

void check_rows(const std::vector<std::size_t>& shape, std::size_t first, std::size_t rows) {
  const std::size_t all = shape.empty() ? 1 : shape[0];
  if (first > all || rows > all - first) {
    throw shape_error("rows", std::to_string(first) + " + " + std::to_string(rows),
                      "at most " + std::to_string(all) + " rows in all");
  }
}

// ------------------------------------------------------------------------------------------------- reading

constexpr char signature[] = "\x89HDF\r\n\x1a\n";

/// Throws where `path` is no file that starts like HDF5: at byte 0, or after a user block of 512, 1024, ...
void check_is_hdf5(const std::string& path) {
  const auto unreadable = [&](const std::string& why) { return file_error(path, "cannot read: " + why); };
  struct stat there {};
  if (stat(path.c_str(), &there) != 0) throw unreadable(std::strerror(errno));
  if (S_ISDIR(there.st_mode)) throw unreadable("it is a folder");
  if (!S_ISREG(there.st_mode)) throw unreadable("it is not a regular file");
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw unreadable(std::strerror(errno));
  bool found = false;
  for (off_t at = 0; !found && at < there.st_size; at = at == 0 ? 512 : 2 * at) {
    char start[8];
    found = pread(file, start, 8, at) == 8 && std::memcmp(start, signature, 8) == 0;
  }
  const bool sound = !found || is_sound_root(file);
  close(file);
  if (there.st_size == 0) throw file_error(path, "it is empty");
  if (!found) throw file_error(path, "it is not an HDF5 file");
  if (!sound) throw file_error(path, "it is truncated or damaged: wrong names of the root group");
}

std::string damaged(const std::string& why) {
  return (why.starts_with("bad version number") ? "it is damaged or needs a newer HDF5 library: "
                                                : "it is truncated or damaged: ") +
         why;
}

/// Names of the links of a group that do not lead into other files; HDF5 calls it, so nothing may be thrown.
herr_t collect_link(hid_t, const char* name, const H5L_info_t* link, void* to) noexcept {
  try {
    if (link->type == H5L_TYPE_HARD || link->type == H5L_TYPE_SOFT)
      static_cast<std::vector<std::string>*>(to)->emplace_back(name);
  } catch (...) {
    return -1;
  }
  return 0;
}

/// Where a text of variable length lies, as a file has it in the place of the text: 4 bytes of its length, 8
/// of its heap's address, 4 of its number there.
using text_place = std::array<unsigned char, 16>;

/// While it lives HDF5 gives such a place instead of the text, which it would read without a check: a damaged
/// heap makes it crash or never end.
class text_places {
 public:
  text_places() : text_(H5Tcopy(H5T_C_S1)), place_(H5Tcreate(H5T_OPAQUE, sizeof(text_place))) {
    H5Tset_size(text_.id(), H5T_VARIABLE);
    H5Tregister(H5T_PERS_SOFT, "warpband_text_place", text_.id(), place_.id(), keep);
  }
  ~text_places() { H5Tunregister(H5T_PERS_SOFT, "warpband_text_place", -1, -1, keep); }
  text_places(const text_places&) = delete;
  text_places& operator=(const text_places&) = delete;
  hid_t type() const { return place_.id(); }

 private:
  static herr_t keep(hid_t from, hid_t to, H5T_cdata_t* call, std::size_t, std::size_t, std::size_t, void*,
                     void*, hid_t) {
    if (call->command != H5T_CONV_INIT) return 0;
    call->need_bkg = H5T_BKG_NO;
    return H5Tis_variable_str(from) > 0 && H5Tget_size(to) == sizeof(text_place) ? 0 : -1;
  }
  handle text_, place_;
};

constexpr std::size_t most_text = mib;  // an attribute is small: more is a damaged one's

bool is_number(const std::string& type) {
  return type.starts_with("int") || type.starts_with("uint") || type.starts_with("float");
}

/// Links into other files are not followed: what they lead to may be no regular file, and missing tomorrow.
herr_t refuse_link(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) { return -1; }

/// Whether T holds x: NaN and infinities of float64 stay what they are.
template <class T>
bool holds(double x) {
  constexpr double most_exact = 9007199254740992.;  // 2^53
  if constexpr (std::is_floating_point_v<T>)
    return !std::isfinite(x) || std::abs(x) <= static_cast<double>(std::numeric_limits<T>::max());
  else
    return x == std::floor(x) &&
           x >= std::max(-most_exact, static_cast<double>(std::numeric_limits<T>::min())) &&
           x <= std::min(most_exact, static_cast<double>(std::numeric_limits<T>::max()));
}

/// Where HDF5 unpacks chunks: room for those that share their rows, so that rows can be read in pieces and
/// each chunk is unpacked once.
handle chunk_cache(const std::vector<std::size_t>& shape, const std::vector<hsize_t>& chunk, std::size_t axis,
                   std::size_t chunk_bytes) {
  // HDF5 finds a chunk by its place; two rows of chunks must not meet in a slot. Along an axis that is not
  // the first, the places of rows are mixed with the others'.
  std::size_t slots = 2;
  for (std::size_t i = axis == 0 ? 1 : 0; i < chunk.size(); i++) {
    const std::size_t across = (shape[i] + chunk[i] - 1) / chunk[i];
    slots = std::min(mib / 4, slots * std::bit_ceil(std::clamp<std::size_t>(across, 1, mib / 4)));
  }
  handle access(H5Pcreate(H5P_DATASET_ACCESS));
  const std::size_t bytes = std::clamp(chunk_bytes, mib, 1024 * mib);
  H5Pset_chunk_cache(access.id(), std::max<std::size_t>(slots, 512) + 1, bytes, 0.0);
  H5Pset_elink_cb(access.id(), refuse_link, nullptr);
  return access;
}

}  // namespace

struct hdf5_reader::state {
  struct dataset {
    handle id;
    hdf5_array array;
    std::size_t rows_at_once = 0;      // HDF5 holds some KiB for each chunk that a call reads; 0: any
    std::vector<std::size_t> in_file;  // the shape there
    std::vector<hsize_t> chunk;
    std::size_t axis = 0;  // of the rows in the file
    bool matlab = false;   // axes are reversed, numbers converted
  };
  std::string path;
  struct stat opened {};                    // the file when it was opened
  handle file, links;                       // how links are followed
  bool matlab = false, converted = false;   // what remark() says
  std::map<std::string, dataset> datasets;  // those that were asked for; they stay open, with their chunks
  mutable std::set<haddr_t> sound;          // headers that were looked at

  ~state() {
    const session s;
    datasets.clear();
    links.close();
    file.close();
  }

  std::string remark() const {
    if (!matlab) return "";
    return std::string("read as MATLAB wrote it: axes reversed") + (converted ? ", float64 converted" : "");
  }

  [[noreturn]] void fail(const std::string& what) const { throw file_error(path, what); }
  [[noreturn]] void fail_damaged(const std::string& name) const {
    fail(shown(name) + " cannot be read, " + damaged(reason()));
  }

  int descriptor() const {
    void* found = nullptr;
    if (H5Fget_vfd_handle(file.id(), H5P_DEFAULT, &found) < 0 || found == nullptr)
      fail("cannot read: the system tells nothing of the open file");
    return *static_cast<const int*>(found);
  }
  /// What the system says of the open file. Bytes that are cut off while it is read come as zeros.
  struct stat state_of_file() const {
    struct stat now {};
    if (fstat(descriptor(), &now) != 0) fail("cannot read: the system tells nothing of the open file");
    return now;
  }

  hdf5_numbers numbers_in_file() const {
    const handle creation(H5Fget_create_plist(file.id()));
    hdf5_numbers n;
    hsize_t begin = 0;
    if (H5Pget_userblock(creation.id(), &begin) < 0 ||
        H5Pget_sizes(creation.id(), &n.address_bytes, &n.size_bytes) < 0)
      fail(damaged(reason()));
    n.begin = begin;
    return n;
  }
  /// Whether libhdf5 can open what a name leads to: before it can, it believes the header.
  bool is_sound(const std::string& name) const {
#if H5_VERSION_GE(1, 12, 0)
    H5O_info1_t info;
#else
    H5O_info_t info;
#endif
    if (H5Oget_info_by_name2(file.id(), name.c_str(), &info, H5O_INFO_BASIC, links.id()) < 0) return true;
    return is_sound_at(info.addr);
  }
  bool is_sound_at(std::uint64_t header) const {
    if (sound.contains(header)) return true;
    if (!is_sound_header(descriptor(), numbers_in_file(), header)) return false;
    sound.insert(header);
    return true;
  }
  /// Whether libhdf5 can follow a name: the groups on its way are sound, also on the way of soft links.
  bool is_sound_way(const std::string& name, int& links_left) const {
    for (std::size_t i = 1, begin = 0; i <= name.size(); i++) {
      if (i < name.size() && name[i] != '/') continue;
      const std::string part = name.substr(0, i);
#if H5_VERSION_GE(1, 12, 0)
      H5L_info1_t link;  // that of version 2 has a token in place of the address
      if (H5Lget_info1(file.id(), part.c_str(), &link, links.id()) < 0) return true;  // it is not there
#else
      H5L_info_t link;
      if (H5Lget_info(file.id(), part.c_str(), &link, links.id()) < 0) return true;  // it is not there
#endif
      // What the header says of the object may be too damaged for H5Oget_info, and a group all the same.
      if (i < name.size() && link.type == H5L_TYPE_HARD && !is_sound_at(link.u.address)) return false;
      if (link.type == H5L_TYPE_SOFT) {
        std::string to(link.u.val_size, '\0');
        if (links_left-- == 0 || to.size() > 1024 ||
            H5Lget_val(file.id(), part.c_str(), to.data(), to.size(), links.id()) < 0)
          return false;
        to.resize(std::min(to.size(), to.find('\0')));
        if (!to.starts_with('/')) to.insert(0, name, 0, begin);
        if (!is_sound_way(to, links_left)) return false;
      }
      if (i < name.size() && !is_sound(part)) return false;
      begin = i + 1;
    }
    return true;
  }
  /// Not valid where HDF5 cannot open it.
  handle open_object(const std::string& name) const {
    if (!is_sound(name)) fail(shown(name) + " cannot be read, it is truncated or damaged: wrong header");
    return handle(H5Oopen(file.id(), name.c_str(), links.id()));
  }

  [[noreturn]] void fail_attribute(const std::string& name, const std::string& expected) const {
    fail("attribute " + shown(name) + " is not what was expected: " + expected);
  }
  [[noreturn]] void fail_attribute(const std::string& name) const {
    fail("attribute " + shown(name) + " cannot be read, " + damaged(reason()));
  }

  /// A text in a heap of the file, which is searched here: see text_places.
  std::string text_at(const std::string& name, const text_place& place) const {
    const auto wrong = [&] {
      fail("attribute " + shown(name) + " cannot be read, it is truncated or damaged");
    };
    const std::uint64_t length = little(place.data(), 4), number = little(place.data() + 12, 4);
    if (length == 0) return "";
    const hdf5_numbers written = numbers_in_file();
    const std::uint64_t begin = written.begin;
    if (written.address_bytes != 8 || written.size_bytes != 8) wrong();
    const std::uint64_t heap = little(place.data() + 4, 8),
                        file_bytes = static_cast<std::uint64_t>(opened.st_size);
    if (length > most_text || heap > file_bytes || begin > file_bytes - heap) wrong();
    // A heap: "GCOL", a version, its bytes in all; then objects: number, uses, bytes, and these up to 8 more.
    const off_t at = static_cast<off_t>(begin + heap);
    unsigned char head[16];
    if (pread(descriptor(), head, 16, at) != 16 || std::memcmp(head, "GCOL\1", 5) != 0) wrong();
    const std::uint64_t size = little(head + 8, 8);
    if (size < 16 || size > 2 * most_text || size > file_bytes - begin - heap) wrong();
    std::vector<unsigned char> all(size);
    if (pread(descriptor(), all.data(), size, at) != static_cast<ssize_t>(size)) wrong();
    const char* found = nullptr;
    for (std::size_t i = 16; i + 16 <= size;) {
      const std::uint64_t index = little(&all[i], 2), bytes = little(&all[i + 8], 8), left = size - i - 16;
      if (index == 0) {  // the rest is free
        if (bytes != left + 16) wrong();
        break;
      }
      if (bytes > left) wrong();
      if (index == number && length <= bytes) found = reinterpret_cast<const char*>(&all[i + 16]);
      i += 16 + (bytes + 7) / 8 * 8;
    }
    if (found == nullptr) wrong();
    return std::string(found, std::find(found, found + length, '\0'));
  }

  struct open_attribute {
    handle id, type;
    std::size_t count = 0;
    std::string kind;  // of its type
  };
  /// Not valid where the object has no attribute of this name.
  open_attribute open(hid_t object, const std::string& name) const {
    const htri_t there = H5Aexists(object, name.c_str());
    if (there < 0) fail_attribute(name);
    open_attribute a;
    if (there == 0) return a;
    a.id = handle(H5Aopen(object, name.c_str(), H5P_DEFAULT));
    a.type = handle(H5Aget_type(a.id.id()));
    const handle space(H5Aget_space(a.id.id()));
    const hssize_t count = space.valid() ? H5Sget_simple_extent_npoints(space.id()) : -1;
    if (!a.type.valid() || count < 0) fail_attribute(name);
    a.count = static_cast<std::size_t>(count);
    a.kind = describe_type(a.type.id());
    // The bytes of a place of a text are another size than the file says: libhdf5 would read behind the
    // value.
    const std::size_t each =
        H5Tis_variable_str(a.type.id()) > 0 ? sizeof(text_place) : H5Tget_size(a.type.id());
    if ((is_number(a.kind) || a.kind == "bool" || a.kind == "string") &&
        H5Aget_storage_size(a.id.id()) < times(a.count, each))
      fail("attribute " + shown(name) + " cannot be read, it is truncated or damaged");
    return a;
  }

  std::optional<hdf5_attribute> attribute(hid_t object, const std::string& name) const {
    const open_attribute a = open(object, name);
    if (!a.id.valid()) return {};
    if (a.count != 1) fail_attribute(name, "one number or one text");
    const auto read = [&](hid_t type, void* to) {
      if (H5Aread(a.id.id(), type, to) < 0) fail_attribute(name);
    };
    if (a.kind == "uint64") {
      std::uint64_t n = 0;
      read(H5T_NATIVE_UINT64, &n);
      if (n > INT64_MAX) fail_attribute(name, "an integer below 2^63");
      return static_cast<std::int64_t>(n);
    }
    if (a.kind.starts_with("float")) {
      double x = 0;
      read(H5T_NATIVE_DOUBLE, &x);
      return x;
    }
    if (is_number(a.kind) || a.kind == "bool") {
      std::int64_t n = 0;
      read(H5T_NATIVE_INT64, &n);
      return n;
    }
    if (a.kind != "string") fail_attribute(name, "one number or one text");
    if (H5Tis_variable_str(a.type.id()) > 0) {
      const text_places instead;
      text_place place{};
      read(instead.type(), place.data());
      return text_at(name, place);
    }
    const std::size_t size = H5Tget_size(a.type.id());
    if (size > most_text) fail_attribute(name, "a short text");
    std::string text(size, '\0');
    read(a.type.id(), text.data());
    text.resize(std::min(text.size(), text.find('\0')));
    if (H5Tget_strpad(a.type.id()) == H5T_STR_SPACEPAD) text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

  std::vector<double> numbers(hid_t object, const std::string& name) const {
    const open_attribute a = open(object, name);
    if (!a.id.valid()) return {};
    if (a.count > mib || !is_number(a.kind)) fail_attribute(name, "numbers");
    std::vector<double> values(a.count);
    if (a.count > 0 && H5Aread(a.id.id(), H5T_NATIVE_DOUBLE, values.data()) < 0) fail_attribute(name);
    return values;
  }

  /// Whether MATLAB wrote an array, by the attribute that it gives to each.
  bool is_matlab(hid_t array, const std::string& name) const {
    const auto said = attribute(array, "MATLAB_class");
    if (!said) return false;
    const auto* text = std::get_if<std::string>(&*said);
    const std::vector<std::string> classes{"double", "single", "logical", "int8",  "uint8", "int16",
                                           "uint16", "int32",  "uint32",  "int64", "uint64"};
    if (text == nullptr || std::find(classes.begin(), classes.end(), *text) == classes.end())
      fail(shown(name) + " is of MATLAB class " + (text == nullptr ? "?" : shown(*text)) +
           ": expected a full array of numbers");
    if (attribute(array, "MATLAB_empty").value_or(std::int64_t{0}) != hdf5_attribute(std::int64_t{0}))
      fail(shown(name) + " is an empty array of MATLAB");
    return true;
  }

  /// Whether there is something of this name: every part of it must be asked for alone.
  bool has(const std::string& name) const {
    int links_left = 16;
    if (!is_sound_way(name, links_left))
      fail(shown(name) + " cannot be read, it is truncated or damaged: wrong group");
    bool part = false;
    for (std::size_t i = 0; i <= name.size(); i++) {
      const bool end = i == name.size() || name[i] == '/';
      if (end && part && H5Lexists(file.id(), name.substr(0, i).c_str(), links.id()) <= 0) return false;
      if (end && part && i == name.size()) return true;
      part = !end;
    }
    return false;
  }

  /// What the root holds, without opening it.
  std::vector<std::string> linked() const {
    std::vector<std::string> all;
    hsize_t from = 0;
    if (H5Literate(file.id(), H5_INDEX_NAME, H5_ITER_INC, &from, collect_link, &all) < 0) {
      fail(damaged(reason()));
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> arrays;
    for (std::string& name : linked()) {
      if (!is_sound(name)) continue;
      const handle object(H5Oopen(file.id(), name.c_str(), links.id()));
      if (object.valid() && H5Iget_type(object.id()) == H5I_DATASET) arrays.push_back(std::move(name));
    }
    return arrays;
  }

  [[noreturn]] void fail_missing(const std::string& name) const {
    const std::vector<std::string> there = linked();
    std::string text;
    for (std::size_t i = 0; i < there.size() && i < 20; i++) text += (i > 0 ? ", " : "") + shown(there[i]);
    if (there.size() > 20) text += " and " + std::to_string(there.size() - 20) + " more";
    fail("there is no array \"" + shown(name) + "\": it holds " + (text.empty() ? "nothing" : text));
  }

  /// Opens a dataset, or takes the one that is open.
  dataset& get(const std::string& name) {
    if (const auto found = datasets.find(name); found != datasets.end()) return found->second;
    if (!has(name)) fail_missing(name);
    handle object = open_object(name);
    if (!object.valid()) {
      const std::string why = reason();
      H5L_info_t link;
      const bool known = H5Lget_info(file.id(), name.c_str(), &link, links.id()) >= 0;
      if (known && link.type == H5L_TYPE_EXTERNAL)
        fail(shown(name) + " is a link into another file: copy it into one");
      if (known && link.type != H5L_TYPE_HARD) {
        fail(shown(name) + " is a link to something that is not there or cannot be read: " + why);
      }
      fail(shown(name) + " cannot be read, " + damaged(why));
    }
    switch (H5Iget_type(object.id())) {
      case H5I_DATASET:
        break;
      case H5I_GROUP:
        fail(shown(name) + " is a group, not an array");
      default:
        fail(shown(name) + " is not an array");
    }

    dataset d;
    const handle space(H5Dget_space(object.id())), type(H5Dget_type(object.id())),
        creation(H5Dget_create_plist(object.id()));
    const int axes = space.valid() ? H5Sget_simple_extent_ndims(space.id()) : -1;
    if (!type.valid() || !creation.valid() || axes < 0) fail_damaged(name);
    if (H5Sget_simple_extent_type(space.id()) == H5S_NULL)
      fail(shown(name) + " is a null dataset, not an array");
    std::vector<hsize_t> shape(static_cast<std::size_t>(axes)), limit(shape.size());
    std::vector<hsize_t>& chunk = d.chunk;
    if (axes > 0 && H5Sget_simple_extent_dims(space.id(), shape.data(), limit.data()) < 0) fail_damaged(name);
    d.in_file.assign(shape.begin(), shape.end());
    d.array.shape = d.in_file;
    d.array.type = describe_type(type.id());
    d.matlab = is_matlab(object.id(), name);
    if (d.matlab) {
      const std::string found =
          H5Tget_class(type.id()) == H5T_COMPOUND ? describe_complex(type.id(), "real", "imag") : "";
      if (!found.empty()) d.array.type = found;
      std::reverse(d.array.shape.begin(), d.array.shape.end());
      d.axis = d.in_file.empty() ? 0 : d.in_file.size() - 1;
    }

    const std::size_t size = H5Tget_size(type.id());
    const H5D_layout_t layout = H5Pget_layout(creation.id());
    if (layout == H5D_VIRTUAL || H5Pget_external_count(creation.id()) > 0) {
      // Where one of its files is missing or short, HDF5 would give zeros.
      fail(shown(name) + " is put together from other files: copy it into one");
    }
    d.array.packed = H5Pget_nfilters(creation.id()) > 0;
    if (layout == H5D_CHUNKED) {
      chunk.resize(shape.size());
      if (H5Pget_chunk(creation.id(), axes, chunk.data()) != axes) fail_damaged(name);
      for (std::size_t i = 0; i < chunk.size(); i++) {
        if (chunk[i] == 0 || (chunk[i] > limit[i] && limit[i] != 0)) {
          fail(shown(name) + " cannot be read, it is truncated or damaged: wrong chunks");
        }
      }
      settle_chunks(d, size);
    }
    settle_block(d);
    check_size(name, d, object.id(), creation.id(), size);
    if (layout == H5D_CHUNKED) {
      object = handle();  // its chunk cache has the size that its first opening sets
      object = handle(
          H5Dopen2(file.id(), name.c_str(), chunk_cache(d.in_file, chunk, d.axis, d.array.chunk_bytes).id()));
      if (!object.valid()) fail_damaged(name);
    }
    d.id = std::move(object);
    return datasets.emplace(name, std::move(d)).first->second;
  }

  static void settle_chunks(dataset& d, std::size_t size) {
    const std::size_t along = d.chunk[d.axis];
    d.array.chunk_rows = along;
    d.array.chunk_bytes = times(along, size);
    std::size_t chunks = 1;  // that share their rows
    for (std::size_t i = 0; i < d.chunk.size(); i++) {
      if (i == d.axis) continue;
      const std::size_t across = d.in_file[i] / d.chunk[i] + (d.in_file[i] % d.chunk[i] != 0 ? 1 : 0);
      d.array.chunk_bytes = times(d.array.chunk_bytes, times(d.chunk[i], across));
      chunks = times(chunks, across);
    }
    d.rows_at_once = times(along, std::max<std::size_t>(64 / std::max<std::size_t>(chunks, 1), 1));
  }
  /// What MATLAB's arrays are converted in.
  static void settle_block(dataset& d) {
    const std::size_t row = times(row_elements(d.array.shape), 3 * sizeof(double));  // with places
    if (d.matlab) d.array.block_bytes = std::max(4 * mib, row);
  }
  /// MATLAB has two axes at least and drops those of one element at the end: its array as one of `axes`.
  static void take_axes(dataset& d, std::size_t axes) {
    if (d.in_file.empty()) return;
    std::vector<std::size_t> shape(d.in_file.rbegin(), d.in_file.rend());
    std::size_t axis = shape.size() - 1;
    if (axes == 1 && shape.size() == 2 && (shape[0] == 1 || shape[1] == 1)) {
      if (shape[0] == 1) axis = 0;
      shape = {std::max(shape[0], shape[1])};
    }
    while (shape.size() < axes) shape.push_back(1);
    d.array.shape = shape;
    if (axis != d.axis && !d.chunk.empty()) {
      d.axis = axis;
      settle_chunks(d, H5Tget_size(handle(H5Dget_type(d.id.id())).id()));
    }
    d.axis = axis;
    settle_block(d);
  }

  /// Whatever has attributes: the root (""), a group or an array.
  handle owner(const std::string& name) {
    if (name.empty()) return open_object("/");
    if (!has(name)) fail_missing(name);
    handle object = open_object(name);
    if (!object.valid() || H5Iget_type(object.id()) != H5I_GROUP) get(name);  // which says what is wrong
    return object;
  }

  [[noreturn]] void fail_size(const std::string& what) const {
    fail(what + ", not what the file holds: it is truncated or damaged");
  }

  /// A damaged shape must not make a reader allocate or read without end: HDF5 itself takes any shape, since
  /// chunks that are not in the file read as zeros.
  void check_size(const std::string& name, const dataset& d, hid_t id, hid_t creation,
                  std::size_t size) const {
    const hdf5_array& array = d.array;
    const std::vector<hsize_t>& chunk = d.chunk;
    const std::string what = shown(name) + " is " + array.type + " " + list(array.shape);
    const std::size_t row = times(row_elements(array.shape), size);
    const std::size_t bytes = array.shape.empty() ? size : times(array.shape[0], row);
    if (row >= most || bytes >= most || array.chunk_bytes >= most) fail(what + ": that is too large");
    hsize_t file_size = 0;
    const handle from(H5Iget_file_id(id));  // not always this file: links lead into others
    if (!from.valid() || H5Fget_filesize(from.id(), &file_size) < 0) fail_damaged(name);
    bool fits = bytes <= 1024 * mib || bytes / most_packed <= file_size;
    if (!chunk.empty()) {
      std::size_t chunks = 1, chunk_bytes = size;
      for (std::size_t i = 0; i < chunk.size(); i++) {
        chunks = times(chunks, d.in_file[i] / chunk[i] + (d.in_file[i] % chunk[i] != 0 ? 1 : 0));
        chunk_bytes = times(chunk_bytes, chunk[i]);
      }
      // HDF5 does not compare a chunk's size in the file with what it takes from there.
      hsize_t there = 0;
      const handle all(H5Dget_space(id));
      if (!fits || H5Dget_num_chunks(id, all.id(), &there) < 0) fail_size(what);
      // Those that are there take 8 bytes at least; a growing array may have room for many that are not yet.
      if (chunks > 4096 && (there > file_size / 8 || chunks > std::size_t{1} << 20)) fail_size(what);
      if (array.type == "string" || array.type == "another type") return;  // may not be as large as in memory
      const hsize_t stored = H5Dget_storage_size(id);
      fits = array.packed ? times(there, chunk_bytes) / most_packed <= stored
                          : times(there, chunk_bytes) == stored;
    } else if (const hsize_t stored = H5Dget_storage_size(id);
               stored != 0 || H5Pget_layout(creation) == H5D_COMPACT) {
      fits = fits && stored >= bytes;
    }
    if (!fits) fail_size(what);
  }

  template <class T>
  dataset& expect(const std::string& name, const std::string& also = "") {
    dataset& d = get(name);
    if (!is_taken_as<T>(d)) fail_expected<T>(name, d, also);
    matlab = matlab || d.matlab;
    converted = converted || (d.matlab && (d.array.type == "float64" || d.array.type == "complex128"));
    return d;
  }
  /// Types are taken exactly; MATLAB, whose numbers are float64 unless it is told otherwise, is converted.
  template <class T>
  static bool is_taken_as(const dataset& d) {
    if (!d.matlab) return d.array.type == type_name<T>;
    const bool is_complex = std::is_same_v<T, std::complex<float>> && d.array.type.starts_with("complex");
    return is_complex || is_number(d.array.type);
  }
  template <class T>
  [[noreturn]] void fail_expected(const std::string& name, const dataset& d, const std::string& also) const {
    fail(shown(name) + " is " + d.array.type + " " + list(d.array.shape) + ": expected " + type_name<T> +
         also);
  }

  template <class T>
  void read(const std::string& name, const dataset& d, std::size_t first, std::size_t rows, T* to) const {
    const std::size_t n = times(rows, row_elements(d.array.shape));
    if (n == 0) return;
    if (d.matlab)
      read_matlab(name, d, first, rows, to);
    else
      read_rows(name, d, first, rows, to);
    if (const struct stat now = state_of_file(); now.st_size != opened.st_size ||
                                                 now.st_mtim.tv_sec != opened.st_mtim.tv_sec ||
                                                 now.st_mtim.tv_nsec != opened.st_mtim.tv_nsec)
      fail("it was changed while it was read");
  }
  template <class T>
  void read_rows(const std::string& name, const dataset& d, std::size_t first, std::size_t rows,
                 T* to) const {
    const std::size_t n = times(rows, row_elements(d.array.shape));
    // Chunks that were never written leave `to` as it is where their writer switched fill values off.
    if (d.array.chunk_rows != 0) std::memset(static_cast<void*>(to), 0, n * sizeof(T));
    const std::size_t row = row_elements(d.array.shape), last = first + rows;
    for (std::size_t at = first; at < last;) {
      const std::size_t end =
          d.rows_at_once == 0 ? last : std::min(last, at - at % d.rows_at_once + d.rows_at_once);
      read_at_once(name, d, at, end - at, memory_type<T>(), to + (at - first) * row);
      at = end;
    }
  }

  /// In blocks of rows: numbers come as float64 and with reversed axes, rows last.
  template <class T>
  void read_matlab(const std::string& name, const dataset& d, std::size_t first, std::size_t rows,
                   T* to) const {
    const std::vector<std::size_t>& shape = d.array.shape;
    const std::size_t row = row_elements(shape), parts = d.array.type.starts_with("complex") ? 2 : 1;
    handle type(H5Tcopy(H5T_NATIVE_DOUBLE));
    if (parts == 2) {
      type = handle(H5Tcreate(H5T_COMPOUND, 2 * sizeof(double)));
      H5Tinsert(type.id(), "real", 0, H5T_NATIVE_DOUBLE);
      H5Tinsert(type.id(), "imag", sizeof(double), H5T_NATIVE_DOUBLE);
    }
    std::vector<std::size_t> places(row);  // in a row, of what the file has one after the other
    for (std::size_t i = 0; i < row; i++)
      for (std::size_t axis = 1, rest = i; axis < shape.size(); rest /= shape[axis++])
        places[i] += rest % shape[axis] * stride(shape, axis);
    const std::size_t most_rows =
        std::max<std::size_t>(d.array.block_bytes / (row * parts * sizeof(double)), 1);
    std::vector<double> values;
    for (std::size_t at = first, end = first; at < first + rows; at = end) {
      end = std::min(first + rows, at + most_rows);
      if (d.rows_at_once != 0) end = std::min(end, at - at % d.rows_at_once + d.rows_at_once);
      const std::size_t count = end - at;
      values.assign(count * row * parts, 0);  // chunks that were never written leave it as it is
      read_at_once(name, d, at, count, type, values.data());
      for (std::size_t i = 0; i < row; i++)
        for (std::size_t r = 0; r < count; r++) {
          const double* x = &values[(i * count + r) * parts];
          const std::size_t place = (at - first + r) * row + places[i];
          if constexpr (std::is_same_v<T, std::complex<float>>) {
            const double imaginary = parts == 2 ? x[1] : 0;
            if (!holds<float>(x[0]) || !holds<float>(imaginary))
              fail_value(name, shape, first * row + place, holds<float>(x[0]) ? imaginary : x[0], "float32");
            to[place] = {static_cast<float>(x[0]), static_cast<float>(imaginary)};
          } else {
            if (!holds<T>(x[0])) fail_value(name, shape, first * row + place, x[0], type_name<T>);
            to[place] = static_cast<T>(x[0]);
          }
        }
    }
  }
  static std::size_t stride(const std::vector<std::size_t>& shape, std::size_t axis) {
    std::size_t n = 1;
    for (std::size_t i = axis + 1; i < shape.size(); i++) n *= shape[i];
    return n;
  }
  [[noreturn]] void fail_value(const std::string& name, const std::vector<std::size_t>& shape,
                               std::size_t place, double x, const char* expected) const {
    std::vector<std::size_t> indices;
    for (std::size_t axis = 0; axis < shape.size(); axis++)
      indices.push_back(place / stride(shape, axis) % shape[axis]);
    fail(shown(name) + list(indices) + " is " + decimal(x) + ": expected a value of " + expected);
  }

  void read_at_once(const std::string& name, const dataset& d, std::size_t first, std::size_t rows,
                    const handle& type, void* to) const {
    const handle in_file = select_rows(d.id.id(), d.in_file, first, rows, d.axis),
                 in_memory = memory_rows(d.in_file, rows, d.axis);
    if (!in_file.valid() || !in_memory.valid()) fail_damaged(name);
    if (H5Dread(d.id.id(), type.id(), in_memory.id(), in_file.id(), H5P_DEFAULT, to) >= 0) return;
    const std::string why = reason();
    const handle creation(H5Dget_create_plist(d.id.id()));
    for (int i = 0; i < H5Pget_nfilters(creation.id()); i++) {
      unsigned flags = 0;
      std::size_t values = 0;
      char filter[64] = "";
      const H5Z_filter_t number = H5Pget_filter2(creation.id(), static_cast<unsigned>(i), &flags, &values,
                                                 nullptr, 63, filter, nullptr);
      if (number >= 0 && H5Zfilter_avail(number) <= 0) {
        fail(shown(name) + " is packed by a filter that this HDF5 library lacks: number " +
             std::to_string(number) + (filter[0] != '\0' ? " (" + shown(filter) + ")" : ""));
      }
    }
    fail(shown(name) + " cannot be read, " + damaged(why));
  }
};

namespace {

hdf5_access& kept_access() {
  static hdf5_access kept;
  return kept;
}

}  // namespace

hdf5_access default_hdf5_access() { return kept_access(); }
void set_default_hdf5_access(const hdf5_access& access) {
  if (!(access.seconds > 0)) throw argument_error("seconds", decimal(access.seconds), "more than 0");
  kept_access() = access;
}

hdf5_reader::hdf5_reader(const std::string& path, const hdf5_access& access) {
  const session s;
  if (access.untrusted) {
    check_is_hdf5(path);
    untrusted_ = std::make_unique<untrusted_hdf5>(path, access, session::renew_lock);
    return;
  }
  state_ = std::make_unique<state>();
  state_->path = path;
  check_is_hdf5(path);
  state_->links = handle(H5Pcreate(H5P_LINK_ACCESS));
  H5Pset_elink_cb(state_->links.id(), refuse_link, nullptr);
  const handle settings(H5Pcreate(H5P_FILE_ACCESS));
  // HDF5 would keep up to 32 MiB of what says where chunks are; files are read from their beginning to their
  // end.
  H5AC_cache_config_t kept{};
  kept.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  if (H5Pget_mdc_config(settings.id(), &kept) >= 0) {
    kept.set_initial_size = true;
    kept.initial_size = kept.max_size = mib / 4;
    kept.min_size = mib / 8;
    H5Pset_mdc_config(settings.id(), &kept);
  }
  // Where HDF5 reads a piece of few bytes it reads more, 64 KiB unless told otherwise. Rows of MATLAB are
  // such pieces, far apart: to decode 3000 rows of 6156 float64 took 6.0 s, now 1.7 s.
  H5Pset_sieve_buf_size(settings.id(), 4096);
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 11, 0))
  H5Pset_file_locking(settings.id(), true, true);  // a file system without locks is no reason not to read
#endif
  state_->file = handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, settings.id()));
  if (state_->file.valid()) {
    state_->opened = state_->state_of_file();
    return;
  }
  const std::string why = reason();
  if (why == std::strerror(EAGAIN)) {
    throw file_error(path, "cannot read: another program has it open for writing");
  }
  if (why.starts_with("truncated file")) throw file_error(path, "it is truncated or damaged");
  throw file_error(path, damaged(why));
}

hdf5_reader::~hdf5_reader() = default;
hdf5_reader::hdf5_reader(hdf5_reader&&) noexcept = default;

const std::string& hdf5_reader::path() const noexcept {
  static const std::string none;
  return untrusted_ ? untrusted_->path() : state_ ? state_->path : none;
}

hdf5_reader::state& hdf5_reader::held() const {
  if (state_ == nullptr) throw error("this hdf5_reader was moved from: it reads nothing");
  return *state_;
}

bool hdf5_reader::has(const std::string& name) const {
  if (untrusted_) return untrusted_->has(name);
  const session s;
  return held().has(name);
}

std::vector<std::string> hdf5_reader::names() const {
  if (untrusted_) return untrusted_->names();
  const session s;
  return held().names();
}

hdf5_array hdf5_reader::describe(const std::string& name) const {
  if (untrusted_) return untrusted_->describe(name);
  const session s;
  return held().get(name).array;
}

template <class T>
std::vector<std::size_t> hdf5_reader::expect(const std::string& name, std::size_t dimensions) const {
  if (untrusted_) return untrusted_->expect(hdf5_element<T>, name, dimensions);
  const session s;
  const std::string also = " of " + std::to_string(dimensions) + (dimensions == 1 ? " axis" : " axes");
  state::dataset& d = held().expect<T>(name, also);
  if (d.matlab) state::take_axes(d, dimensions);
  if (d.array.shape.size() != dimensions) held().fail_expected<T>(name, d, also);
  return d.array.shape;
}

template <class T>
void hdf5_reader::read(const std::string& name, std::size_t first, std::size_t rows, T* to) const {
  if (untrusted_) {
    untrusted_->read(hdf5_element<T>, sizeof(T), name, first, rows, to);
    return;
  }
  const session s;
  const state::dataset& d = held().expect<T>(name);
  check_rows(d.array.shape, first, rows);
  held().read(name, d, first, rows, to);
}

template <class T>
std::vector<T> hdf5_reader::read(const std::string& name) const {
  const session s;
  if (untrusted_) read<T>(name, 0, 0, nullptr);  // of this type
  const std::vector<std::size_t> shape =
      untrusted_ ? untrusted_->describe(name).shape : held().expect<T>(name).array.shape;
  const std::size_t rows = shape.empty() ? 1 : shape[0];
  const std::size_t n = rows * row_elements(shape);
  std::vector<T> all;
  try {
    all.resize(n);
  } catch (const std::bad_alloc&) {
    throw memory_error(n * sizeof(T), "the host, for " + shown(name) + " of " + path());
  }
  read(name, 0, rows, all.data());
  return all;
}

std::optional<hdf5_attribute> hdf5_reader::attribute(const std::string& name,
                                                     const std::string& attribute) const {
  if (untrusted_) return untrusted_->attribute(name, attribute);
  const session s;
  return held().attribute(held().owner(name).id(), attribute);
}

std::vector<double> hdf5_reader::attribute_numbers(const std::string& name,
                                                   const std::string& attribute) const {
  if (untrusted_) return untrusted_->attribute_numbers(name, attribute);
  const session s;
  return held().numbers(held().owner(name).id(), attribute);
}

std::string hdf5_reader::remark() const { return untrusted_ ? untrusted_->remark() : held().remark(); }

// ------------------------------------------------------------------------------------------------- writing

namespace {

// HDF5 does not get over a write that fails (a full disk): it cannot close the file any more, and tries
// again, and complains, when the program ends. So it writes through a driver of ours that never fails: the
// first error is kept for us to report, and everything after it is dropped.
struct sink {
  int error = 0;         // errno
  bool dropped = false;  // nobody wants the file any more
};

struct sink_file {
  H5FD_t base;  // what HDF5 sees, first
  sink* to;
  int file;
  haddr_t in_use, end;  // HDF5's "end of address" and "end of file"
};

const sink_file& as_sink(const H5FD_t* file) { return *reinterpret_cast<const sink_file*>(file); }
sink_file& as_sink(H5FD_t* file) { return *reinterpret_cast<sink_file*>(file); }

H5FD_t* sink_open(const char* name, unsigned flags, hid_t access, haddr_t) {
  const void* info = H5Pget_driver_info(access);
  if (info == nullptr) return nullptr;
  sink* to = *static_cast<sink* const*>(info);
  const int file = open(name, O_RDWR | O_CLOEXEC | ((flags & H5F_ACC_TRUNC) != 0 ? O_TRUNC : 0));
  struct stat there {};
  if (file < 0 || fstat(file, &there) != 0) {
    to->error = errno;
    if (file >= 0) close(file);
    return nullptr;
  }
  auto* made = new (std::nothrow) sink_file{{}, to, file, 0, static_cast<haddr_t>(there.st_size)};
  if (made == nullptr) {
    to->error = ENOMEM;
    close(file);
    return nullptr;
  }
  return &made->base;
}

herr_t sink_close(H5FD_t* base) {
  sink_file* file = &as_sink(base);
  if (close(file->file) != 0 && file->to->error == 0) file->to->error = errno;
  delete file;
  return 0;
}

herr_t sink_query(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
  }
  return 0;
}

haddr_t sink_get_eoa(const H5FD_t* base, H5FD_mem_t) { return as_sink(base).in_use; }
haddr_t sink_get_eof(const H5FD_t* base, H5FD_mem_t) { return as_sink(base).end; }
herr_t sink_set_eoa(H5FD_t* base, H5FD_mem_t, haddr_t to) {
  as_sink(base).in_use = to;
  return 0;
}

herr_t sink_read(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, void* to) {
  char* next = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = pread(as_sink(base).file, next, size, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) {  // past the end: not written yet
      std::memset(next, 0, size);
      break;
    }
    next += n;
    at += static_cast<haddr_t>(n);
    size -= static_cast<std::size_t>(n);
  }
  return 0;
}

herr_t sink_write(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, const void* from) {
  sink_file& file = as_sink(base);
  const char* next = static_cast<const char*>(from);
  file.end = std::max(file.end, at + size);
  while (size > 0 && file.to->error == 0 && !file.to->dropped) {
    const ssize_t n = pwrite(file.file, next, size, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      file.to->error = errno;
      break;
    }
    next += n;
    at += static_cast<haddr_t>(n);
    size -= static_cast<std::size_t>(n);
  }
  return 0;
}

herr_t sink_truncate(H5FD_t* base, hid_t, hbool_t) {
  sink_file& file = as_sink(base);
  if (file.end != file.in_use && file.to->error == 0 && !file.to->dropped &&
      ftruncate(file.file, static_cast<off_t>(file.in_use)) != 0) {
    file.to->error = errno;
  }
  file.end = file.in_use;
  return 0;
}

handle sink_driver() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(300);  // 256 to 511 need no registration
#endif
  driver.name = "warpband_sink";
  driver.maxaddr = HADDR_MAX / 4;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(sink*);
  driver.open = sink_open;
  driver.close = sink_close;
  driver.query = sink_query;
  driver.get_eoa = sink_get_eoa;
  driver.set_eoa = sink_set_eoa;
  driver.get_eof = sink_get_eof;
  driver.read = sink_read;
  driver.write = sink_write;
  driver.truncate = sink_truncate;
  const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), driver.fl_map);
  return handle(H5FDregister(&driver));
}

/// About 1 MiB: as many whole rows as fit, else a part of one row.
std::vector<hsize_t> chunk_shape(const std::vector<std::size_t>& shape, std::size_t size) {
  std::vector<hsize_t> chunk(shape.begin(), shape.end());
  std::size_t left = mib / size;  // elements; at least one
  for (std::size_t i = shape.size(); i-- > 0;) {
    chunk[i] = std::clamp<std::size_t>(left, 1, std::max<std::size_t>(shape[i], 1));
    left /= chunk[i];
  }
  return chunk;
}

}  // namespace

struct hdf5_writer::state {
  struct dataset {
    handle id;
    std::vector<std::size_t> shape;
    std::string type;
  };
  std::string path;
  replacement file_on_disk;
  sink to;
  handle file;
  std::map<std::string, dataset> datasets;
  bool committed = false;

  explicit state(const std::string& p) : path(p), file_on_disk(p) {}
  ~state() {
    const session s;
    to.dropped = true;
    datasets.clear();
    file.close();
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw file_error(path, "cannot write: " + (to.error != 0 ? std::strerror(to.error) : why));
  }
  /// After a call of HDF5: throws where it or the writing under it failed.
  void check(bool done) const {
    if (!done || to.error != 0) fail(reason());
  }
  void check_open() const {
    if (committed) fail("it is finished");
    if (to.error != 0) fail("");
  }

  void set(hid_t object, const hdf5_attributes& attributes) const {
    const handle scalar(H5Screate(H5S_SCALAR)), text(H5Tcopy(H5T_C_S1));
    H5Tset_size(text.id(), H5T_VARIABLE);  // h5py reads these as str
    H5Tset_cset(text.id(), H5T_CSET_UTF8);
    for (const auto& [name, value] : attributes) {
      const std::string* string = std::get_if<std::string>(&value);
      if (name.empty() || name.find('\0') != std::string::npos) {
        throw argument_error("attribute name", "\"" + shown(name) + "\"", "a text without zero bytes");
      }
      if (string != nullptr && string->find('\0') != std::string::npos) {
        throw argument_error(name, "\"" + shown(*string) + "\"", "a text without zero bytes");
      }
      if (H5Aexists(object, name.c_str()) > 0) check(H5Adelete(object, name.c_str()) >= 0);
      const auto put = [&, &name = name](hid_t in_file, hid_t in_memory, const void* from) {
        const handle made(H5Acreate2(object, name.c_str(), in_file, scalar.id(), H5P_DEFAULT, H5P_DEFAULT));
        check(made.valid() && H5Awrite(made.id(), in_memory, from) >= 0);
      };
      if (const auto* n = std::get_if<std::int64_t>(&value)) {
        put(H5T_STD_I64LE, H5T_NATIVE_INT64, n);
      } else if (const auto* x = std::get_if<double>(&value)) {
        put(H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, x);
      } else {
        const char* characters = string->c_str();
        put(text.id(), text.id(), &characters);
      }
    }
  }
};

hdf5_writer::hdf5_writer(const std::string& path) : state_(std::make_unique<state>(path)) {
  const session s;
  sink* to = &state_->to;
  const handle access(H5Pcreate(H5P_FILE_ACCESS)), driver = sink_driver();
  state_->check(driver.valid() && H5Pset_driver(access.id(), driver.id(), &to) >= 0);
  state_->file =
      handle(H5Fcreate(state_->file_on_disk.name().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()));
  state_->check(state_->file.valid());
}

hdf5_writer::~hdf5_writer() = default;

template <class T>
void hdf5_writer::create(const std::string& name, const std::vector<std::size_t>& shape,
                         const hdf5_attributes& attributes) {
  const session s;
  state_->check_open();
  if (name.empty() || name.find('\0') != std::string::npos || state_->datasets.contains(name)) {
    throw argument_error("name of an array", "\"" + shown(name) + "\"", "a name that is not taken");
  }
  if (shape.empty() || shape.size() > H5S_MAX_RANK) {
    throw shape_error(name, std::to_string(shape.size()) + " axes", "1 to " + std::to_string(H5S_MAX_RANK));
  }
  const std::size_t row = times(row_elements(shape), sizeof(T));
  if (row >= most || times(shape[0], row) >= most) throw shape_error(name, list(shape), "fewer elements");

  const std::vector<hsize_t> extent(shape.begin(), shape.end()), chunk = chunk_shape(shape, sizeof(T));
  const int axes = static_cast<int>(shape.size());
  const handle space(H5Screate_simple(axes, extent.data(), nullptr)), type = memory_type<T>();
  const handle link(H5Pcreate(H5P_LINK_CREATE)), creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_create_intermediate_group(link.id(), 1);
  H5Pset_char_encoding(link.id(), H5T_CSET_UTF8);
  H5Pset_chunk(creation.id(), axes, chunk.data());
  H5Pset_obj_track_times(creation.id(), false);  // equal content gives equal files
  // Fill values stay as they are by default: none is written, and rows that are never written read as zeros.
  handle made(H5Dcreate2(state_->file.id(), name.c_str(), type.id(), space.id(), link.id(), creation.id(),
                         H5P_DEFAULT));
  state_->check(made.valid());
  state_->set(made.id(), attributes);
  state_->datasets.emplace(name, state::dataset{std::move(made), shape, type_name<T>});
}

template <class T>
void hdf5_writer::write(const std::string& name, std::size_t first, std::size_t rows, const T* from) {
  const session s;
  state_->check_open();
  const auto found = state_->datasets.find(name);
  if (found == state_->datasets.end()) {
    throw argument_error("name of an array", "\"" + shown(name) + "\"", "one that was created");
  }
  const state::dataset& d = found->second;
  if (d.type != type_name<T>) throw argument_error("type of " + name, type_name<T>, d.type);
  check_rows(d.shape, first, rows);
  const std::size_t n = rows * row_elements(d.shape);
  if (n == 0) return;
  const handle in_file = select_rows(d.id.id(), d.shape, first, rows), in_memory = memory_rows(d.shape, rows);
  state_->check(in_file.valid() && in_memory.valid() &&
                H5Dwrite(d.id.id(), memory_type<T>().id(), in_memory.id(), in_file.id(), H5P_DEFAULT, from) >=
                    0);
}

void hdf5_writer::set(const hdf5_attributes& attributes) {
  const session s;
  state_->check_open();
  state_->set(state_->file.id(), attributes);
}

void hdf5_writer::commit() {
  const session s;
  state_->check_open();
  for (auto& [name, dataset] : state_->datasets) state_->check(dataset.id.close());
  state_->check(H5Fflush(state_->file.id(), H5F_SCOPE_GLOBAL) >= 0);
  state_->check(state_->file.close());
  state_->committed = true;
  state_->file_on_disk.commit();
}

// --------------------------------------------------------------------------------------------- element types

#define WB_HDF5_ELEMENT(T)                                                                         \
  template std::vector<std::size_t> hdf5_reader::expect<T>(const std::string&, std::size_t) const; \
  template void hdf5_reader::read<T>(const std::string&, std::size_t, std::size_t, T*) const;      \
  template std::vector<T> hdf5_reader::read<T>(const std::string&) const;                          \
  template void hdf5_writer::create<T>(const std::string&, const std::vector<std::size_t>&,        \
                                       const hdf5_attributes&);                                    \
  template void hdf5_writer::write<T>(const std::string&, std::size_t, std::size_t, const T*);

WB_HDF5_ELEMENT(std::uint8_t)
WB_HDF5_ELEMENT(std::int16_t)
WB_HDF5_ELEMENT(std::int32_t)
WB_HDF5_ELEMENT(std::int64_t)
WB_HDF5_ELEMENT(float)
WB_HDF5_ELEMENT(double)
WB_HDF5_ELEMENT(std::complex<float>)
#undef WB_HDF5_ELEMENT

}  // namespace wb
