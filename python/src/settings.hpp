#pragma once
// Settings of the library (core/setting.hpp) as keywords of Python. `_core.keywords` lists those of every
// class: signatures, docstrings, attributes and stubs are made of it (warpband/_described.py).
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <warpband/core/setting.hpp>

namespace wb::python {

namespace nb = nanobind;

nb::object as_object(const setting_value& value);
/// None, and a list without entries.
bool is_nothing(nb::handle object);
/// Throws argument_error, in the setting's name, for an object that is no value of any setting.
setting_value as_value(nb::handle object, const std::string& name, const std::string& kind,
                       const std::string& allowed);
/// Writes down `_core.renamed`: keywords and words of values with their names of today (config/renamed.hpp).
void add_renamed(nb::module_& m);
/// Writes down one keyword of a class. Without a default it must be given.
void add_keyword(nb::module_& m, const char* of_class, const std::string& name, const std::string& kind,
                 const std::vector<std::string>& words, bool takes_bool, nb::object initial,
                 const std::string& allowed, const std::string& text);

/// What stands for leaving a setting out; nothing where no value does.
template <class C>
setting_value initial_value(const setting_of<C>& s, const C& initial) {
  return s.open ? setting_value() : s.get(initial);
}

/// Writes down the settings of a class, with the defaults of `initial`.
template <class C>
void add_keywords(nb::module_& m, const char* of_class, const std::vector<setting_of<C>>& settings,
                  const C& initial = {}, const std::vector<std::string>& required = {}) {
  for (const setting_of<C>& s : settings) {
    bool takes_bool = true;
    try {
      C copy = initial;
      s.set(copy, true);
    } catch (const argument_error&) {
      takes_bool = false;
    }
    const bool must = find_word(required, s.name).has_value();
    add_keyword(m, of_class, s.name, s.kind, s.words, takes_bool,
                must ? nb::object(nb::ellipsis()) : as_object(initial_value(s, initial)), s.allowed,
                s.full_text());
  }
}

/// The configuration with the settings that were given; None, and of lists an empty one, stand for leaving
/// out those that no value stands for. Throws argument_error.
template <class C>
C with_settings(const std::vector<setting_of<C>>& settings, const nb::dict& given, C c = {}) {
  for (const setting_of<C>& s : settings) {
    if (!given.contains(s.name.c_str())) continue;
    const nb::object object = given[s.name.c_str()];
    const bool nothing = s.kind.starts_with("list") ? is_nothing(object) : object.is_none();
    if (nothing && std::holds_alternative<no_value>(initial_value(s, c))) continue;
    s.set(c, as_value(object, s.name, s.kind, s.allowed));
  }
  return c;
}

/// The values in force, by name.
template <class C>
nb::dict settings_in(const std::vector<setting_of<C>>& settings, const C& c) {
  nb::dict values;
  for (const setting_of<C>& s : settings) values[s.name.c_str()] = as_object(s.get(c));
  return values;
}

/// A standard's profile of a delay line by name, or one's own delays: what would be ignored is refused.
template <class Choice>
void check_profile(const Choice& c, const nb::dict& given, bool scaled) {
  const bool custom = !c.delays_ns.empty();
  const auto refuse = [&](const char* name, const std::string& value, const std::string& allowed) {
    if (given.contains(name)) throw argument_error(name, value, allowed);
  };
  if (custom) refuse("profile", "\"" + c.name + "\"", "none with delays_ns");
  if (custom || !scaled)
    refuse("delay_spread_ns", "given",
           custom ? "none with delays_ns" : "none with profile = \"" + c.name + "\"");
}
/// The settings of a delay line in force: a profile and a delay spread only where they have a meaning.
template <class Choice>
nb::dict with_profile(const Choice& c, bool scaled, nb::dict values) {
  if (!c.delays_ns.empty()) values["profile"] = nb::none();
  if (!c.delays_ns.empty() || !scaled) values["delay_spread_ns"] = nb::none();
  return values;
}

/// The lists of two members of a struct, as one.
template <class Outer, class A, class B, class First, class Second>
std::vector<setting_of<Outer>> joined(A first, const std::vector<setting_of<First>>& one, B second,
                                      const std::vector<setting_of<Second>>& two) {
  std::vector<setting_of<Outer>> settings = within<Outer>(first, one);
  for (setting_of<Outer>& s : within<Outer>(second, two)) settings.push_back(std::move(s));
  return settings;
}

/// Those of a list but some.
template <class C>
std::vector<setting_of<C>> without(const std::vector<std::string>& names,
                                   std::vector<setting_of<C>> settings) {
  std::erase_if(settings, [&](const setting_of<C>& s) { return find_word(names, s.name).has_value(); });
  return settings;
}

/// The constructor of a class that is made of its settings alone, and `settings`, which gives them back.
template <class T, class Settings>
nb::class_<T> bind_settings(nb::class_<T> bound, Settings settings) {
  return bound
      .def(
          "__init__",
          [settings](T* self, const nb::dict& given) { new (self) T(with_settings(settings(), given)); },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings", [settings](const T& x) { return settings_in(settings(), x.config()); });
}

}  // namespace wb::python
