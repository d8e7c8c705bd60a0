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
#include <algorithm>
#include <complex>
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

/// A setting that is left out. Unlike std::monostate it is not trivially copyable: a variant of trivial
/// types, strings and vectors always has a value for libstdc++. Where memory ends during a copy of one, it
/// destroys a value that was never made.
struct no_value {
  no_value() = default;
  no_value(const no_value&) noexcept {}
  no_value& operator=(const no_value&) noexcept { return *this; }
  bool operator==(const no_value&) const noexcept { return true; }
};

/// A setting's value in transit: from TOML, JSON, an option, an attribute to a member, and back. With
/// no_value the setting is left out, and chosen from others.
using setting_value =
    std::variant<no_value, bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                 std::vector<double>, std::vector<std::string>, std::vector<std::complex<double>>>;
/// Values by the names of their settings.
using setting_values = std::map<std::string, setting_value, std::less<>>;

/// As a message shows it: 3, 0.75, "log-map", [0, 2]; "" for nothing.
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

/// Two words are the same whatever their case and their hyphens, and "qam16" is "16qam": "Max_Log-MAP" is
/// "max-log-map".
bool same_word(std::string_view a, std::string_view b);
/// Whether a word is a part of another, with the same liberties.
bool is_part(std::string_view part, std::string_view word);
/// The word among `allowed` that `word` is; nothing where it is none.
std::optional<std::size_t> find_word(const std::vector<std::string>& allowed, std::string_view word);
/// "a", "b" or "c", in quotes.
std::string among(const std::vector<std::string>& words);
/// What several kinds say of one thing, each with their names where they differ: "tdl, cdl: ... file: ...".
std::string by_kind(const std::vector<std::pair<std::string, std::string>>& texts);
/// Up to the end of the first sentence.
std::string first_sentence(const std::string& text);

/// Another setting of the same struct, and the words of it with which this one has a meaning.
struct setting_condition {
  std::string setting;
  std::vector<std::string> words;
};

template <class C>
struct setting_of {
  std::string name;  // "iterations"
  std::string kind;  // "integer", "number", "word", "text", "boolean", "list of integers", "... of text", ...
  std::string allowed;             // "an integer from 1 to 64"
  std::string text;                // what it means
  std::vector<std::string> words;  // that it takes, the first listed first
  /// Throws argument_error with the setting's name for a value that is not allowed. Nothing (no_value)
  /// is the value of an optional member that is absent.
  std::function<void(C&, const setting_value&)> set;
  std::function<setting_value(const C&)> get;
  std::vector<setting_condition> conditions = {};  // all must hold, or it has no meaning
  std::string group = {};   // "decoder" of decoder.iterations; set where lists are joined
  bool of_links = true;     // a key of scenarios and a field of results
  bool brief = false;       // results leave it out where it has its default
  bool open = false;        // what stands for leaving it out is no value that may be given
  std::string absent = {};  // a word that stands for leaving it out: "auto"; "" where none does

  /// It has a meaning only where another setting is one of these words.
  setting_of only_with(std::string other, std::vector<std::string> values) && {
    conditions.push_back({std::move(other), std::move(values)});
    return std::move(*this);
  }
  setting_of left_out_by_default() && {
    brief = true;
    return std::move(*this);
  }
  /// What is not told by a link's key or result: it follows from what it belongs to.
  setting_of not_of_links() && {
    of_links = false;
    return std::move(*this);
  }
  setting_of without_default() && {
    open = true;
    return std::move(*this);
  }
  /// A word also stands for leaving it out: TOML and options of the command have no None. Of optional
  /// members.
  setting_of absent_as(std::string word) && {
    words = {word};
    set = [word, set = std::move(set)](C& c, const setting_value& v) {
      const auto* w = std::get_if<std::string>(&v);
      set(c, w != nullptr && same_word(*w, word) ? setting_value() : v);
    };
    absent = std::move(word);
    return std::move(*this);
  }
  /// The value, or the word that stands for leaving it out.
  setting_value written(const C& c) const {
    setting_value value = get(c);
    return std::holds_alternative<no_value>(value) && !absent.empty() ? setting_value(absent) : value;
  }
  /// The text, after the conditions: "With type "kbest": ...".
  std::string full_text() const {
    std::string sentence = text;
    for (const setting_condition& c : conditions)
      sentence = "With " + c.setting + " " + among(c.words) + ": " + sentence;
    return sentence;
  }
  /// What stands for leaving it out, as TOML writes it; "" where no value does.
  std::string initial(const C& defaults) const { return open ? "" : as_message(written(defaults)); }
};

