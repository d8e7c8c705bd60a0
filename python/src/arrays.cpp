#include "arrays.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <nanobind/stl/string.h>

#include <warpband/core/error.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/exec/cuda.hpp>

#include "device_array.hpp"
#include "exchange.hpp"
#include "rooms.hpp"

namespace wb::python {
namespace {

/// The type of a buffer's format (PEP 3118), in this machine's byte order.
number number_of_format(const char* format, std::size_t itemsize) {
  if (format == nullptr) return number::uint8;
  if (*format == '@' || *format == '=' || *format == (PY_LITTLE_ENDIAN ? '<' : '>')) format++;
  const bool two = format[0] == 'Z' && format[1] != 0;
  if (format[two ? 2 : 1] != 0) return number::other;
  if (two) return format[1] == 'f' && itemsize == 8 ? number::complex64 : number::other;
  switch (format[0]) {
    case 'e':
      return number::float16;
    case 'f':
      return number::float32;
    case 'B':
    case '?':
      return number::uint8;
    case 'b':
      return number::int8;
    case 'h':
      return number::int16;
    case 'i':
    case 'l':
      return itemsize == 4 ? number::int32 : number::other;
    default:
      return number::other;
  }
}
std::string readable(const char* format, std::size_t itemsize) {
  const std::string f = format == nullptr ? "" : format;
  const std::string last =
      f.empty() ? "" : f.substr(f.size() - (f.size() > 1 && f[f.size() - 2] == 'Z' ? 2 : 1));
  if (!f.empty() && f[0] == (PY_LITTLE_ENDIAN ? '>' : '<')) return "another byte order";
  if (last == "d") return "float64";
  if (last == "Zd") return "complex128";
  const std::string bits = std::to_string(8 * itemsize);
  if (last == "h" || last == "i" || last == "l" || last == "q") return "int" + bits;
  if (last == "H" || last == "I" || last == "L" || last == "Q") return "uint" + bits;
  return "format \"" + f + "\"";
}

/// The same of the typestr of __cuda_array_interface__.
number number_of_typestr(const std::string& t) {
  if (t == "<f2") return number::float16;
  if (t == "<f4") return number::float32;
  if (t == "<c8") return number::complex64;
  if (t == "|u1" || t == "|b1") return number::uint8;
  if (t == "|i1") return number::int8;
  if (t == "<i2") return number::int16;
  if (t == "<i4") return number::int32;
  return number::other;
}

/// The same of DLPack.
number number_of_dlpack(nb::dlpack::dtype t) {
  using code = nb::dlpack::dtype_code;
  if (t.lanes != 1) return number::other;
  switch (static_cast<code>(t.code)) {
    case code::Float:
      return t.bits == 32 ? number::float32 : t.bits == 16 ? number::float16 : number::other;
    case code::Complex:
      return t.bits == 64 ? number::complex64 : number::other;
    case code::UInt:
    case code::Bool:
      return t.bits == 8 ? number::uint8 : number::other;
    case code::Int:
      return t.bits == 8    ? number::int8
             : t.bits == 16 ? number::int16
             : t.bits == 32 ? number::int32
                            : number::other;
    default:
      return number::other;
  }
}

std::size_t size_of(number n) {
  switch (n) {
    case number::complex64:
      return 8;
    case number::float32:
    case number::int32:
      return 4;
    case number::float16:
    case number::int16:
      return 2;
    default:
      return 1;
  }
}

/// The name of an attribute, made once.
struct word {
  explicit word(const char* text) : string(PyUnicode_InternFromString(text)) {}
  PyObject* string;
  nb::object of(nb::handle o) const { return checked(PyObject_GetAttr(o.ptr(), string)); }
  nb::object call(nb::handle o) const {
    PyObject* arguments[] = {o.ptr()};
    return checked(PyObject_VectorcallMethod(string, arguments, 1, nullptr));
  }
  static nb::object checked(PyObject* result) {
    if (result == nullptr) throw nb::python_error();
    return nb::steal(result);
  }
};

std::string class_of(nb::handle object) {
  return nb::cast<std::string>(nb::str(object.type().attr("__name__")));
}

bool has(nb::handle object, const char* attribute) {
  return PyObject_HasAttrString(object.ptr(), attribute) != 0;
}

std::string place(int device) {
  return device < 0 ? "host memory" : "memory of cuda:" + std::to_string(device);
}

}  // namespace

const char* name_of(number n) {
  switch (n) {
    case number::float16:
      return "float16";
    case number::float32:
      return "float32";
    case number::complex64:
      return "complex64";
    case number::uint8:
      return "uint8";
    case number::int8:
      return "int8";
    case number::int16:
      return "int16";
    case number::int32:
      return "int32";
    case number::other:
      break;
  }
  return "other";
}

number number_named(const std::string& name) {
  if (name == "bool") return number::uint8;
  for (const number n : {number::float16, number::float32, number::complex64, number::uint8, number::int8,
                         number::int16, number::int32})
    if (name == name_of(n)) return n;
  return number::other;
}

std::string text_of(std::span<const std::ptrdiff_t> shape) {
  std::string text = "(";
  for (const std::ptrdiff_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + (shape.size() == 1 ? ",)" : ")");
}
std::size_t product(std::span<const std::ptrdiff_t> shape) {
  std::size_t n = 1;
  for (const std::ptrdiff_t s : shape) n *= static_cast<std::size_t>(s);
  return n;
}

/// Throws shape_error naming the argument where steps are beyond all memory.
static std::ptrdiff_t times(const char* name, std::ptrdiff_t a, std::ptrdiff_t b) {
  std::ptrdiff_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    throw shape_error(name, "steps of " + std::to_string(a) + " times " + std::to_string(b) + " bytes",
                      "an array that memory has room for");
  return product;
}

/// What an object says of its steps, each in `unit` bytes: one for each axis.
static void get_strides(const char* name, nb::handle given, std::size_t unit,
                        std::span<std::ptrdiff_t> strides) {
  const nb::tuple steps = nb::cast<nb::tuple>(given);
  if (steps.size() != strides.size())
    throw shape_error(
        name, std::to_string(steps.size()) + " strides of " + std::to_string(strides.size()) + " axes",
        "one for each axis");
  for (std::size_t i = 0; i < steps.size(); i++)
    strides[i] = times(name, nb::cast<std::ptrdiff_t>(steps[i]), static_cast<std::ptrdiff_t>(unit));
}

/// Those of an array whose numbers lie one after the other.
static void step_closely(const char* name, std::size_t itemsize, std::span<const std::ptrdiff_t> shape,
                         std::span<std::ptrdiff_t> strides) {
  auto step = static_cast<std::ptrdiff_t>(itemsize);
  for (std::size_t i = shape.size(); i-- > 0; step = times(name, step, shape[i])) strides[i] = step;
}

argument::argument(const char* name, nb::handle object, executor_ref& where, bool written, bool in_place,
                   const char* allowed)
    : name_(name), where_(where), written_(written), in_place_(in_place) {
  if (!object.is_none()) take(object, allowed);
  before_ = std::exchange(latest_, this);
}

/// What the object is. Where it throws nothing is held.
void argument::take(nb::handle object, const char* allowed) {
  given_ = true;
  // Some libraries' arrays on a device claim to have a buffer and fail when it is asked for.
  const bool buffer = PyObject_CheckBuffer(object.ptr()) != 0;
  if (buffer && where_.device() < 0)
    take_buffer(object, written_);
  else if (!buffer && take_described(object, written_))
    ;
  else if (nb::isinstance<device_array>(object))
    take_device_array(object, written_);
  else if (!buffer && has(object, "data_ptr"))
    take_torch(object, written_);
  else if (take_cupy(object))
    ;
  else if ((!buffer || where_.device() >= 0) && has(object, "__cuda_array_interface__"))
    take_cuda(object, written_);
  else if (buffer)
    take_buffer(object, written_);
  else
    throw nb::type_error(
        (std::string(name_) + " is a " + class_of(object) + ": expected " + allowed).c_str());
  const std::span<const std::ptrdiff_t> shape(shape_.data(), static_cast<std::size_t>(axes_));
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  try {
    if (std::any_of(shape.begin(), shape.end(), [](std::ptrdiff_t n) { return n < 0; }))
      throw shape_error(name_, "shape " + text_of(shape), "extents of 0 or more");
    if (!empty) check_span();
    if (!empty && data_ == nullptr)
      throw shape_error(name_, "an array without memory", "one with an address");
    if (device_ != where_.device())
      throw shape_error(name_, "an array in " + place(device_), "one in " + place(where_.device()));
    if (!empty) check_overlaps();
  } catch (...) {
    if (held_) PyBuffer_Release(&buffer_);
    throw;
  }
  if (!empty) return;
  // Nothing is stepped through, and libraries say what they like: CuPy says 0.
  std::size_t step = itemsize_;
  for (std::size_t i = shape.size(); i-- > 0;
       step *= static_cast<std::size_t>(std::max<std::ptrdiff_t>(shape[i], 1)))
    strides_[i] = static_cast<std::ptrdiff_t>(step);
}

/// From the first number to the last one is no further than addresses go.
void argument::check_span() const {
  std::ptrdiff_t span = static_cast<std::ptrdiff_t>(itemsize_);
  for (std::size_t i = 0; i < static_cast<std::size_t>(axes_); i++) {
    const std::ptrdiff_t steps = times(name_, shape_[i] - 1, strides_[i]);
    if (steps == std::numeric_limits<std::ptrdiff_t>::min() ||
        __builtin_add_overflow(span, std::abs(steps), &span))
      throw shape_error(name_, "steps of " + std::to_string(strides_[i]) + " bytes",
                        "an array that memory has room for");
  }
}

/// The memory of an output is its own, but for in-place work where that is documented.
void argument::check_overlaps() const {
  if (written_ && overlaps_itself())
    throw shape_error(name_,
                      "an array with strides " + text_of({strides_.data(), static_cast<std::size_t>(axes_)}) +
                          " of bytes, whose own items overlap",
                      "an output with an address of its own for each number");
  for (const argument* other = latest_; other != nullptr; other = other->before_) {
    if (!other->given_ || other->device_ != device_ || !(written_ || other->written_)) continue;
    if (!overlaps(*other)) continue;
    const argument& out = written_ ? *this : *other;
    const argument& with = written_ ? *other : *this;
    if (out.in_place_ && !with.written_ && out.same_numbers(with)) continue;
    throw shape_error(
        out.name_, std::string("an array that overlaps ") + with.name_,
        "memory of its own" + (out.in_place_ && !with.written_ ? std::string(", or ") + with.name_ + " itself"
                                                               : std::string()));
  }
}

/// Whether steps of an axis are shorter than what the axes with shorter steps span. Steps of 0 are refused
/// with the shape.
bool argument::overlaps_itself() const {
  std::array<std::pair<std::size_t, std::size_t>, most_axes> axes;  // step, extent
  std::size_t n = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(axes_); i++)
    if (shape_[i] > 1 && strides_[i] != 0)
      axes[n++] = {static_cast<std::size_t>(std::abs(strides_[i])), static_cast<std::size_t>(shape_[i])};
  std::sort(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(n));
  std::size_t span = itemsize_;
  for (std::size_t i = 0; i < n; i++) {
    if (axes[i].first < span) return true;
    span += (axes[i].second - 1) * axes[i].first;
  }
  return false;
}

bool argument::same_numbers(const argument& other) const {
  return data_ == other.data_ && itemsize_ == other.itemsize_ && axes_ == other.axes_ &&
         std::equal(shape_.begin(), shape_.begin() + axes_, other.shape_.begin()) &&
         std::equal(strides_.begin(), strides_.begin() + axes_, other.strides_.begin());
}

/// The bytes from the lowest to behind the highest.
std::pair<const char*, const char*> argument::range() const {
  const auto* low = static_cast<const char*>(data_);
  const char* high = low + itemsize_;
  for (std::size_t i = 0; i < static_cast<std::size_t>(axes_); i++)
    (strides_[i] < 0 ? low : high) += (shape_[i] - 1) * strides_[i];
  return {low, high};
}

/// An array of NumPy at the same addresses, which may be a device's: nobody reads it.
nb::object argument::addresses() const {
  const std::span<const std::ptrdiff_t> shape(shape_.data(), static_cast<std::size_t>(axes_)),
      strides(strides_.data(), static_cast<std::size_t>(axes_));
  const auto tuple = [](std::span<const std::ptrdiff_t> values) {
    nb::list list;
    for (const std::ptrdiff_t v : values) list.append(v);
    return nb::tuple(list);
  };
  nb::dict about;
  about["version"] = 3;
  about["typestr"] = "|V" + std::to_string(itemsize_);
  about["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(data_), true);
  about["shape"] = tuple(shape);
  about["strides"] = tuple(strides);
  const nb::object owner =
      nb::module_::import_("types").attr("SimpleNamespace")(nb::arg("__array_interface__") = about);
  return nb::module_::import_("numpy").attr("asarray")(owner);
}

/// Whether a byte belongs to both. Parts of the same rows may lie side by side: NumPy tells them apart.
bool argument::overlaps(const argument& other) const {
  const auto [low, high] = range();
  const auto [other_low, other_high] = other.range();
  if (low >= other_high || other_low >= high) return false;
  if (same_numbers(other)) return true;
  try {
    return nb::cast<bool>(nb::module_::import_("numpy").attr("shares_memory")(addresses(), other.addresses(),
                                                                              nb::arg("max_work") = 100000));
  } catch (const nb::python_error&) {  // too hard to tell
    return true;
  }
}

void argument::take_buffer(nb::handle object, bool written) {
  if (PyObject_GetBuffer(object.ptr(), &buffer_, written ? PyBUF_RECORDS : PyBUF_RECORDS_RO) != 0) {
    nb::python_error reason;
    if (has(object, "__cuda_array_interface__")) return take_cuda(object, written);
    if (written && PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_RECORDS_RO) == 0) {
      PyBuffer_Release(&buffer_);
      throw shape_error(name_, "a read-only array", "one to write to");
    }
    PyErr_Clear();
    if (!has(object, "dtype")) throw reason;
    const nb::object type = object.attr("dtype");  // one that no buffer holds, as datetime64
    throw shape_error(name_, "an array of " + nb::cast<std::string>(nb::str(nb::handle(type))), "numbers");
  }
  held_ = true;
  if (static_cast<std::size_t>(buffer_.ndim) > most_axes) {
    PyBuffer_Release(&buffer_);
    throw shape_error(name_, std::to_string(buffer_.ndim) + " axes", "at most 16");
  }
  axes_ = buffer_.ndim;
  data_ = buffer_.buf;
  itemsize_ = static_cast<std::size_t>(buffer_.itemsize);
  const auto axes = static_cast<std::size_t>(axes_);
  std::copy(buffer_.shape, buffer_.shape + axes_, shape_.begin());
  if (buffer_.strides != nullptr)
    std::copy(buffer_.strides, buffer_.strides + axes_, strides_.begin());
  else  // as ctypes says it
    step_closely(name_, itemsize_, {shape_.data(), axes}, {strides_.data(), axes});
  type_ = number_of_format(buffer_.format, itemsize_);
  if (type_ == number::other) other_ = readable(buffer_.format, itemsize_);
}

void argument::take_shape(nb::handle shape) {
  const nb::tuple extents = nb::cast<nb::tuple>(shape);
  if (extents.size() > most_axes)
    throw shape_error(name_, std::to_string(extents.size()) + " axes", "at most 16");
  axes_ = static_cast<int>(extents.size());
  for (std::size_t i = 0; i < extents.size(); i++) shape_[i] = nb::cast<std::ptrdiff_t>(extents[i]);
}

void argument::take_device_array(nb::handle object, bool written) {
  const auto& a = nb::cast<const device_array&>(object);
  if (written && a.read_only()) throw shape_error(name_, "a read-only array", "one to write to");
  if (a.shape().size() > most_axes)
    throw shape_error(name_, std::to_string(a.shape().size()) + " axes", "at most 16");
  axes_ = static_cast<int>(a.shape().size());
  std::copy(a.shape().begin(), a.shape().end(), shape_.begin());
  std::copy(a.strides().begin(), a.strides().end(), strides_.begin());
  data_ = a.data(), device_ = a.device(), itemsize_ = a.itemsize(), type_ = a.type();
  if (type_ == number::other) other_ = a.type_name();
  capsule_ = a.capsule();
}

/// A tensor without a conjugation or sign that waits.
nb::object argument::resolved(nb::handle object, bool written) {
  if (written)
    throw argument_error("out", "a tensor with a conjugation or sign that waits",
                         "one without, as torch.empty gives");
  return object.attr("resolve_conj")().attr("resolve_neg")();
}

/// A tensor, by the exchange interface of its library. What is not like this is for the ways that all
/// libraries have.
bool argument::take_described(nb::handle object, bool written) {
  const tensor_type* type = tensor_type::of(object);
  if (type == nullptr) return false;
  const auto take = [&](nb::handle tensor) {
    nb::dlpack::dltensor t;
    if (!type->describe(tensor, t)) return false;
    if (t.device.device_type != nb::device::cpu::value && t.device.device_type != nb::device::cuda::value)
      return false;
    if (t.ndim < 0 || static_cast<std::size_t>(t.ndim) > most_axes) return false;
    type_ = number_of_dlpack(t.dtype);
    if (type_ == number::other) return false;
    itemsize_ = t.dtype.bits / 8u;
    device_ = t.device.device_type == nb::device::cpu::value ? -1 : t.device.device_id;
    data_ = t.data == nullptr ? nullptr : static_cast<char*>(t.data) + t.byte_offset;
    axes_ = t.ndim;
    std::copy(t.shape, t.shape + t.ndim, shape_.begin());
    const auto axes = static_cast<std::size_t>(axes_);
    if (t.strides == nullptr) step_closely(name_, itemsize_, {shape_.data(), axes}, {strides_.data(), axes});
    for (std::size_t i = 0; t.strides != nullptr && i < axes; i++)
      strides_[i] = times(name_, t.strides[i], static_cast<std::ptrdiff_t>(itemsize_));
    return true;
  };
  if (!take(object)) return false;
  if (!type->waits(object, type_ == number::complex64)) return true;
  resolved_ = resolved(object, written);
  return tensor_type::of(resolved_) == type && take(resolved_);
}

/// A tensor, by its methods: its __cuda_array_interface__ is a dictionary that takes microseconds to make.
void argument::take_torch(nb::handle object, bool written) {
  static const word dtype("dtype"), get_device("get_device"), data_ptr("data_ptr"), shape("shape"),
      stride("stride"), itemsize("itemsize"), is_conj("is_conj"), is_neg("is_neg");
  struct known {
    PyObject* type;
    std::string name;
    number n;
    std::size_t bytes;
  };
  static std::vector<known> types;  // few, and they live as long as torch
  if (has(object, "is_conj") &&
      (is_conj.call(object).ptr() == Py_True || is_neg.call(object).ptr() == Py_True))
    object = resolved_ = resolved(object, written);
  nb::object type = dtype.of(object);
  auto found = std::find_if(types.begin(), types.end(), [&](const known& k) { return k.type == type.ptr(); });
  if (found == types.end()) {
    std::string name = nb::cast<std::string>(nb::str(type));  // "torch.float32"
    name = name.substr(name.rfind('.') + 1);
    types.push_back(
        {type.inc_ref().ptr(), name, number_named(name), nb::cast<std::size_t>(itemsize.of(object))});
    found = types.end() - 1;
  }
  type_ = found->n;
  itemsize_ = found->bytes;
  if (type_ == number::other) other_ = found->name;
  device_ = nb::cast<int>(get_device.call(object));
  data_ = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data_ptr.call(object)));
  take_shape(shape.of(object));
  get_strides(name_, stride.call(object), itemsize_, {strides_.data(), static_cast<std::size_t>(axes_)});
}

