#include <warpband/io/hdf5.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include <warpband/io/hdf5_library.hpp>
#include <warpband/io/replacement.hpp>

namespace wb {

using namespace hdf5_library;

namespace {

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
  open_file to;
  handle file;
  std::map<std::string, dataset> datasets;
  bool committed = false;

  explicit state(const std::string& p) : path(p), file_on_disk(p) {}
  ~state() {
    const session s;
    to.dropped = true;
    datasets.clear();
    file.close();
    if (to.descriptor >= 0) close(to.descriptor);
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
  const std::string& name = state_->file_on_disk.name();
  state_->to.descriptor = open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (state_->to.descriptor < 0) state_->fail(std::strerror(errno));
  const handle access = access_to(state_->to);
  state_->check(access.valid());
  state_->file = handle(H5Fcreate(no_name, H5F_ACC_TRUNC, H5P_DEFAULT, access.id()));
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
  if (row >= max_size || times(shape[0], row) >= max_size)
    throw shape_error(name, list(shape), "fewer elements");

  const std::vector<hsize_t> extent(shape.begin(), shape.end()), chunk = chunk_shape(shape, sizeof(T));
  const int axes = static_cast<int>(shape.size());
  const handle space(H5Screate_simple(axes, extent.data(), nullptr)), type = memory_type(element_of<T>);
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
  state_->datasets.emplace(name, state::dataset{std::move(made), shape, name_of(element_of<T>)});
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
  if (d.type != name_of(element_of<T>))
    throw argument_error("type of " + name, name_of(element_of<T>), d.type);
  check_rows(d.shape, first, rows);
  const std::size_t n = rows * row_elements(d.shape);
  if (n == 0) return;
  const handle in_file = select_rows(d.id.id(), d.shape, first, rows), in_memory = memory_rows(d.shape, rows);
  state_->check(in_file.valid() && in_memory.valid() &&
                H5Dwrite(d.id.id(), memory_type(element_of<T>).id(), in_memory.id(), in_file.id(),
                         H5P_DEFAULT, from) >= 0);
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
  if (close(std::exchange(state_->to.descriptor, -1)) != 0) state_->fail(std::strerror(errno));
  state_->committed = true;
  state_->file_on_disk.commit();
}

// --------------------------------------------------------------------------------------------- element types

#define WB_HDF5_ELEMENT(T)                                                                  \
  template void hdf5_writer::create<T>(const std::string&, const std::vector<std::size_t>&, \
                                       const hdf5_attributes&);                             \
  template void hdf5_writer::write<T>(const std::string&, std::size_t, std::size_t, const T*);

WB_HDF5_ELEMENT(std::uint8_t)
WB_HDF5_ELEMENT(std::int8_t)
WB_HDF5_ELEMENT(std::int16_t)
WB_HDF5_ELEMENT(std::int32_t)
WB_HDF5_ELEMENT(std::int64_t)
WB_HDF5_ELEMENT(float)
WB_HDF5_ELEMENT(double)
WB_HDF5_ELEMENT(std::complex<float>)
WB_HDF5_ELEMENT(std::complex<double>)
#undef WB_HDF5_ELEMENT

}  // namespace wb
