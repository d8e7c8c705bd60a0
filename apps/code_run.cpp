#include "code_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <warpband/core/error.hpp>
#include <warpband/link/config/renamed.hpp>
#include <warpband/link/result.hpp>

#include "setting_options.hpp"

#if WARPBAND_HDF5

namespace {

/// Names of a setting's attributes: a list whose parts have names has one for each of them.
std::vector<std::string> attributes_of(const wb::setting_of<wb::box>& s) {
  if (!s.kind.starts_with("list") || s.words.empty()) return {s.name};
  std::vector<std::string> names;
  for (const std::string& part : s.words) names.push_back(s.name + "_" + part);
  return names;
}

}  // namespace

code_run::code_run(const code_options& options, const char* array, bool decodes)
    : array_run(options, "blocks"), options_(options), array_(array), decodes_(decodes) {
  settings_ = options.settings;
  settle_type();
  settle_settings();
  check_meanings();
  if (decodes)
    settle_llrs();
  else
    shape_ = file().expect<std::uint8_t>(array, 2);
  wb::code_config config = configured();
  settle_sizes(config);
  try {
    config_ = wb::completed(config);
    code_ = wb::make_codec(config_);
  } catch (const wb::argument_error& e) {
    refuse(e);
  }
  if (const std::string text = held("n"); !text.empty() && text != std::to_string(code_->n()))
    throw wb::file_error(options_.in,
                         fmt::format("says that n = {}, but {} has {} values a row, for which n = {}", text,
                                     array_, shape_[1], code_->n()));
  items_ = shape_[0];
  item_bits_ = code_->k();
  open();
}

void code_run::refuse(const wb::argument_error& e) const {
  if (e.argument() == "early_stop" && e.value() == "\"crc\"")  // in the words of this command
    throw usage_error("--early-stop = crc is not allowed: expected --crc crc24a or --crc crc24b with it");
  std::vector<std::string> given = options_.options;
  if (settings_.contains("precision")) given.push_back("--algorithm");  // which may not allow its default
  const std::string setting = e.argument() == "f1, f2" ? "interleaver" : e.argument();
  refuse_option({setting, e.value(), e.allowed()}, given);
  if (e.argument() != "k" || options_.settings.contains("k")) throw wb::argument_error(e);
  wrong_shape(array_, fmt::format("a k of the code, but {}", e.what()));
}

std::size_t code_run::piece_of(std::size_t item) const {
  return piece({.arrays = {array_},
                .item = item + code_->working_bytes(),
                .thread = code_->thread_bytes(decodes_) + mebibyte / 4});
}

wb::hdf5_attributes code_run::attributes() const {
  wb::hdf5_attributes a;
  a["code"] = config_.type;
  a["k"] = static_cast<std::int64_t>(code_->k());
  a["n"] = static_cast<std::int64_t>(code_->n());
  a["warpband_version"] = wb::version();
  a["warpband_commit"] = wb::commit();
  for (const auto& [setting, value] : wb::values_of(kind_->settings, config_.settings)) {
    if (setting->group != "code" || setting->name == "crc") continue;
    const std::vector<std::string> names = attributes_of(*setting);
    const auto* parts = std::get_if<std::vector<std::int64_t>>(&value);
    if (names.size() == 1)
      set_attribute(a, setting->name, value);
    else if (parts != nullptr && parts->size() == names.size())
      for (std::size_t i = 0; i < names.size(); i++) a[names[i]] = (*parts)[i];
  }
  return a;
}

void code_run::add_decoder(wb::hdf5_attributes& a) const {
  a["crc"] = wb::crc_name(wb::crc_of(config_));
  for (const auto& [setting, value] : wb::values_of(kind_->settings, config_.settings))
    if (setting->group == "decoder" && setting->of_links) set_attribute(a, setting->name, value);
}

void code_run::report_code(const char* command, clock::time_point start, const nlohmann::ordered_json& extra,
                           const std::string& text) const {
  nlohmann::ordered_json record = record_of(command);
  record["code"] = config_.type;
  record["k"] = code_->k();
  record["n"] = code_->n();
  record["items"] = items();
  record.update(extra);
  report(record, start, fmt::format("of k = {}, {}", code_->k(), text));
}

void code_run::settle_llrs() {
  const std::string type = file().describe(array_).type;
  if (type != "int8" && type != "int16") {
    shape_ = file().expect<float>(array_, 2);
    if (options_.llr_scale) throw usage_error("--llr-scale has no meaning with LLRs of float32");
    return;
  }
  format_ = type == "int8" ? wb::llr_format::int8 : wb::llr_format::int16;
  shape_ = type == "int8" ? file().expect<std::int8_t>(array_, 2) : file().expect<std::int16_t>(array_, 2);
  if (options_.llr_scale) {
    scale_ = static_cast<float>(*options_.llr_scale);
  } else if (const auto steps = file().attribute("", "llr_steps")) {
    double number = 0;
    if (const auto* x = std::get_if<double>(&*steps)) number = *x;
    if (const auto* x = std::get_if<std::int64_t>(&*steps)) number = static_cast<double>(*x);
    scale_ = static_cast<float>(1 / number);
    if (!(scale_ > 0) || !std::isfinite(scale_))
      throw wb::file_error(
          options_.in,
          fmt::format("its attribute llr_steps is \"{}\": expected a number above 0", held("llr_steps")));
  }
}