/// An array of CuPy whose current stream is the one that is worked on, by its attributes, as a tensor.
bool argument::take_cupy(nb::handle object) {
  static const word data("data"), ptr("ptr"), device_id("device_id"), dtype("dtype"), shape("shape"),
      strides("strides");
  struct known {
    nb::handle dtype;
    number n;
  };
  static std::array<known, 8> types;
  static nb::handle cupy, current_stream;  // the type, and the function; they live as long as CuPy
  if (where_.device() < 0) return false;
  const nb::handle type = object.type();
  if (!cupy.is_valid()) {
    if (class_of(object) != "ndarray" || nb::cast<std::string>(nb::str(type.attr("__module__"))) != "cupy")
      return false;
    static constexpr const char* names[] = {"float16", "float32", "complex64", "uint8",
                                            "bool",    "int8",    "int16",     "int32"};
    const nb::object make = nb::module_::import_("numpy").attr("dtype");
    for (std::size_t i = 0; i < types.size(); i++)  // of each there is one object in native byte order
      types[i] = {make(names[i]).release(), number_named(names[i])};
    current_stream =
        nb::object(nb::module_::import_("cupy").attr("cuda").attr("get_current_stream")).release();
    cupy = type.inc_ref();
  }
  if (!type.is(cupy)) return false;
  const nb::object dtype_of_object = dtype.of(object);
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const known& k) { return k.dtype.is(dtype_of_object); });
  if (found == types.end()) return false;  // it is refused by its name
  const auto stream =
      nb::cast<std::uintptr_t>(ptr.of(word::checked(PyObject_CallNoArgs(current_stream.ptr()))));
  if ((stream == 0 ? 1 : stream) != where_.stream()) return false;  // which is waited for
  const nb::object memory = data.of(object);
  data_ = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(ptr.of(memory)));
  device_ = data_ == nullptr ? where_.device() : nb::cast<int>(device_id.of(memory));
  type_ = found->n;
  itemsize_ = size_of(type_);
  take_shape(shape.of(object));
  get_strides(name_, strides.of(object), 1, {strides_.data(), static_cast<std::size_t>(axes_)});
  return true;
}

