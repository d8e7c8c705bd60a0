#pragma once
// Arrays in the memory of a CUDA device that are not of a library this package knows: what came in by DLPack,
// and what goes out to a library that only reads DLPack or __cuda_array_interface__.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <warpband/exec/executor.hpp>

#include "executors.hpp"
#include "number.hpp"

namespace wb::python {

class device_array {
 public:
  /// New memory of an executor, which `owner` is.
  device_array(nanobind::handle owner, const std::vector<std::ptrdiff_t>& shape, const std::string& type);
  /// What a DLPack capsule describes; it is kept. Throws argument_error for what no array here can be.
  static std::unique_ptr<device_array> from_dlpack(nanobind::object capsule, nanobind::object source);
  /// Streams that took the array are waited for, by the executor's stream, before the memory is used again.
  ~device_array();
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;

  void* data() const noexcept { return data_; }
  const std::vector<std::ptrdiff_t>& shape() const noexcept { return shape_; }
  const std::vector<std::ptrdiff_t>& strides() const noexcept { return strides_; }  // bytes
  number type() const noexcept { return type_; }
  const std::string& type_name() const noexcept { return type_name_; }
  std::size_t itemsize() const noexcept { return itemsize_; }
  int device() const noexcept { return device_; }
  bool read_only() const noexcept { return read_only_; }
  /// Of what came in by DLPack: the array of the other library.
  nanobind::object source() const { return source_; }
  nanobind::object capsule() const { return capsule_; }

  /// A capsule of DLPack for a reader whose work is on `stream`: a cudaStream_t, None for the default stream,
  /// -1 for one who orders the work himself. `self` is this.
  static nanobind::object dlpack(nanobind::handle self, nanobind::handle stream,
                                 nanobind::handle max_version);
  nanobind::dict cuda_array_interface() const;

 private:
  device_array() = default;
  void* data_ = nullptr;
  std::vector<std::ptrdiff_t> shape_, strides_;
  number type_ = number::other;
  std::string type_name_;
  std::size_t itemsize_ = 0;
  int device_ = -1;
  bool read_only_ = false;
  nanobind::object capsule_, source_, owner_;
  array<unsigned char> memory_;
  std::vector<void*> readers_;
};

}  // namespace wb::python
