#include "setting_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <warpband/core/error.hpp>

std::string option_of_setting(std::string setting) {
  std::replace(setting.begin(), setting.end(), '_', '-');
  return "--" + setting;
}

void add_setting_option(CLI::App& app, const setting_option& s,
                        std::function<void(const wb::setting_value&, bool dry)> take) {
  const std::string name = option_of_setting(s.name);
  if (s.kind == "boolean") {
    app.add_flag_callback(name, [take] { take(true, false); }, s.text);
    return;
  }
  std::string type = s.kind == "integer" ? "N" : s.kind == "number" ? "X" : "LIST";
  if (s.kind == "word") type = fmt::format("NAME:{{{}}}", fmt::join(s.words, ","));
  app.add_option_function<std::string>(
         name, [=, kind = s.kind](const std::string& word) { take(wb::from_text(kind, word), false); },
         s.text + (s.initial.empty() ? "" : " Default: " + s.initial + ".") + " Allowed: " + s.allowed)
      ->type_name(type)
      ->check(CLI::Validator(
          [=, kind = s.kind](const std::string& word) {
            try {
              take(wb::from_text(kind, word), true);
              return std::string();
            } catch (const wb::argument_error& e) {
              return "\"" + word + "\" is not allowed: expected " + e.allowed();
            }
          },
          "", "setting"));
}

#if WARPBAND_HDF5
void set_attribute(wb::hdf5_attributes& attributes, const std::string& name, const wb::setting_value& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value))
    attributes[name] = *i;
  else if (const auto* x = std::get_if<double>(&value))
    attributes[name] = *x;
  else if (const auto* b = std::get_if<bool>(&value))
    attributes[name] = std::int64_t{*b};
  else
    attributes[name] = wb::plain(value);
}
#endif