void argument::take_cuda(nb::handle object, bool written) {
  const nb::dict about = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
  const nb::tuple data = nb::cast<nb::tuple>(about["data"]);
  if (data.size() != 2)
    throw shape_error(name_, std::to_string(data.size()) + " parts of its data",
                      "an address and whether it is read-only");
  if (about.contains("mask") && !about["mask"].is_none())
    throw shape_error(name_, "a masked array", "one without a mask");
  if (written && nb::cast<bool>(data[1])) throw shape_error(name_, "a read-only array", "one to write to");
  take_shape(about["shape"]);
  const std::string type = nb::cast<std::string>(about["typestr"]);
  data_ = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0]));
  device_ = data_ == nullptr ? where_.device() : std::max(0, cuda_device_of(data_));
  // Work that was queued on another stream comes first (version 3 of the interface).
  if (device_ >= 0 && device_ == where_.device() && about.contains("stream") && !about["stream"].is_none())
    if (const auto other = nb::cast<std::uintptr_t>(about["stream"]); other != where_.stream()) {
      cuda_event before(device_);
      before.record(reinterpret_cast<void*>(other));
      before.hold(reinterpret_cast<void*>(where_.stream()));
    }
  itemsize_ = static_cast<std::size_t>(std::stoul(type.substr(2)));
  type_ = number_of_typestr(type);
  if (type_ == number::other) other_ = type;
  const auto axes = static_cast<std::size_t>(axes_);
  if (about.contains("strides") && !about["strides"].is_none()) {
    get_strides(name_, about["strides"], 1, {strides_.data(), axes});
  } else {
    step_closely(name_, itemsize_, {shape_.data(), axes}, {strides_.data(), axes});
  }
}

