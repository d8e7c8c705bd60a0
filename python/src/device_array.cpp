#include "device_array.hpp"

#include <algorithm>
#include <cstring>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <warpband/core/error.hpp>
#include <warpband/exec/cuda.hpp>

#include "exchange.hpp"
#include "rooms.hpp"

namespace wb::python {
namespace {

namespace nb = nanobind;

struct numeric {
  nb::dlpack::dtype_code code;
  std::uint8_t bits;
  const char* typestr;
};
numeric numeric_of(number n) {
  using code = nb::dlpack::dtype_code;
  switch (n) {
    case number::float16:
      return {code::Float, 16, "<f2"};
    case number::float32:
      return {code::Float, 32, "<f4"};
    case number::complex64:
      return {code::Complex, 64, "<c8"};
    case number::int8:
      return {code::Int, 8, "|i1"};
    case number::int16:
      return {code::Int, 16, "<i2"};
    case number::int32:
      return {code::Int, 32, "<i4"};
    default:
      return {code::UInt, 8, "|u1"};
  }
}

/// The name of any type of DLPack.
std::string name_of(nb::dlpack::dtype t) {
  static constexpr const char* kinds[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  const std::string kind = t.code < std::size(kinds) ? kinds[t.code] : "type" + std::to_string(t.code);
  if (kind == "bool" && t.bits == 8 && t.lanes == 1) return kind;
  return kind + std::to_string(t.bits) + (t.lanes == 1 ? "" : "x" + std::to_string(t.lanes));
}

}  // namespace

device_array::device_array(nb::handle owner, const std::vector<std::ptrdiff_t>& shape,
                           const std::string& type)
    : shape_(shape), type_(number_named(type)), type_name_(type), owner_(nb::borrow(owner)) {
  auto& where = nb::cast<executor_ref&>(owner);
  const numeric n = numeric_of(type_);
  itemsize_ = n.bits / 8u;
  device_ = where.device();
  std::size_t bytes = itemsize_;
  strides_.resize(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides_[i] = static_cast<std::ptrdiff_t>(bytes);
    bytes *= static_cast<std::size_t>(shape[i]);
  }
  memory_ = where.open().make<unsigned char>(1, bytes);
  data_ = memory_.data();
}

std::unique_ptr<device_array> device_array::from_dlpack(nb::object capsule, nb::object source) {
  // The capsule is kept as it is: nobody else takes it, and it gives the array back when it goes.
  std::unique_ptr<device_array> a(new device_array);
  const char* name = PyCapsule_GetName(capsule.ptr());
  if (name == nullptr) throw nb::python_error();
  nb::dlpack::dltensor t;
  if (std::strcmp(name, "dltensor") == 0) {
    t = *static_cast<nb::dlpack::dltensor*>(PyCapsule_GetPointer(capsule.ptr(), name));
  } else {
    const auto* v = static_cast<versioned_tensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (v == nullptr) throw nb::python_error();
    if (v->major != 1)
      throw argument_error("array", "DLPack " + std::to_string(v->major) + "." + std::to_string(v->minor),
                           "version 1 or the one before");
    a->read_only_ = (v->flags & 1) != 0;
    t = v->tensor;
  }
  if (t.ndim < 0) throw argument_error("array", std::to_string(t.ndim) + " axes", "0 or more");
  a->data_ = t.data == nullptr ? nullptr : static_cast<char*>(t.data) + t.byte_offset;
  a->device_ = t.device.device_type == nb::device::cpu::value ? -1 : t.device.device_id;
  a->type_name_ = name_of(t.dtype);
  a->type_ = number_named(a->type_name_);
  a->itemsize_ = static_cast<std::size_t>(t.dtype.bits) * t.dtype.lanes / 8;
  a->shape_.assign(t.shape, t.shape + t.ndim);
  a->strides_.resize(a->shape_.size());
  const auto times = [](std::ptrdiff_t x, std::ptrdiff_t y) {
    std::ptrdiff_t product = 0;
    if (__builtin_mul_overflow(x, y, &product))
      throw argument_error("array", "an array of DLPack that no memory has room for", "a smaller one");
    return product;
  };
  const auto unit = static_cast<std::ptrdiff_t>(a->itemsize_);
  std::ptrdiff_t step = unit;
  for (std::size_t i = a->shape_.size(); i-- > 0; step = times(step, a->shape_[i]))
    a->strides_[i] = t.strides == nullptr ? step : times(t.strides[i], unit);
  a->capsule_ = std::move(capsule);
  a->source_ = std::move(source);
  return a;
}

device_array::~device_array() {
  if (memory_.data() == nullptr || readers_.empty()) return;
  try {
    void* owner_stream = static_cast<cuda&>(nb::cast<executor_ref&>(owner_).open()).stream();
    cuda_event read(device_);
    for (void* reader : readers_) {
      read.record(reader);
      read.hold(owner_stream);
    }
  } catch (const std::exception&) {  // the device is lost, and with it all memory
  }
}

nb::object device_array::dlpack(nb::handle self, nb::handle stream, nb::handle max_version) {
  auto& a = nb::cast<device_array&>(self);
  if (a.memory_.data() != nullptr) {
    const std::intptr_t given = stream.is_none() ? 1 : nb::cast<std::intptr_t>(stream);
    if (given != -1) {
      void* reader = reinterpret_cast<void*>(given == 0 ? 1 : given);  // 0 is not unique: the default stream
      void* owner_stream = static_cast<cuda&>(nb::cast<executor_ref&>(a.owner_).open()).stream();
      if (reader != owner_stream) {
        cuda_event written(a.device_);
        written.record(owner_stream);
        written.hold(reader);
        if (std::find(a.readers_.begin(), a.readers_.end(), reader) == a.readers_.end())
          a.readers_.push_back(reader);
      }
    }
  }
  const numeric n = numeric_of(a.type_);
  std::vector<std::size_t> shape(a.shape_.begin(), a.shape_.end());
  std::vector<std::int64_t> strides;
  for (const std::ptrdiff_t s : a.strides_) strides.push_back(s / static_cast<std::ptrdiff_t>(a.itemsize_));
  const nb::ndarray<nb::array_api> array(a.data_, shape.size(), shape.data(), self, strides.data(),
                                         {static_cast<std::uint8_t>(n.code), n.bits, 1},
                                         nb::device::cuda::value, a.device_);
  return nb::cast(array, nb::rv_policy::reference).attr("__dlpack__")(nb::arg("max_version") = max_version);
}

nb::dict device_array::cuda_array_interface() const {
  nb::dict about;
  nb::list shape, strides;
  for (const std::ptrdiff_t n : shape_) shape.append(n);
  for (const std::ptrdiff_t s : strides_) strides.append(s);
  about["shape"] = nb::tuple(shape);
  about["strides"] = nb::tuple(strides);
  about["typestr"] = numeric_of(type_).typestr;
  about["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(data_), read_only_);
  about["version"] = 3;
  if (memory_.data() != nullptr)
    about["stream"] =
        reinterpret_cast<std::uintptr_t>(static_cast<cuda&>(nb::cast<executor_ref&>(owner_).open()).stream());
  return about;
}

void bind_device_array(nb::module_& m) {
  nb::class_<device_array>(m, "DeviceArray",
                           "An array in the memory of a CUDA device, for libraries with DLPack.")
      .def(
          "__init__",
          [](device_array* self, nb::handle executor, const std::vector<std::ptrdiff_t>& shape,
             const std::string& type) { new (self) device_array(executor, shape, type); },
          nb::arg("executor"), nb::arg("shape"), nb::arg("type"))
      .def_static("from_dlpack", &device_array::from_dlpack, nb::arg("capsule"), nb::arg("source"))
      .def_prop_ro("shape",
                   [](const device_array& a) {
                     nb::list shape;
                     for (const std::ptrdiff_t n : a.shape()) shape.append(n);
                     return nb::tuple(shape);
                   })
      .def_prop_ro("dtype", [](const device_array& a) { return a.type_name(); })
      .def_prop_ro("source",
                   [](const device_array& a) { return a.source().is_valid() ? a.source() : nb::none(); })
      .def("__dlpack_device__", [](const device_array& a) { return nb::make_tuple(2, a.device()); })
      .def(
          "__dlpack__",
          [](nb::handle self, nb::handle stream, nb::handle max_version, nb::handle, nb::handle) {
            return device_array::dlpack(self, stream, max_version);
          },
          nb::kw_only(), nb::arg("stream").none() = nb::none(), nb::arg("max_version").none() = nb::none(),
          nb::arg("dl_device").none() = nb::none(), nb::arg("copy").none() = nb::none())
      .def_prop_ro("__cuda_array_interface__", &device_array::cuda_array_interface);
  m.def(
      "cuda_device_of", [](std::uintptr_t p) { return cuda_device_of(reinterpret_cast<void*>(p)); },
      nb::arg("address"));
}

}  // namespace wb::python
