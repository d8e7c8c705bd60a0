#pragma once
// Settings described once. Beside a configuration struct stands the list of its settings: name, member, what
// is allowed, what it means. Everything that names settings reads that list: checks and their messages,
// scenario files and their page, results, options of the command, attributes of files.
//
// clang-format off
//   const std::vector<setting_of<my_config>>& my_settings() {
//     static const std::vector<setting_of<my_config>> all{
//         integer("iterations", &my_config::iterations, 1, 64, "Full iterations."),
//         words("schedule", &my_config::schedule, {{"layered", layered}, {"flooding", flooding}}, "Order."),
//         number("scale", &my_config::scale, 0.1, 1, "Factor.").only_with("schedule", {"layered"})};
//     return all;
//   }
// clang-format on
//
// A list is made once at run time. Its functions exchange `setting_value`, so that no reader or writer is a
// template.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <warpband/core/error.hpp>

namespace wb {

/// A setting's value in transit: from TOML, JSON, an option, an attribute to a member, and back.
using setting_value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                   std::vector<std::string>>;
/// Values by the names of their settings.
using setting_values = std::map<std::string, setting_value, std::less<>>;

/// As a message shows it: 3, 0.75, "log-map", [0, 2].
std::string as_message(const setting_value& value);
/// 0.7, not 0.699999988079071.
double as_written(float x);
inline double as_written(double x) { return x; }
inline std::string as_message(float x) { return as_message(setting_value(as_written(x))); }
/// As an option of the command writes it: 3, 0.75, log-map, 0,2.
std::string plain(const setting_value& value);
/// The value that the text of an option or an attribute stands for, of a setting of some kind: "integer",
/// "number", "list of text", ... Entries of lists are separated by commas. Text that is no such value stays
/// text.
setting_value from_text(const std::string& kind, std::string_view text);

/// Two words are the same whatever their case and their hyphens: "Max_Log-MAP" is "max-log-map".
bool same_word(std::string_view a, std::string_view b);
/// Whether a word is a part of another, with the same liberties.
bool is_part(std::string_view part, std::string_view word);
/// The word among `allowed` that `word` is; nothing where it is none.
std::optional<std::size_t> find_word(const std::vector<std::string>& allowed, std::string_view word);
/// "a", "b" or "c", in quotes.
std::string among(const std::vector<std::string>& words);

/// Another setting of the same struct, and the words of it with which this one has a meaning.
struct setting_condition {
  std::string setting;
  std::vector<std::string> words;
};

template <class C>
struct setting_of {
  std::string name;                // "iterations"
  std::string kind;                // "integer", "number", "word", "text", "boolean", "list of ..."
  std::string allowed;             // "an integer from 1 to 64"
  std::string text;                // what it means
  std::vector<std::string> words;  // that it takes, the first listed first
  /// Throws argument_error with the setting's name for a value that is not allowed.
  std::function<void(C&, const setting_value&)> set;
  std::function<setting_value(const C&)> get;
  std::vector<setting_condition> conditions = {};  // all must hold, or it has no meaning
  std::string group = {};  // "decoder" of decoder.iterations; set where lists are joined
  bool of_links = true;    // a key of scenarios and a field of results
  bool brief = false;      // results leave it out where it has its default

  /// It has a meaning only where another setting is one of these words.
  setting_of only_with(std::string other, std::vector<std::string> of) && {
    conditions.push_back({std::move(other), std::move(of)});
    return std::move(*this);
  }
  setting_of left_out_by_default() && {
    brief = true;
    return std::move(*this);
  }
};

namespace settings_detail {
[[noreturn]] void refuse(const std::string& name, const setting_value& value, const std::string& allowed);
std::int64_t whole(const std::string& name, const setting_value& value, std::int64_t least, std::int64_t most,
                   const std::string& allowed);
double real(const std::string& name, const setting_value& value, double least, double most, bool above,
            const std::string& allowed);
std::size_t word(const std::string& name, const setting_value& value, const std::vector<std::string>& words,
                 const std::string& allowed);
std::string range_text(const char* what, double least, double most, bool above = false);
}  // namespace settings_detail

template <class C, class T>
setting_of<C> integer(std::string name, T C::*member, std::int64_t least, std::int64_t most, std::string text,
                      std::string allowed = "") {
  using namespace settings_detail;
  if (allowed.empty()) allowed = "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  return {
      name,
      "integer",
      allowed,
      std::move(text),
      {},
      [=](C& c, const setting_value& v) { c.*member = static_cast<T>(whole(name, v, least, most, allowed)); },
      [=](const C& c) -> setting_value { return static_cast<std::int64_t>(c.*member); }};
}