argument::~argument() {
  latest_ = before_;
  if (held_) PyBuffer_Release(&buffer_);
  try {
    if (capsule_.is_valid()) where_.hold(std::move(capsule_));
  } catch (const std::exception&) {  // the device failed: nothing of it runs any more
  }
}

void argument::check(number wanted, int trailing, std::size_t alignment) const {
  if (type_ != wanted) {
    const char* name = name_of(wanted);
    if (type_ == number::uint8 && (std::strcmp(name_, "llr") == 0 || std::strcmp(name_, "prior") == 0) &&
        !written_)
      throw shape_error(name_, "an array of uint8",
                        std::string("LLRs of ") + name + ": hard bits b become LLRs as 1 - 2 b, where " +
                            "positive means 0, by 1 - 2 * " + name_ + ".astype(\"" + name + "\")");
    throw shape_error(name_, "an array of " + (type_ == number::other ? other_ : std::string(name_of(type_))),
                      std::string("one of ") + name + (wanted == number::uint8 ? " or bool" : "") + ", as " +
                          name_ + ".astype(\"" + name + "\") gives");
  }
  if (axes_ < trailing)
    throw shape_error(name_, "shape " + text_of(batch(0)), "at least " + std::to_string(trailing) + " axes");
  if (reinterpret_cast<std::uintptr_t>(data_) % alignment != 0)
    throw shape_error(name_, "an array at an odd address",
                      "one aligned to " + std::to_string(alignment) + " bytes");
}

