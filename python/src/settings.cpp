#include "settings.hpp"

#include <optional>

#include <nanobind/stl/string.h>

namespace wb::python {
namespace {

std::string annotation(const std::string& kind, bool takes_words, bool takes_bool) {
  if (kind == "boolean") return "bool";
  if (kind == "integer") return takes_words ? "int | str" : "int";
  if (kind == "number") return takes_words ? "float | str" : "float";
  if (kind == "list of integers") return "Sequence[int]";
  if (kind == "list of numbers") return "Sequence[float]";
  if (kind == "list of text") return "Sequence[str]";
  return takes_bool ? "str | bool" : "str";
}

/// A value in a message: one line that is not long.
std::string shown(nb::handle object) {
  const std::string text = nb::cast<std::string>(nb::repr(object));
  return text.size() <= 80 ? text : text.substr(0, 77) + "...";
}

/// A number of Python, NumPy or another library; nothing for what is none.
std::optional<setting_value> number_of(nb::handle object) {
  if (PyIndex_Check(object.ptr()) != 0) {
    if (PyObject* integer = PyNumber_Index(object.ptr())) {
      const nb::object held = nb::steal(integer);
      int beyond = 0;
      const long long value = PyLong_AsLongLongAndOverflow(integer, &beyond);
      if (beyond != 0) return std::nullopt;
      return setting_value(static_cast<std::int64_t>(value));
    }
    PyErr_Clear();
  }
  if (PyObject_HasAttrString(object.ptr(), "__float__") == 0) return std::nullopt;
  const double value = PyFloat_AsDouble(object.ptr());
  if (PyErr_Occurred() == nullptr) return setting_value(value);
  PyErr_Clear();
  return std::nullopt;
}

}  // namespace

nb::object as_object(const setting_value& value) {
  return std::visit(
      [](const auto& x) -> nb::object {
        using type = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<type, std::vector<std::int64_t>> ||
                      std::is_same_v<type, std::vector<std::string>>) {
          nb::list list;
          for (const auto& each : x) list.append(each);
          return nb::tuple(list);
        } else {
          return nb::cast(x);
        }
      },
      value);
}

setting_value as_value(nb::handle object, const std::string& name, const std::string& kind,
                       const std::string& allowed) {
  const argument_error refused(name, shown(object), allowed);
  if (PyUnicode_Check(object.ptr())) return nb::cast<std::string>(object);
  if (kind.starts_with("list")) {
    std::vector<std::int64_t> integers;
    std::vector<std::string> texts;
    const nb::object all = nb::steal(PySequence_List(object.ptr()));
    if (!all.is_valid()) {
      PyErr_Clear();
      throw refused;
    }
    for (nb::handle each : nb::borrow<nb::list>(all)) {
      const auto number = number_of(each);
      if (PyUnicode_Check(each.ptr()))
        texts.push_back(nb::cast<std::string>(each));
      else if (number && std::holds_alternative<std::int64_t>(*number))
        integers.push_back(std::get<std::int64_t>(*number));
      else
        throw refused;
    }
    if (!texts.empty() && !integers.empty()) throw refused;
    return texts.empty() ? setting_value(integers) : setting_value(texts);
  }
  if (PyBool_Check(object.ptr()) || nb::cast<std::string>(object.type().attr("__name__")).starts_with("bool"))
    return PyObject_IsTrue(object.ptr()) == 1;
  if (const auto number = number_of(object)) return *number;
  throw refused;
}

void add_keyword(nb::module_& m, const char* of_class, const std::string& name, const std::string& kind,
                 bool takes_words, bool takes_bool, nb::object initial, const std::string& allowed,
                 const std::string& text) {
  if (!nb::hasattr(m, "keywords")) m.attr("keywords") = nb::dict();
  nb::dict all = nb::cast<nb::dict>(m.attr("keywords"));
  if (!all.contains(of_class)) all[of_class] = nb::list();
  nb::cast<nb::list>(all[of_class])
      .append(nb::make_tuple(name, annotation(kind, takes_words, takes_bool), initial, allowed, text));
}

}  // namespace wb::python
