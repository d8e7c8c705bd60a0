#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

#include <warpband/core/decimal.hpp>
#include <warpband/io/hdf5_library.hpp>

namespace wb {

using namespace hdf5_library;

namespace {

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

/// A type that is not read, in words.
std::string describe_other(hid_t type) {
  const std::string bits = std::to_string(8 * H5Tget_size(type)) + " bits";
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return "an integer of " + std::to_string(H5Tget_precision(type)) + " in " + bits;
    case H5T_FLOAT:
      return "a float of " + std::to_string(H5Tget_precision(type)) + " in " + bits;
    case H5T_COMPOUND: {
      std::string members;
      const int count = H5Tget_nmembers(type);
      for (int i = 0; i < count && i < 4; i++) {
        char* name = H5Tget_member_name(type, static_cast<unsigned>(i));
        members += (i > 0 ? ", " : "") + std::string(name == nullptr ? "?" : name);
        H5free_memory(name);
      }
      return "a compound of " + shown(members) + (count > 4 ? ", ..." : "");
    }
    case H5T_ENUM:
      return "an enumeration";
    case H5T_BITFIELD:
      return "a bit field of " + bits;
    case H5T_OPAQUE:
      return "opaque, of " + bits;
    case H5T_REFERENCE:
      return "references";
    case H5T_VLEN:
      return "lists of any length";
    case H5T_ARRAY:
      return "arrays in an array";
    case H5T_TIME:
      return "times";
    default:
      return "another type";
  }
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
  return describe_other(type);
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

constexpr std::size_t most_text = mib;  // an attribute is small: more is a damaged one's

constexpr std::size_t most_packed = 2048;  // times smaller; deflate comes to 1032

/// Of the types that describe_type gives.
bool is_number(const std::string& type) {
  return type.starts_with("int") || type.starts_with("uint") || type.starts_with("float");
}
bool is_read(const std::string& type) {
  return is_number(type) || type.starts_with("complex") || type == "bool";
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

/// Programs that write arrays with their axes in reverse, and numbers as float64 unless they are told
/// otherwise.
enum class writer { none, matlab, octave, julia };
const char* name_of(writer w) {
  constexpr const char* names[] = {"", "MATLAB", "Octave", "Julia"};
  return names[static_cast<std::size_t>(w)];
}

class file_in_process final : public hdf5_source {
 public:
  file_in_process(int descriptor, std::uint64_t bytes, std::string name);
  ~file_in_process() override {
    const session s;
    datasets.clear();
    links.close();
    file.close();
  }
  bool has(const std::string& name) override {
    const session s;
    return is_there(name);
  }
  std::vector<std::string> names() override;
  hdf5_array describe(const std::string& name) override {
    const session s;
    return get(name).array;
  }
  std::vector<std::size_t> expect(hdf5_element element, const std::string& name,
                                  std::size_t dimensions) override;
  void read(hdf5_element element, const std::string& name, std::size_t first, std::size_t rows,
            void* to) override;
  std::optional<hdf5_attribute> attribute(const std::string& name, const std::string& attribute) override {
    const session s;
    return attribute_of(owner(name).id(), attribute);
  }
  std::vector<double> attribute_numbers(const std::string& name, const std::string& attribute) override {
    const session s;
    return numbers(owner(name).id(), attribute);
  }
  std::string remark() override {
    if (read_as == writer::none) return "";
    return std::string("read as ") + name_of(read_as) + " wrote it: axes reversed" +
           (converted ? ", float64 converted" : "");
  }

 private:
  struct dataset {
    handle id;
    hdf5_array array;
    std::size_t rows_at_once = 0;      // HDF5 holds some KiB for each chunk that a call reads; 0: any
    std::vector<std::size_t> in_file;  // the shape there
    std::vector<hsize_t> chunk;
    std::size_t axis = 0;      // of the rows in the file
    writer by = writer::none;  // with another, axes are reversed and numbers converted
    std::pair<const char*, const char*> parts{"r", "i"};  // of a complex number
  };
  std::string path;
  open_file opened;
  handle file, links;             // how links are followed
  writer made_by = writer::none;  // Julia, by the words before its file
  writer read_as = writer::none;  // what remark() says
  bool converted = false;
  std::map<std::string, dataset> datasets;  // those that were asked for; they stay open, with their chunks

  [[noreturn]] void fail(const std::string& reason) const { throw file_error(path, reason); }
  [[noreturn]] void fail_damaged(const std::string& name) const {
    fail(shown(name) + " cannot be read, " + damaged(reason()));
  }

  /// Not valid where HDF5 cannot open it.
  handle open_object(const std::string& name) const {
    return handle(H5Oopen(file.id(), name.c_str(), links.id()));
  }

  [[noreturn]] void fail_attribute(const std::string& name, const std::string& expected) const {
    fail("attribute " + shown(name) + " is not what was expected: " + expected);
  }
  [[noreturn]] void fail_attribute(const std::string& name) const {
    fail("attribute " + shown(name) + " cannot be read, " + damaged(reason()));
  }

  struct open_attribute {
    handle id, type;
    std::size_t count = 0;
    std::string kind;  // of its type
  };
  /// Not valid where the object has no attribute of this name.
  open_attribute open(hid_t object, const std::string& name) const {
    const htri_t found = H5Aexists(object, name.c_str());
    if (found < 0) fail_attribute(name);
    open_attribute a;
    if (found == 0) return a;
    a.id = handle(H5Aopen(object, name.c_str(), H5P_DEFAULT));
    a.type = handle(H5Aget_type(a.id.id()));
    const handle space(H5Aget_space(a.id.id()));
    const hssize_t count = space.valid() ? H5Sget_simple_extent_npoints(space.id()) : -1;
    if (!a.type.valid() || count < 0) fail_attribute(name);
    a.count = static_cast<std::size_t>(count);
    a.kind = describe_type(a.type.id());
    return a;
  }

  std::optional<hdf5_attribute> attribute_of(hid_t object, const std::string& name) const {
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
      char* found = nullptr;
      read(a.type.id(), &found);
      const std::string text(found == nullptr ? "" : found);
      H5free_memory(found);
      if (text.size() > most_text) fail_attribute(name, "a short text");
      return text;
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

  /// Who wrote an array, by the attribute that MATLAB gives to each, or by the file's first words.
  writer writer_of(hid_t array, const std::string& name) const {
    const auto matlab_class = attribute_of(array, "MATLAB_class");
    if (!matlab_class) return made_by;
    const auto* text = std::get_if<std::string>(&*matlab_class);
    const std::vector<std::string> classes{"double", "single", "logical", "int8",  "uint8", "int16",
                                           "uint16", "int32",  "uint32",  "int64", "uint64"};
    if (text == nullptr || std::find(classes.begin(), classes.end(), *text) == classes.end())
      fail(shown(name) + " is of MATLAB class " + (text == nullptr ? "?" : shown(*text)) +
           ": expected a full array of numbers");
    if (attribute_of(array, "MATLAB_empty").value_or(std::int64_t{0}) != hdf5_attribute(std::int64_t{0}))
      fail(shown(name) + " is an empty array of MATLAB");
    return writer::matlab;
  }

  /// The values of a variable that Octave saved: a group with an attribute, in which an array "value" is
  /// beside a text "type". Throws file_error for a variable that is no full array of numbers.
  handle open_octave(hid_t group, const std::string& name) const {
    const handle words(H5Oopen(group, "type", links.id()));
    if (!words.valid() || H5Iget_type(words.id()) != H5I_DATASET) fail_damaged(name);
    const handle text(H5Dget_type(words.id())), space(H5Dget_space(words.id()));
    if (!space.valid() || !text.valid() || H5Sget_simple_extent_npoints(space.id()) != 1) fail_damaged(name);
    std::string kind(H5Tget_size(text.id()), '\0');
    if (H5Tget_class(text.id()) != H5T_STRING || H5Tis_variable_str(text.id()) != 0 || kind.size() > 64 ||
        H5Dread(words.id(), text.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, kind.data()) < 0)
      fail_damaged(name);
    kind.resize(std::min(kind.size(), kind.find('\0')));
    std::string number = kind.substr(0, kind.rfind(" matrix"));
    number = number.substr(0, number.rfind(" scalar"));
    const std::vector<std::string> numbers{"matrix", "scalar", "complex", "float", "float complex",
                                           "bool",   "int8",   "uint8",   "int16", "uint16",
                                           "int32",  "uint32", "int64",   "uint64"};
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end())
      fail(shown(name) + " is of Octave's type " + shown(kind) + ": expected a full array of numbers");
    handle value(H5Oopen(group, "value", links.id()));
    if (!value.valid() || H5Iget_type(value.id()) != H5I_DATASET) fail_damaged(name);
    if (H5Aexists(value.id(), "OCTAVE_EMPTY_MATRIX") > 0) fail(shown(name) + " is an empty array of Octave");
    return value;
  }

  /// Whether there is something of this name: every part of it must be asked for alone.
  bool is_there(const std::string& name) const {
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
    std::vector<std::string> names;
    hsize_t from = 0;
    if (H5Literate(file.id(), H5_INDEX_NAME, H5_ITER_INC, &from, collect_link, &names) < 0) {
      fail(damaged(reason()));
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  [[noreturn]] void fail_missing(const std::string& name) const {
    const std::vector<std::string> names = linked();
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < 20; i++) text += (i > 0 ? ", " : "") + shown(names[i]);
    if (names.size() > 20) text += " and " + std::to_string(names.size() - 20) + " more";
    fail("there is no array \"" + shown(name) + "\": it holds " + (text.empty() ? "nothing" : text));
  }

  /// Opens a dataset, or takes the one that is open.
  dataset& get(const std::string& name) {
    if (const auto found = datasets.find(name); found != datasets.end()) return found->second;
    if (!is_there(name)) fail_missing(name);
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
    dataset d;
    switch (H5Iget_type(object.id())) {
      case H5I_DATASET:
        break;
      case H5I_GROUP:
        if (H5Aexists(object.id(), "OCTAVE_NEW_FORMAT") <= 0) fail(shown(name) + " is a group, not an array");
        object = open_octave(object.id(), name);
        d.by = writer::octave;
        break;
      default:
        fail(shown(name) + " is not an array");
    }

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
    if (d.by == writer::none) d.by = writer_of(object.id(), name);
    if (d.by != writer::none) {
      for (const auto& [real, imaginary] : {std::pair("real", "imag"), std::pair("re", "im")})
        if (const std::string found =
                H5Tget_class(type.id()) == H5T_COMPOUND ? describe_complex(type.id(), real, imaginary) : "";
            !found.empty())
          d.array.type = found, d.parts = {real, imaginary};
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
      const std::string array = d.by == writer::octave ? name + "/value" : name;
      object = handle(H5Dopen2(file.id(), array.c_str(),
                               chunk_cache(d.in_file, chunk, d.axis, d.array.chunk_bytes).id()));
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
  /// What arrays of other programs are converted in.
  static void settle_block(dataset& d) {
    const std::size_t row = times(row_elements(d.array.shape), 3 * sizeof(double));  // with places
    if (d.by != writer::none) d.array.block_bytes = std::max(4 * mib, row);
  }
  /// MATLAB and Octave have two axes at least and drop those of one element at the end: their array as one
  /// of `axes`.
  static void take_axes(dataset& d, std::size_t axes) {
    std::vector<std::size_t> shape(d.in_file.rbegin(), d.in_file.rend());
    std::size_t axis = shape.empty() ? 0 : shape.size() - 1;
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
    if (!is_there(name)) fail_missing(name);
    handle object = open_object(name);
    if (!object.valid() || H5Iget_type(object.id()) != H5I_GROUP) get(name);  // which says what is wrong
    return object;
  }

  [[noreturn]] void fail_size(const std::string& reason) const {
    fail(reason + ", not what the file holds: it is truncated or damaged");
  }

  /// A damaged shape must not make a reader allocate or read without end: HDF5 itself takes any shape, since
  /// chunks that are not in the file read as zeros.
  void check_size(const std::string& name, const dataset& d, hid_t id, hid_t creation,
                  std::size_t size) const {
    const hdf5_array& array = d.array;
    const std::vector<hsize_t>& chunk = d.chunk;
    const std::string described = shown(name) + " is " + array.type + " " + list(array.shape);
    const std::size_t row = times(row_elements(array.shape), size);
    const std::size_t bytes = array.shape.empty() ? size : times(array.shape[0], row);
    if (row >= max_size || bytes >= max_size || array.chunk_bytes >= max_size)
      fail(described + ": that is too large");
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
      hsize_t allocated = 0;
      const handle space(H5Dget_space(id));
      if (!fits || H5Dget_num_chunks(id, space.id(), &allocated) < 0) fail_size(described);
      // Those that are there take 8 bytes at least; a growing array may have room for many that are not yet.
      if (chunks > 4096 && (allocated > file_size / 8 || chunks > std::size_t{1} << 20)) fail_size(described);
      if (!is_read(array.type)) return;  // may not be as large as in memory
      const hsize_t stored = H5Dget_storage_size(id);
      fits = array.packed ? times(allocated, chunk_bytes) / most_packed <= stored
                          : times(allocated, chunk_bytes) == stored;
    } else if (const hsize_t stored = H5Dget_storage_size(id);
               stored != 0 || H5Pget_layout(creation) == H5D_COMPACT) {
      fits = fits && stored >= bytes;
    }
    if (!fits) fail_size(described);
  }

  dataset& taken(hdf5_element element, const std::string& name, const std::string& also = "") {
    dataset& d = get(name);
    if (!is_taken_as(element, d)) fail_expected(element, name, d, also);
    if (d.by == writer::none) return d;
    read_as = d.by;
    converted = converted || d.array.type == "float64" || d.array.type == "complex128";
    return d;
  }
  /// Types are taken exactly; those of programs whose numbers are float64 by default are converted.
  static bool is_taken_as(hdf5_element element, const dataset& d) {
    if (d.by == writer::none) return d.array.type == name_of(element);
    const bool is_complex = (element == hdf5_element::complex64 || element == hdf5_element::complex128) &&
                            d.array.type.starts_with("complex");
    return is_complex || is_number(d.array.type);
  }
  [[noreturn]] void fail_expected(hdf5_element element, const std::string& name, const dataset& d,
                                  const std::string& also) const {
    fail(shown(name) + " is " + d.array.type + " " + list(d.array.shape) + ": expected " + name_of(element) +
         also);
  }

  void read_rows(hdf5_element element, const std::string& name, const dataset& d, std::size_t first,
                 std::size_t rows, char* to) const {
    const std::size_t row = row_elements(d.array.shape) * bytes_of(element), last = first + rows;
    // Chunks that were never written leave `to` as it is where their writer switched fill values off.
    if (d.array.chunk_rows != 0) std::memset(to, 0, rows * row);
    for (std::size_t row_index = first; row_index < last;) {
      const std::size_t end = d.rows_at_once == 0
                                  ? last
                                  : std::min(last, row_index - row_index % d.rows_at_once + d.rows_at_once);
      read_at_once(name, d, row_index, end - row_index, memory_type(element), to + (row_index - first) * row);
      row_index = end;
    }
  }

  /// In blocks of rows: numbers come as float64 and with reversed axes, rows last.
  template <class T>
  void read_reversed(const std::string& name, const dataset& d, std::size_t first, std::size_t rows,
                     T* to) const {
    const std::vector<std::size_t>& shape = d.array.shape;
    const std::size_t row = row_elements(shape), parts = d.array.type.starts_with("complex") ? 2 : 1;
    handle type(H5Tcopy(H5T_NATIVE_DOUBLE));
    if (parts == 2) {
      type = handle(H5Tcreate(H5T_COMPOUND, 2 * sizeof(double)));
      H5Tinsert(type.id(), d.parts.first, 0, H5T_NATIVE_DOUBLE);
      H5Tinsert(type.id(), d.parts.second, sizeof(double), H5T_NATIVE_DOUBLE);
    }
    std::vector<std::size_t> places(row);  // in a row, of what the file has one after the other
    for (std::size_t i = 0; i < row; i++)
      for (std::size_t axis = 1, rest = i; axis < shape.size(); rest /= shape[axis++])
        places[i] += rest % shape[axis] * stride(shape, axis);
    const std::size_t most_rows =
        std::max<std::size_t>(d.array.block_bytes / (row * parts * sizeof(double)), 1);
    std::vector<double> values;
    for (std::size_t begin = first, end = first; begin < first + rows; begin = end) {
      end = std::min(first + rows, begin + most_rows);
      if (d.rows_at_once != 0) end = std::min(end, begin - begin % d.rows_at_once + d.rows_at_once);
      const std::size_t count = end - begin;
      values.assign(count * row * parts, 0);  // chunks that were never written leave it as it is
      read_at_once(name, d, begin, count, type, values.data());
      for (std::size_t i = 0; i < row; i++)
        for (std::size_t r = 0; r < count; r++) {
          const double* x = &values[(i * count + r) * parts];
          const std::size_t place = (begin - first + r) * row + places[i];
          if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
            using part = typename T::value_type;
            const double imaginary = parts == 2 ? x[1] : 0;
            if (!holds<part>(x[0]) || !holds<part>(imaginary))
              fail_value(name, shape, first * row + place, holds<part>(x[0]) ? imaginary : x[0], "float32");
            to[place] = {static_cast<part>(x[0]), static_cast<part>(imaginary)};
          } else {
            if (!holds<T>(x[0])) fail_value(name, shape, first * row + place, x[0], name_of(element_of<T>));
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

/// The words with which Julia's packages JLD2 and JLD begin their files, before what is HDF5.
bool is_of_julia(int descriptor) {
  char begin[32] = {};
  const std::string_view words(begin, sizeof begin - 1);
  return pread(descriptor, begin, sizeof begin - 1, 0) > 0 &&
         (words.starts_with("HDF5-based Julia Data Format") || words.starts_with("Julia data file (HDF5)"));
}

file_in_process::file_in_process(int descriptor, std::uint64_t bytes, std::string name)
    : path(std::move(name)) {
  const session s;
  opened.descriptor = descriptor;
  opened.bytes = bytes;
  if (is_of_julia(descriptor)) made_by = writer::julia;
  links = handle(H5Pcreate(H5P_LINK_ACCESS));
  H5Pset_elink_cb(links.id(), refuse_link, nullptr);
  const handle settings = access_to(opened);
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
  file = handle(H5Fopen(no_name, H5F_ACC_RDONLY, settings.id()));
  if (file.valid()) return;
  const std::string why = reason();
  fail(why.starts_with("truncated file") ? "it is truncated or damaged" : damaged(why));
}

std::vector<std::string> file_in_process::names() {
  const session s;
  std::vector<std::string> arrays;
  for (std::string& name : linked()) {
    const handle object = open_object(name);
    if (!object.valid()) continue;
    const bool octave =
        H5Iget_type(object.id()) == H5I_GROUP && H5Aexists(object.id(), "OCTAVE_NEW_FORMAT") > 0;
    if (octave || H5Iget_type(object.id()) == H5I_DATASET) arrays.push_back(std::move(name));
  }
  return arrays;
}

std::vector<std::size_t> file_in_process::expect(hdf5_element element, const std::string& name,
                                                 std::size_t dimensions) {
  const session s;
  const std::string also = " of " + std::to_string(dimensions) + (dimensions == 1 ? " axis" : " axes");
  dataset& d = taken(element, name, also);
  if (d.by != writer::none) take_axes(d, dimensions);
  if (d.array.shape.size() != dimensions) fail_expected(element, name, d, also);
  return d.array.shape;
}

void file_in_process::read(hdf5_element element, const std::string& name, std::size_t first, std::size_t rows,
                           void* to) {
  const session s;
  const dataset& d = taken(element, name);
  check_rows(d.array.shape, first, rows);
  if (times(rows, row_elements(d.array.shape)) == 0) return;
  if (d.by == writer::none) return read_rows(element, name, d, first, rows, static_cast<char*>(to));
  with_element(element,
               [&](auto zero) { read_reversed(name, d, first, rows, static_cast<decltype(zero)*>(to)); });
}

}  // namespace

std::unique_ptr<hdf5_source> hdf5_in_process(int descriptor, std::uint64_t bytes, const std::string& path) {
  return std::make_unique<file_in_process>(descriptor, bytes, path);
}

}  // namespace wb