llr_batch argument::llrs(int trailing, double scale) const {
  const auto factor = static_cast<float>(scale);
  if (type_ == number::int8) return {as<const std::int8_t>(trailing), factor};
  if (type_ == number::int16) return {as<const std::int16_t>(trailing), factor};
  const auto floats = as<const float>(trailing);
  if (scale != 1)
    throw argument_error("llr_scale", std::to_string(scale),
                         "1 with LLRs of float32, to which all types but int8 and int16 are converted");
  return floats;
}

view<const half_complex> argument::as_halves(int trailing) const {
  if (!given_) return {};
  if (type_ != number::float16)
    throw shape_error(name_, "an array of " + (type_ == number::other ? other_ : std::string(name_of(type_))),
                      "one of float16, its last axis of real and imaginary part");
  check(number::float16, trailing + 1, alignof(half_complex));
  const int last = axes_ - 1;
  const auto unit = static_cast<std::ptrdiff_t>(itemsize_);
  if (extent(last) != 2)
    throw shape_error(name_, "shape " + text_of(batch(0)),
                      "a last axis of 2, real and imaginary part, as of float16");
  if (strides_[static_cast<std::size_t>(last)] != unit)
    throw shape_error(
        name_,
        "a last axis with steps of " + std::to_string(strides_[static_cast<std::size_t>(last)]) + " bytes",
        "real and imaginary part side by side");
  const run outer = merged(0, last - trailing, 2), inner = merged(last - trailing, last, 2);
  return {static_cast<const half_complex*>(data_), inner.count, outer.count, inner.stride, outer.stride};
}