void code_run::settle_type() {
  const std::string text = held("code");
  const std::vector<std::string> names = code_names();
  if (options_.code.empty() && text.empty())
    throw usage_error("a code is missing: --code " + wb::among(names) + " (" + options_.in + " names none)");
  std::string given = options_.code;
  if (is_matrix_file(given)) {
    if (settings_.contains("base_matrix"))
      throw usage_error("--base-matrix has no meaning with --code " + given);
    settings_["base_matrix"] = given;
    given = "qc-ldpc";
  }
  if (!given.empty() && !text.empty() && given != text)
    throw wb::file_error(options_.in, "is of code " + text + ", not " + given);
  const std::string name = given.empty() ? text : given;
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw wb::file_error(options_.in, "is of code \"" + name + "\": expected " + wb::among(names));
  kind_ = &wb::codes().get(name);
}

void code_run::check_meanings() const {
  const auto kept = [&](const std::string& name, const wb::setting_value& value) {
    return wb::as_kept(*kind_, *wb::find_setting(kind_->settings, name), value);
  };
  wb::setting_values valid;
  for (const auto& [name, value] : settings_) try {
      if (wb::find_setting(kind_->settings, name) != nullptr) valid[name] = kept(name, value);
    } catch (const wb::argument_error&) {  // refused below, with what it has no meaning with
    }
  const wb::box chosen = wb::code_config(kind_->name, valid).settings;
  for (const auto& [name, value] : settings_) {
    const std::string option = option_of(name);
    if (std::find(options_.options.begin(), options_.options.end(), option) == options_.options.end())
      continue;
    const auto* s = wb::find_setting(kind_->settings, name);
    const auto idle = s == nullptr ? std::optional(std::pair(std::string("type"), kind_->name))
                                   : wb::idle_because(kind_->settings, *s, chosen);
    if (idle)
      throw usage_error(
          fmt::format("{} has no meaning with {} {}", option, option_of(idle->first), idle->second));
    try {
      (void)kept(name, value);
    } catch (const wb::argument_error& e) {
      throw usage_error(fmt::format("{} {} has no meaning with --code {}: expected {}", option,
                                    wb::plain(value), kind_->name, e.allowed()));
    }
  }
  const std::string without = kind_->without_soft ? kind_->without_soft(chosen) : "";
  if (!options_.soft || without.empty()) return;
  std::string others;
  if (const auto* s = wb::find_setting(kind_->settings, "algorithm"); s != nullptr && kind_->make_soft)
    for (const std::string& word : s->words)
      if (word != wb::plain(s->get(chosen)))
        others += (others.empty() ? ": add --algorithm " : " or ") + word;
  throw usage_error("--soft: " + without + " has no soft output" + others);
}

std::string code_run::said_of(const wb::setting_of<wb::box>& s) const {
  std::vector<std::string> parts;
  for (const std::string& name : attributes_of(s)) parts.push_back(held(name));
  const bool any = std::any_of(parts.begin(), parts.end(), [](const auto& part) { return !part.empty(); });
  return any ? fmt::format("{}", fmt::join(parts, ",")) : "";
}

void code_run::settle_settings() {
  for (const auto& s : kind_->settings) {
    if (s.group != "code" || s.name == "k" || s.name == "crc") continue;
    const std::string text = said_of(s);
    if (text.empty()) continue;
    try {
      const wb::setting_value kept =
          wb::as_kept(*kind_, s, wb::config::value_today("code." + s.name, wb::from_text(s.kind, text)));
      if (const auto given = settings_.find(s.name);
          given != settings_.end() && wb::as_kept(*kind_, s, given->second) != kept)
        throw wb::file_error(options_.in,
                             fmt::format("is of {} {}, not {}", s.name, text, wb::plain(given->second)));
      settings_[s.name] = kept;
    } catch (const wb::argument_error& e) {
      throw wb::file_error(options_.in,
                           fmt::format("its attribute {} is \"{}\": expected {}", s.name, text, e.allowed()));
    }
  }
}

wb::code_config code_run::configured() const {
  try {
    return wb::code_config(kind_->name, settings_);
  } catch (const wb::argument_error& e) {
    refuse_option(e, options_.options);
    throw wb::argument_error(option_of(e.argument()), e.value(), e.allowed());
  }
}

void code_run::settle_sizes(wb::code_config& config) const {
  wb::code_rows rows{.decodes = decodes_, .values = shape_[1], .given = settings_};
  const std::string text = held("k");
  if (!text.empty()) rows.k = static_cast<int>(std::strtol(text.c_str(), nullptr, 10));
  try {
    config = wb::fit_to_rows(std::move(config), rows);
  } catch (const wb::argument_error& e) {
    if (e.argument() == "rows") wrong_shape(array_, e.allowed());
    if (!e.value().empty()) throw;
    throw usage_error(fmt::format("{} is missing: {}{}", option_of(e.argument()), e.allowed(),
                                  decodes_ ? " (" + options_.in + " names none)" : ""));
  }
  if (!text.empty() && text != std::to_string(wb::sizes_of(config).k))
    throw wb::file_error(options_.in, fmt::format("says that it holds k = {}, but {} is {} values a row",
                                                  text, array_, shape_[1]));
}

#endif