namespace settings_detail {
[[noreturn]] void refuse(const std::string& name, const setting_value& value, const std::string& allowed);
std::int64_t whole(const std::string& name, const setting_value& value, std::int64_t least,
                   std::int64_t greatest, const std::string& allowed);
double real(const std::string& name, const setting_value& value, double least, double greatest, bool above,
            const std::string& allowed);
std::size_t word(const std::string& name, const setting_value& value, const std::vector<std::string>& words,
                 const std::string& allowed);
std::string range_text(const char* noun, double least, double greatest, bool above = false);
/// Each number of a list, or the one.
std::vector<double> reals(const std::string& name, const setting_value& value, double least, double greatest,
                          const std::string& allowed);
std::vector<int> wholes(const std::string& name, const setting_value& value, int least, int greatest,
                        const std::string& allowed);
std::vector<std::string> texts(const std::string& name, const setting_value& value,
                               const std::string& allowed);

template <class T>
struct inner_of {
  using type = T;
};
template <class T>
struct inner_of<std::optional<T>> {
  using type = T;
};
/// T of T or of an optional T.
template <class T>
using inner = typename inner_of<T>::type;
/// What `show` makes of a member; nothing where it is an optional without a value.
template <class T, class Show>
setting_value shown(const T& x, Show show) {
  if constexpr (std::is_same_v<T, inner<T>>)
    return show(x);
  else
    return x ? show(*x) : setting_value{};
}
/// Sets a member to what `read` makes of a value; an optional one is absent where there is none.
template <class T, class Read>
void take(T& member, const setting_value& value, Read read) {
  if (!std::is_same_v<T, inner<T>> && std::holds_alternative<no_value>(value))
    member = T();
  else
    member = static_cast<inner<T>>(read());
}
}  // namespace settings_detail

template <class C, class T>
setting_of<C> integer(std::string name, T C::*member, std::int64_t least, std::int64_t greatest,
                      std::string text, std::string allowed = "") {
  using namespace settings_detail;
  if (allowed.empty())
    allowed = "an integer from " + std::to_string(least) + " to " + std::to_string(greatest);
  return {name,
          "integer",
          allowed,
          std::move(text),
          {},
          [=](C& c, const setting_value& v) {
            take(c.*member, v, [&] { return whole(name, v, least, greatest, allowed); });
          },
          [=](const C& c) -> setting_value {
            return shown(c.*member, [](inner<T> x) -> setting_value { return static_cast<std::int64_t>(x); });
          }};
}

/// An integer, or absent: "auto".
template <class C>
setting_of<C> integer_or_auto(std::string name, std::optional<int> C::*member, std::int64_t least,
                              std::int64_t greatest, std::string text, const std::string& allowed) {
  return integer(std::move(name), member, least, greatest, std::move(text), "\"auto\" or " + allowed)
      .absent_as("auto");
}

/// One of several integers.
template <class C, class T>
setting_of<C> one_of(std::string name, T C::*member, std::vector<int> values, std::string text) {
  using namespace settings_detail;
  std::string allowed;
  for (std::size_t i = 0; i < values.size(); i++)
    allowed += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + std::to_string(values[i]);
  return {name,
          "integer",
          allowed,
          std::move(text),
          {},
          [=](C& c, const setting_value& v) {
            take(c.*member, v, [&] {
              const auto* i = std::get_if<std::int64_t>(&v);
              if (i == nullptr || std::find(values.begin(), values.end(), *i) == values.end())
                refuse(name, v, allowed);
              return *i;
            });
          },
          [=](const C& c) -> setting_value {
            return shown(c.*member, [](int x) -> setting_value { return std::int64_t{x}; });
          }};
}