argument::run argument::merged(int first, int last, std::size_t together) const {
  run r;
  std::ptrdiff_t step = 0;
  bool any = false;
  for (int a = last; a-- > first;) {
    const std::ptrdiff_t n = extent(a), stride = strides_[static_cast<std::size_t>(a)];
    if (n == 0) return {0, 1};
    if (n == 1) continue;
    std::ptrdiff_t next = 0;  // where one pace goes on
    if (any &&
        (__builtin_mul_overflow(step, static_cast<std::ptrdiff_t>(r.count), &next) || stride != next)) {
      r.count = 0;
      break;
    }
    if (!any) step = stride;
    any = true;
    r.count *= static_cast<std::size_t>(n);
  }
  const auto unit = static_cast<std::ptrdiff_t>(itemsize_ * together);
  if (r.count == 0 || step < 0 || step % unit != 0)
    throw shape_error(
        name_,
        "an array with strides " + text_of({strides_.data(), static_cast<std::size_t>(axes_)}) + " of bytes",
        "axes of the batch, and axes of an item, that are each stepped through in one pace, as in numpy."
        "ascontiguousarray(" +
            std::string(name_) + ")");
  r.stride = static_cast<std::size_t>(any ? step / unit : 1);
  return r;
}

view<const std::uint8_t> argument::only_bits(view<const std::uint8_t> v) const {
  if (device_ >= 0) return v;
  const bool together = v.element_stride == 1 && v.item_stride == v.elements;
  const std::size_t rows = together ? 1 : v.items, length = together ? v.items * v.elements : v.elements;
  for (std::size_t r = 0; r < rows; r++) {
    const std::uint8_t* row = v.data + r * v.item_stride;
    std::uint64_t seen = 0;
    std::size_t i = 0;
    if (v.element_stride == 1)  // eight at once
      for (std::uint64_t eight; i + sizeof eight <= length; i += sizeof eight) {
        std::memcpy(&eight, row + i, sizeof eight);
        seen |= eight;
      }
    for (; i < length; i++) seen |= row[i * v.element_stride];
    if ((seen & ~std::uint64_t{0x0101010101010101}) == 0) continue;
    for (i = 0; row[i * v.element_stride] <= 1;) i++;
    throw shape_error(name_, "an array with " + std::to_string(row[i * v.element_stride]), "0 and 1");
  }
  return v;
}

