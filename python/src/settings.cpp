#include "settings.hpp"

#include <complex>
#include <optional>

#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>

#include <warpband/core/numbers_or_file.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/link/config/renamed.hpp>

namespace wb::python {
namespace {

/// The type of a choice: Literal["none", "crc"].
std::string literal(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "\"" : ", \"") + word + "\"";
  return "Literal[" + list + "]";
}

std::string annotation(const std::string& kind, const std::vector<std::string>& words, bool takes_bool) {
  if (kind == "boolean") return "bool";
  if (kind == "integer") return words.empty() ? "int" : "int | " + literal(words);
  if (kind == "number") return words.empty() ? "float" : "float | " + literal(words);
  if (kind == "list of integers") return "Sequence[int]";
  if (kind == "list of numbers") return "Sequence[float]";
  if (kind == numbers_or_file_kind) return "Sequence[float] | str";
  if (kind == "list of text") return "Sequence[str]";
  if (kind == "list of pairs of numbers") return "Sequence[complex]";
  if (kind == "list of rows of integers") return "Sequence[Sequence[int]]";
  const std::string type = kind == "word" && !words.empty() ? literal(words) : "str";
  return takes_bool ? type + " | bool" : type;
}

/// A value in a message: one line that is not long.
std::string shown(nb::handle object) {
  const nb::object repr = nb::steal(PyObject_Repr(object.ptr()));
  PyErr_Clear();
  std::string text;  // none of a class whose __repr__ fails, or of lists that are nested too deep
  if (!repr.is_valid() || !nb::try_cast(repr, text))
    text = "a " + nb::cast<std::string>(object.type().attr("__name__"));
  return text.size() <= 80 ? printable(text) : printable(text, 77);
}

/// True and False, also NumPy's.
bool is_boolean(nb::handle object) {
  return PyBool_Check(object.ptr()) ||
         nb::cast<std::string>(object.type().attr("__name__")).starts_with("bool");
}
std::optional<std::int64_t> integer_of(nb::handle object) {
  if (PyIndex_Check(object.ptr()) == 0) return std::nullopt;
  const nb::object integer = nb::steal(PyNumber_Index(object.ptr()));
  int beyond = 0;
  const long long value = integer.is_valid() ? PyLong_AsLongLongAndOverflow(integer.ptr(), &beyond) : 0;
  PyErr_Clear();
  return integer.is_valid() && beyond == 0 ? std::optional<std::int64_t>(value) : std::nullopt;
}
/// Of lists, in which 0 and 1 may be said as False and True.
std::optional<std::int64_t> entry_of(nb::handle object) {
  return is_boolean(object) ? std::optional<std::int64_t>(PyObject_IsTrue(object.ptr())) : integer_of(object);
}
/// What a call of C gave; nothing where it failed.
template <class T>
std::optional<T> unless_failed(T value) {
  const bool failed = PyErr_Occurred() != nullptr;
  PyErr_Clear();
  return failed ? std::nullopt : std::optional(std::move(value));
}
std::optional<double> real_of(nb::handle object) {
  if (PyLong_Check(object.ptr()) != 0 && !integer_of(object)) return std::nullopt;  // too large to be shown
  return unless_failed(PyFloat_AsDouble(object.ptr()));
}
std::optional<std::complex<double>> complex_of(nb::handle object) {
  if (PyUnicode_Check(object.ptr()) != 0) return std::nullopt;  // complex() reads texts
  const nb::object value = nb::steal(
      PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyComplex_Type), object.ptr(), nullptr));
  if (!value.is_valid()) PyErr_Clear();
  return value.is_valid() ? std::optional(std::complex(PyComplex_RealAsDouble(value.ptr()),
                                                       PyComplex_ImagAsDouble(value.ptr())))
                          : std::nullopt;
}
std::optional<std::string> text_in(nb::handle object) {
  std::string text;  // none where UTF-8 has no such characters: halves of them
  return PyUnicode_Check(object.ptr()) != 0 && nb::try_cast(object, text) ? std::optional(text)
                                                                          : std::nullopt;
}

/// The entries of a list, each as one type.
template <class T, class Read>
std::vector<T> listed(const nb::list& list, const argument_error& refused, Read read) {
  std::vector<T> entries;
  for (nb::handle item : list) {
    const std::optional<T> entry = read(item);
    if (!entry) throw refused;
    entries.push_back(*entry);
  }
  return entries;
}

}  // namespace

nb::object as_object(const setting_value& value) {
  return std::visit(
      [](const auto& x) -> nb::object {
        using type = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<type, no_value>) {
          return nb::none();
        } else if constexpr (std::is_arithmetic_v<type> || std::is_same_v<type, std::string>) {
          return nb::cast(x);
        } else {
          nb::list list;
          for (const auto& entry : x) list.append(entry);
          return nb::tuple(list);
        }
      },
      value);
}

bool is_nothing(nb::handle object) {
  if (object.is_none()) return true;
  const Py_ssize_t entries = PyUnicode_Check(object.ptr()) != 0 ? -1 : PyObject_Size(object.ptr());
  PyErr_Clear();
  return entries == 0;
}

setting_value as_value(nb::handle object, const std::string& name, const std::string& kind,
                       const std::string& allowed) {
  const bool boolean = kind == "boolean";
  const argument_error refused(name, shown(object), boolean ? "True or False" : allowed);
  if (!boolean && PyUnicode_Check(object.ptr())) {
    if (const auto text = text_in(object)) return *text;
    throw refused;
  }
  if (kind.starts_with("list")) {
    const nb::object entries = nb::steal(PySequence_List(object.ptr()));
    PyErr_Clear();
    if (!entries.is_valid()) throw refused;
    const auto list = nb::borrow<nb::list>(entries);
    if (kind == "list of text") return listed<std::string>(list, refused, text_in);
    if (kind == "list of numbers" || kind == numbers_or_file_kind)
      return listed<double>(list, refused, real_of);
    if (kind == "list of pairs of numbers") return listed<std::complex<double>>(list, refused, complex_of);
    return listed<std::int64_t>(list, refused, entry_of);
  }
  if (is_boolean(object)) return PyObject_IsTrue(object.ptr()) == 1;
  if (boolean) throw refused;
  if (const auto integer = integer_of(object)) return *integer;
  if (const auto number = real_of(object)) return *number;
  throw refused;
}

void add_renamed(nb::module_& m) {
  nb::list rows;
  for (const config::renamed& r : config::renamed_settings()) {
    const auto [before, today] = r.keywords();
    if (before.empty()) continue;
    nb::list words;
    for (const auto& [old, word] : r.values) words.append(nb::make_tuple(as_object(old), as_object(word)));
    rows.append(nb::make_tuple(before, today, words));
  }
  m.attr("renamed") = rows;
}

void add_keyword(nb::module_& m, const char* of_class, const std::string& name, const std::string& kind,
                 const std::vector<std::string>& words, bool takes_bool, nb::object initial,
                 const std::string& allowed, const std::string& text) {
  if (!nb::hasattr(m, "keywords")) m.attr("keywords") = nb::dict();
  nb::dict keywords = nb::cast<nb::dict>(m.attr("keywords"));
  if (!keywords.contains(of_class)) keywords[of_class] = nb::list();
  nb::cast<nb::list>(keywords[of_class])
      .append(nb::make_tuple(
          name, annotation(kind, words, takes_bool) + (initial.is(nb::ellipsis()) ? "" : " | None"), initial,
          kind == "boolean" ? "True or False" : allowed, text));
}

}  // namespace wb::python