/// A number from `least` to `greatest`; with `above` it is more than `least`.
template <class C, class T>
setting_of<C> number(std::string name, T C::*member, double least, double greatest, std::string text,
                     bool above = false, std::string allowed = "") {
  using namespace settings_detail;
  if (allowed.empty()) allowed = range_text("a number", least, greatest, above);
  return {name,
          "number",
          allowed,
          std::move(text),
          {},
          [=](C& c, const setting_value& v) {
            take(c.*member, v, [&] { return real(name, v, least, greatest, above, allowed); });
          },
          [=](const C& c) -> setting_value {
            return shown(c.*member, [](inner<T> x) -> setting_value { return as_written(x); });
          }};
}

/// A number, or a word for one number: "none" for infinity.
template <class C, class T>
setting_of<C> number_or_word(std::string name, T C::*member, std::string word, double value, double least,
                             double greatest, std::string text, std::string allowed) {
  using namespace settings_detail;
  return {name,
          "number",
          allowed,
          std::move(text),
          {word},
          [=](C& c, const setting_value& v) {
            const auto* w = std::get_if<std::string>(&v);
            const auto* x = std::get_if<double>(&v);
            const bool named = (w != nullptr && same_word(*w, word)) || (x != nullptr && *x == value);
            take(c.*member, v,
                 [&] { return named ? value : real(name, v, least, greatest, false, allowed); });
          },
          [=](const C& c) -> setting_value {
            return shown(c.*member, [&](inner<T> x) -> setting_value {
              if (static_cast<double>(x) == value) return word;
              return as_written(x);
            });
          }};
}

template <class C>
setting_of<C> boolean(std::string name, bool C::*member, std::string text) {
  using namespace settings_detail;
  const std::string allowed = "true or false";
  return {name,
          "boolean",
          allowed,
          std::move(text),
          {},
          [=](C& c, const setting_value& v) {
            const auto* b = std::get_if<bool>(&v);
            if (b == nullptr) refuse(name, v, allowed);
            c.*member = *b;
          },
          [=](const C& c) -> setting_value { return c.*member; }};
}

template <class C, class T>
setting_of<C> text(std::string name, T C::*member, std::string meaning,
                   std::string allowed = "text in quotes") {
  using namespace settings_detail;
  return {name,
          "text",
          allowed,
          std::move(meaning),
          {},
          [=](C& c, const setting_value& v) {
            take(c.*member, v, [&] {
              const auto* t = std::get_if<std::string>(&v);
              if (t == nullptr) refuse(name, v, allowed);
              return *t;
            });
          },
          [=](const C& c) -> setting_value {
            return shown(c.*member, [](const std::string& x) -> setting_value { return x; });
          }};
}

/// One of several words, each for a value.
template <class C, class M, class T = settings_detail::inner<M>>
setting_of<C> words(std::string name, M C::*member, std::vector<std::pair<std::string, T>> values,
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
            take(c.*member, v, [&] { return values[word(name, v, names, allowed)].second; });
          },
          [=](const C& c) -> setting_value {
            return shown(c.*member, [&](const T& x) -> setting_value {
              for (const auto& [w, value] : values)
                if (value == x) return w;
              if constexpr (std::is_same_v<T, std::string>)
                return x;
              else
                return static_cast<std::int64_t>(x);  // none of them
            });
          }};
}