void argument::not_a_multiple(std::size_t count, std::size_t elements) const {
  throw shape_error(name_, std::to_string(count) + " values", "a multiple of " + std::to_string(elements));
}

std::size_t argument::items_sharing(int trailing, std::span<const std::ptrdiff_t> whole) const {
  auto first = batch(trailing);
  const auto leads = [&] {
    return first.size() <= whole.size() && std::equal(first.begin(), first.end(), whole.begin());
  };
  if (!leads()) {  // axes of extent 1 at the end are shared as NumPy broadcasts them
    const bool broadcast =
        first.size() == whole.size() || (first.size() < whole.size() && product(first) == 1);
    while (broadcast && !first.empty() && first.back() == 1) first = first.first(first.size() - 1);
  }
  if (!leads())
    throw shape_error(name_, "shape " + text_of(batch(0)),
                      "batch axes that are the first of " + text_of(whole) + ", or 1 where they are shared");
  return product(whole.subspan(first.size()));
}

void argument::expect_item(std::initializer_list<std::size_t> extents) const {
  if (!given_) return;
  const int n = static_cast<int>(extents.size());
  bool same = axes_ >= n;
  int a = axes_ - n;
  for (const std::size_t e : extents) same = same && extent(a++) == static_cast<std::ptrdiff_t>(e);
  if (same) return;
  std::string wanted;
  for (const std::size_t e : extents) wanted += ", " + std::to_string(e);
  throw shape_error(name_, "shape " + text_of(batch(0)), "shape (..." + wanted + ")");
}