/// An integer, or "auto": the value `automatic`, which may be given as such too.
template <class C>
setting_of<C> integer_or_auto(std::string name, int C::*member, int automatic, std::int64_t least,
                              std::int64_t most, std::string text, std::string allowed) {
  using namespace settings_detail;
  allowed = "\"auto\" or " + allowed;
  return {name,
          "integer",
          allowed,
          std::move(text),
          {"auto"},
          [=](C& c, const setting_value& v) {
            const auto* w = std::get_if<std::string>(&v);
            const auto* i = std::get_if<std::int64_t>(&v);
            const bool chosen = (w != nullptr && same_word(*w, "auto")) || (i != nullptr && *i == automatic);
            c.*member = chosen ? automatic : static_cast<int>(whole(name, v, least, most, allowed));
          },
          [=](const C& c) -> setting_value {
            if (c.*member == automatic) return std::string("auto");
            return std::int64_t{c.*member};
          }};
}

/// A number from `least` to `most`; with `above` it is more than `least`.
template <class C, class T>
setting_of<C> number(std::string name, T C::*member, double least, double most, std::string text,
                     bool above = false, std::string allowed = "") {
  using namespace settings_detail;
  if (allowed.empty()) allowed = range_text("a number", least, most, above);
  return {name,
          "number",
          allowed,
          std::move(text),
          {},
          [=](C& c, const setting_value& v) {
            c.*member = static_cast<T>(real(name, v, least, most, above, allowed));
          },
          [=](const C& c) -> setting_value { return as_written(c.*member); }};
}

/// One of several words, each for a value.
template <class C, class T>
setting_of<C> words(std::string name, T C::*member, std::vector<std::pair<std::string, T>> values,
                    std::string text) {
  using namespace settings_detail;
  std::vector<std::string> names;
  for (const auto& [w, value] : values) names.push_back(w);
  const std::string allowed = among(names);
  return {name,
          "word",
          allowed,
          std::move(text),
          names,
          [=](C& c, const setting_value& v) {
            if constexpr (std::is_same_v<T, bool>)  // which may be said as such
              if (const auto* b = std::get_if<bool>(&v)) {
                c.*member = *b;
                return;
              }
            c.*member = values[word(name, v, names, allowed)].second;
          },
          [=](const C& c) -> setting_value {
            for (const auto& [w, value] : values)
              if (value == c.*member) return w;
            return std::string("?");
          }};
}

/// A list of integers.
template <class C>
setting_of<C> integers(std::string name, std::vector<int> C::*member, int least, int most, std::string text,
                       std::string allowed) {
  using namespace settings_detail;
  return {name,
          "list of integers",
          allowed,
          std::move(text),
          {},
          [=](C& c, const setting_value& v) {
            const auto* list = std::get_if<std::vector<std::int64_t>>(&v);
            if (list == nullptr || list->empty()) refuse(name, v, allowed);
            std::vector<int> all;
            for (const std::int64_t i : *list)
              all.push_back(static_cast<int>(whole(name, i, least, most, allowed)));
            c.*member = std::move(all);
          },
          [=](const C& c) -> setting_value {
            return std::vector<std::int64_t>((c.*member).begin(), (c.*member).end());
          }};
}

/// The settings of a member, as those of the struct around it.
template <class Outer, class Part, class C>
std::vector<setting_of<Outer>> within(Part part, const std::vector<setting_of<C>>& inner) {
  std::vector<setting_of<Outer>> all;
  for (const setting_of<C>& s : inner)
    all.push_back({s.name, s.kind, s.allowed, s.text, s.words,
                   [=, set = s.set](Outer& o, const setting_value& v) { set(part(o), v); },
                   [=, get = s.get](const Outer& o) { return get(part(const_cast<Outer&>(o))); },
                   s.conditions, s.group, s.of_links, s.brief});
  return all;
}

template <class C>
const setting_of<C>* find_setting(const std::vector<setting_of<C>>& all, std::string_view name) {
  for (const setting_of<C>& s : all)
    if (s.name == name) return &s;
  return nullptr;
}

/// The setting and word with which a setting has no meaning in `c`; nothing where it has one.
template <class C>
std::optional<std::pair<std::string, std::string>> idle_because(const std::vector<setting_of<C>>& all,
                                                                const setting_of<C>& s, const C& c) {
  for (const setting_condition& needs : s.conditions) {
    const std::string value = plain(find_setting(all, needs.setting)->get(c));
    if (!find_word(needs.words, value)) return std::pair{needs.setting, value};
  }
  return std::nullopt;
}

/// Throws argument_error where a member is not what its setting allows.
template <class C>
void check_settings(const std::vector<setting_of<C>>& all, const C& c) {
  C copy = c;
  for (const setting_of<C>& s : all)
    if (!idle_because(all, s, c)) s.set(copy, s.get(c));
}

/// The values of all settings that have a meaning in `c`.
template <class C>
std::vector<std::pair<const setting_of<C>*, setting_value>> values_of(const std::vector<setting_of<C>>& all,
                                                                      const C& c) {
  std::vector<std::pair<const setting_of<C>*, setting_value>> values;
  for (const setting_of<C>& s : all)
    if (!idle_because(all, s, c)) values.emplace_back(&s, s.get(c));
  return values;
}

}  // namespace wb