/// A list; an empty one is left out. `read` makes it of a value, or refuses it.
template <class C, class Item, class Read>
setting_of<C> list(std::string name, std::vector<Item> C::*member, const char* kind, std::string text,
                   std::string allowed, Read read) {
  using in_transit = std::conditional_t<std::is_same_v<Item, int>, std::int64_t, Item>;
  return {name,
          kind,
          std::move(allowed),
          std::move(text),
          {},
          [=](C& c, const setting_value& v) { c.*member = read(v); },
          [=](const C& c) -> setting_value {
            if ((c.*member).empty()) return {};
            return std::vector<in_transit>((c.*member).begin(), (c.*member).end());
          }};
}
template <class C>
setting_of<C> integers(std::string name, std::vector<int> C::*member, int least, int greatest,
                       std::string text, std::string allowed) {
  return list(name, member, "list of integers", std::move(text), allowed, [=](const setting_value& v) {
    return settings_detail::wholes(name, v, least, greatest, allowed);
  });
}
template <class C>
setting_of<C> numbers(std::string name, std::vector<double> C::*member, double least, double greatest,
                      std::string text, std::string allowed) {
  return list(name, member, "list of numbers", std::move(text), allowed, [=](const setting_value& v) {
    return settings_detail::reals(name, v, least, greatest, allowed);
  });
}
template <class C>
setting_of<C> texts(std::string name, std::vector<std::string> C::*member, std::string text,
                    std::string allowed) {
  return list(name, member, "list of text", std::move(text), allowed,
              [=](const setting_value& v) { return settings_detail::texts(name, v, allowed); });
}

/// The settings of a member, as those of the struct around it.
template <class Outer, class Part, class C>
std::vector<setting_of<Outer>> within(Part part, const std::vector<setting_of<C>>& inner) {
  std::vector<setting_of<Outer>> lifted;
  for (const setting_of<C>& s : inner)
    lifted.push_back({s.name, s.kind, s.allowed, s.text, s.words,
                      [=, set = s.set](Outer& o, const setting_value& v) { set(part(o), v); },
                      [=, get = s.get](const Outer& o) { return get(part(const_cast<Outer&>(o))); },
                      s.conditions, s.group, s.of_links, s.brief, s.open, s.absent});
  return lifted;
}

template <class C>
const setting_of<C>* find_setting(const std::vector<setting_of<C>>& settings, std::string_view name) {
  for (const setting_of<C>& s : settings)
    if (s.name == name) return &s;
  return nullptr;
}

/// The setting and word with which a setting has no meaning in `c`; nothing where it has one.
template <class C>
std::optional<std::pair<std::string, std::string>> idle_because(const std::vector<setting_of<C>>& settings,
                                                                const setting_of<C>& s, const C& c) {
  for (const setting_condition& needs : s.conditions) {
    const std::string value = plain(find_setting(settings, needs.setting)->written(c));
    if (!find_word(needs.words, value)) return std::pair{needs.setting, value};
  }
  return std::nullopt;
}

/// The values of all settings that have a meaning in `c` and are not left out.
template <class C>
std::vector<std::pair<const setting_of<C>*, setting_value>> values_of(
    const std::vector<setting_of<C>>& settings, const C& c) {
  std::vector<std::pair<const setting_of<C>*, setting_value>> values;
  for (const setting_of<C>& s : settings)
    if (!idle_because(settings, s, c))
      if (setting_value value = s.written(c); !std::holds_alternative<no_value>(value))
        values.emplace_back(&s, std::move(value));
  return values;
}

/// The result points into the list, which must stay.
template <class C>
void values_of(std::vector<setting_of<C>>&& settings, const C& c) = delete;

/// Throws argument_error where a member is not what its setting allows.
template <class C>
void check_settings(const std::vector<setting_of<C>>& settings, const C& c) {
  C copy = c;
  for (const auto& [s, value] : values_of(settings, c)) s->set(copy, value);
}

/// A configuration of only what has a meaning in `c`; the rest is as where nothing is said.
template <class C>
C without_idle(const std::vector<setting_of<C>>& settings, const C& c) {
  C kept;
  for (const auto& [s, value] : values_of(settings, c)) s->set(kept, value);
  return kept;
}

}  // namespace wb