void argument::expect_batch(int trailing, std::span<const std::ptrdiff_t> whole) const {
  if (!given_) return;
  if (axes_ < trailing ||
      !std::equal(batch(trailing).begin(), batch(trailing).end(), whole.begin(), whole.end()))
    throw shape_error(name_, "shape " + text_of(batch(0)), "batch axes " + text_of(whole));
}

/// A real number of any type: of Python, of a class with __float__, a scalar of NumPy or an array of it
/// without axes, of any type.
static bool is_number(nb::handle object) {
  if (PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr())) return true;
  if (!has(object, "__float__") && !has(object, "__index__")) return false;
  if (!has(object, "shape")) return true;
  if (PyObject_CheckBuffer(object.ptr()) == 0 || PyObject_Size(nb::object(object.attr("shape")).ptr()) != 0 ||
      !has(object, "dtype"))
    return false;
  const nb::object dtype = object.attr("dtype");
  return has(dtype, "kind") && nb::cast<std::string>(nb::str(dtype.attr("kind"))).find_first_of("fiu") == 0;
}

void check_noise(double noise_var, bool may_be_zero) {
  if (noise_var < 0 || (noise_var == 0 && !may_be_zero))
    throw argument_error("noise_var", plain(noise_var),
                         std::string("a power ") + (may_be_zero ? "of 0 or more" : "above 0") +
                             ", not in dB: 10 ** (dB / 10)");
}

double noise_number(nb::handle object, bool may_be_zero) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    if (PyLong_Check(object.ptr()) != 0)
      throw argument_error("noise_var", "an integer beyond float64", "a number that float64 holds");
    throw nb::type_error(("noise_var is a " + class_of(object) + ": expected a number or an array").c_str());
  }
  check_noise(value, may_be_zero);
  return value;
}

noise_argument::noise_argument(nb::handle object, executor_ref& where, bool may_be_zero)
    : array_("noise_var", is_number(object) ? nb::none() : object, where, false, false,
             "a number or an array") {
  if (array_) {
    shared_ = array_.axes() == 0;
    return;
  }
  if (object.is_none()) throw nb::type_error("noise_var is None: expected a number or an array of float32");
  const double value = noise_number(object, may_be_zero);
  value_ = static_cast<float>(value);
  number_ = where.device() < 0 ? &value_ : where.constant(value_);
}

view<const float> noise_argument::of(std::span<const std::ptrdiff_t> batch) const {
  const std::size_t items = product(batch);
  if (!array_) return {number_, 1, items, 1, 0};
  view<const float> v = array_.as<const float>(0);
  if (shared_) return {v.data, 1, items, 1, 0};
  array_.expect_batch(0, batch);
  return v;
}

void bind_arrays(nb::module_& m) {
  // What a call makes of an array: address, elements, items and both strides. Tests see by it that nothing is
  // copied.
  m.def(
      "view_of",
      [](nb::handle array, int trailing, executor_ref& where) {
        const argument a("array", array, where);
        const auto tuple = [](const auto& v) {
          return nb::make_tuple(reinterpret_cast<std::uintptr_t>(v.data), v.elements, v.items,
                                v.element_stride, v.item_stride);
        };
        switch (a.type()) {
          case number::complex64:
            return tuple(a.as<const std::complex<float>>(trailing));
          case number::uint8:
            return tuple(a.as<const std::uint8_t>(trailing));
          case number::int8:
            return tuple(a.as<const std::int8_t>(trailing));
          case number::float16:
            return tuple(a.as_halves(trailing));
          default:
            return tuple(a.as<const float>(trailing));
        }
      },
      nb::arg("array"), nb::arg("trailing"), nb::arg("executor"));
}

}  // namespace wb::python
