#include "exchange.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <utility>

#include "rooms.hpp"

namespace wb::python {
namespace {

namespace nb = nanobind;

nb::object attribute(nb::handle object, const char* name) {
  PyObject* found = PyObject_GetAttrString(object.ptr(), name);
  if (found == nullptr) PyErr_Clear();
  return nb::steal(found);
}

/// The table of the version that is understood, which a type itself has.
const exchange_functions* functions_of(nb::handle type) {
  static constexpr const char* attribute_name = "__dlpack_c_exchange_api__";
  static constexpr const char* capsule_name = "dlpack_exchange_api";
  const nb::object dict = attribute(type, "__dict__");
  if (!dict.is_valid()) return nullptr;
  const nb::object capsule = nb::steal(PyMapping_GetItemString(dict.ptr(), attribute_name));
  if (!capsule.is_valid()) {
    PyErr_Clear();
    return nullptr;
  }
  if (PyCapsule_IsValid(capsule.ptr(), capsule_name) == 0) return nullptr;
  auto* f = static_cast<const exchange_functions*>(PyCapsule_GetPointer(capsule.ptr(), capsule_name));
  while (f != nullptr && f->major != 1) f = f->previous;
  return f != nullptr && f->describe != nullptr && f->current_stream != nullptr ? f : nullptr;
}

}  // namespace

const tensor_type* tensor_type::of(nb::handle object) {
  // Types are kept alive, so that their addresses stay theirs. Those with the interface are as few as
  // libraries; of the others, which are looked at again if need be, those seen last are known.
  static std::deque<tensor_type> types;
  static std::array<PyTypeObject*, 8> others{};
  static std::size_t next = 0;
  PyTypeObject* type = Py_TYPE(object.ptr());
  for (const tensor_type& known : types)
    if (known.type_ == type) return &known;
  for (const PyTypeObject* other : others)
    if (other == type) return nullptr;

  const nb::handle t(reinterpret_cast<PyObject*>(type));
  nb::object is_conj = attribute(t, "is_conj"), is_neg = attribute(t, "is_neg");
  const exchange_functions* functions = is_conj.is_valid() && is_neg.is_valid() ? functions_of(t) : nullptr;
  t.inc_ref();
  if (functions == nullptr) {
    PyTypeObject* before = std::exchange(others[next++ % others.size()], type);
    Py_XDECREF(reinterpret_cast<PyObject*>(before));
    return nullptr;
  }
  tensor_type& is = types.emplace_back();
  is.type_ = type;
  is.functions_ = functions;
  is.is_conj_ = is_conj.release().ptr();
  is.is_neg_ = is_neg.release().ptr();
  return &is;
}

bool tensor_type::describe(nb::handle tensor, nb::dlpack::dltensor& t) const {
  if (functions_->describe(tensor.ptr(), &t) == 0) return true;
  PyErr_Clear();
  return false;
}

bool tensor_type::current_stream(int device, void*& stream) const {
  if (functions_->current_stream(nb::device::cuda::value, device, &stream) == 0) return true;
  PyErr_Clear();
  return false;
}

bool tensor_type::waits(nb::handle tensor, bool complex) const {
  const auto says = [&](PyObject* method) {
    PyObject* arguments[] = {tensor.ptr()};
    PyObject* answer = PyObject_Vectorcall(method, arguments, 1, nullptr);
    if (answer == nullptr) throw nb::python_error();
    return nb::steal(answer).is(nb::handle(Py_True));
  };
  return (complex && says(is_conj_)) || says(is_neg_);
}

void bind_exchange(nb::module_& m) {
  m.def("has_exchange", [](nb::handle array) { return tensor_type::of(array) != nullptr; }, nb::arg("array"));
  // (device, stream) of the library's own work on a tensor in the memory of a CUDA device. None for anything
  // else, also for an object that cannot say. 0 is the default stream that all others wait for; its handle
  // is 1.
  m.def(
      "work_stream",
      [](nb::handle array) -> nb::object {
        const tensor_type* type = tensor_type::of(array);
        nb::dlpack::dltensor t;
        void* stream = nullptr;
        if (type == nullptr || !type->describe(array, t) || t.device.device_type != nb::device::cuda::value ||
            !type->current_stream(t.device.device_id, stream))
          return nb::none();
        struct place {  // made once for those that come again
          int device = -1;
          void* stream = nullptr;
          PyObject* pair = nullptr;
        };
        static std::array<place, 8> places;
        static std::size_t next = 0;
        for (const place& p : places)
          if (p.device == t.device.device_id && p.stream == stream) return nb::borrow(p.pair);
        const auto handle = reinterpret_cast<std::uintptr_t>(stream);
        nb::object pair = nb::make_tuple(t.device.device_id, handle == 0 ? 1 : handle);
        place& p = places[next++ % places.size()];
        const place before = std::exchange(p, {t.device.device_id, stream, nb::object(pair).release().ptr()});
        Py_XDECREF(before.pair);
        return pair;
      },
      nb::arg("array"));
}

}  // namespace wb::python
