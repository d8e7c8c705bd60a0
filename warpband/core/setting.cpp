#include <warpband/core/setting.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include <warpband/core/numbers_or_file.hpp>
#include <warpband/core/printable.hpp>

namespace wb {
namespace {

std::string number_text(double x) {
  char text[40];
  std::string digits(text, std::to_chars(text, text + sizeof text, x).ptr);
  if (const std::size_t e = digits.find("e+"); e != std::string::npos)  // 1e+06
    digits.erase(e + 1, digits.find_first_not_of("+0", e + 1) - e - 1);
  return digits;
}

/// A list between `open` and `close`.
template <class T, class Item>
std::string joined(const std::vector<T>& list, const char* open, const char* separator, const char* close,
                   Item item) {
  std::string text = open;
  for (std::size_t i = 0; i < list.size(); i++) text += (i == 0 ? "" : separator) + item(list[i]);
  return text + close;
}

std::string folded(std::string_view word) {
  std::string folded_text;
  for (const char c : word)
    if (c != '-' && c != '_' && c != ' ')
      folded_text += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return folded_text.starts_with("qam") ? folded_text.substr(3) + "qam" : folded_text;
}

template <class T>
std::optional<T> parsed(std::string_view text) {
  T x{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(x) : std::nullopt;
}

}  // namespace

std::string as_message(const setting_value& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* x = std::get_if<double>(&value)) {
    const std::string text = number_text(*x);  // a whole one still looks like one
    return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
  }
  if (const auto* s = std::get_if<std::string>(&value)) return "\"" + printable(*s) + "\"";
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
    return joined(*list, "[", ", ", "]", [](std::int64_t i) { return std::to_string(i); });
  if (const auto* list = std::get_if<std::vector<std::string>>(&value))
    return joined(*list, "[", ", ", "]", [](const std::string& s) { return "\"" + printable(s) + "\""; });
  if (const auto* list = std::get_if<std::vector<double>>(&value))
    return joined(*list, "[", ", ", "]", [](double x) { return as_message(setting_value(x)); });
  if (const auto* list = std::get_if<std::vector<std::complex<double>>>(&value))
    return joined(*list, "[", ", ", "]", [](const std::complex<double>& z) {
      return "[" + number_text(z.real()) + ", " + number_text(z.imag()) + "]";
    });
  if (std::holds_alternative<no_value>(value)) return "";
  return std::to_string(std::get<std::int64_t>(value));
}

std::string plain(const setting_value& value) {
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* x = std::get_if<double>(&value)) return number_text(*x);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
    return joined(*list, "", ",", "", [](std::int64_t i) { return std::to_string(i); });
  if (const auto* list = std::get_if<std::vector<std::string>>(&value))
    return joined(*list, "", ",", "", [](const std::string& s) { return s; });
  if (const auto* list = std::get_if<std::vector<double>>(&value))
    return joined(*list, "", ",", "", [](double x) { return number_text(x); });
  if (const auto* list = std::get_if<std::vector<std::complex<double>>>(&value))
    return joined(*list, "", ",", "",
                  [](std::complex<double> z) { return number_text(z.real()) + "," + number_text(z.imag()); });
  return as_message(value);
}

setting_value from_text(const std::string& kind, std::string_view text) {
  if (kind == "integer")
    if (const auto i = parsed<std::int64_t>(text)) return *i;
  if (kind == "number")
    if (const auto x = parsed<double>(text)) return *x;
  if (kind == "boolean" && (text == "true" || text == "false")) return text == "true";
  if (!kind.starts_with("list")) return std::string(text);
  std::vector<std::string> parts{""};
  for (const char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  if (kind == "list of text") return parts;
  const auto parse_parts = [&]<class T>(std::vector<T> numbers) -> setting_value {
    for (const std::string& part : parts) {
      const auto x = parsed<T>(part);
      if (!x) return std::string(text);
      numbers.push_back(*x);
    }
    return numbers;
  };
  if (kind == "list of numbers" || kind == numbers_or_file_kind) return parse_parts(std::vector<double>{});
  if (kind == "list of pairs of numbers") {
    const setting_value numbers = parse_parts(std::vector<double>{});
    const auto* list = std::get_if<std::vector<double>>(&numbers);
    if (list == nullptr || list->size() % 2 != 0) return std::string(text);
    std::vector<std::complex<double>> pairs;
    for (std::size_t i = 0; i < list->size(); i += 2) pairs.emplace_back((*list)[i], (*list)[i + 1]);
    return pairs;
  }
  return parse_parts(std::vector<std::int64_t>{});
}

setting_value from_folder(const std::string& kind, const setting_value& value, const std::string& folder) {
  const auto* file = std::get_if<std::string>(&value);
  if (kind != numbers_or_file_kind || file == nullptr) return value;
  return (std::filesystem::path(folder) / *file).string();
}

bool same_word(std::string_view a, std::string_view b) { return folded(a) == folded(b); }

bool is_part(std::string_view part, std::string_view word) {
  return folded(word).find(folded(part)) != std::string::npos;
}

std::optional<std::size_t> find_word(const std::vector<std::string>& allowed, std::string_view word) {
  const auto match =
      std::find_if(allowed.begin(), allowed.end(), [&](const std::string& w) { return same_word(w, word); });
  if (match == allowed.end()) return std::nullopt;
  return static_cast<std::size_t>(match - allowed.begin());
}

std::string among(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); i++)
    text += (i == 0 ? "\"" : i + 1 == words.size() ? " or \"" : ", \"") + words[i] + "\"";
  return text;
}

std::string by_kind(const std::vector<std::pair<std::string, std::string>>& texts) {
  std::vector<std::pair<std::string, std::string>> groups;  // text, kinds
  for (const auto& [kind, text] : texts) {
    const auto group =
        std::find_if(groups.begin(), groups.end(), [&, &t = text](const auto& g) { return g.first == t; });
    if (group == groups.end())
      groups.emplace_back(text, kind);
    else
      group->second += ", " + kind;
  }
  if (groups.size() == 1) return groups[0].first;
  std::string joined;
  for (const auto& [text, kinds] : groups) {
    const bool sentence = text.ends_with('.');
    joined += (joined.empty() ? "" : sentence ? " " : "; ") + kinds + (sentence ? ": " : " ") + text;
  }
  return joined;
}

std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

double as_written(float x) {
  char text[32] = {};
  const char* end = std::to_chars(text, text + sizeof text, x).ptr;
  double y = x;
  std::from_chars(text, end, y);
  return y;
}

namespace settings_detail {

void refuse(const std::string& name, const setting_value& value, const std::string& allowed) {
  throw argument_error(name, as_message(value), allowed);
}

std::int64_t whole(const std::string& name, const setting_value& value, std::int64_t least,
                   std::int64_t greatest, const std::string& allowed) {
  const auto* i = std::get_if<std::int64_t>(&value);
  if (i == nullptr || *i < least || *i > greatest) refuse(name, value, allowed);
  return *i;
}

double real(const std::string& name, const setting_value& value, double least, double greatest, bool above,
            const std::string& allowed) {
  double x = NAN;
  if (const auto* i = std::get_if<std::int64_t>(&value)) x = static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&value)) x = *d;
  if (!(x >= least && x <= greatest && (!above || x > least))) refuse(name, value, allowed);
  return x;
}

std::size_t word(const std::string& name, const setting_value& value, const std::vector<std::string>& words,
                 const std::string& allowed) {
  const auto* s = std::get_if<std::string>(&value);
  const auto index = s != nullptr ? find_word(words, *s) : std::nullopt;
  if (!index) refuse(name, value, allowed);
  return *index;
}

std::vector<double> reals(const std::string& name, const setting_value& value, double least, double greatest,
                          const std::string& allowed) {
  std::vector<double> numbers;
  const auto add = [&](const setting_value& x) {
    numbers.push_back(real(name, x, least, greatest, false, allowed));
  };
  if (const auto* xs = std::get_if<std::vector<double>>(&value))
    for (const double x : *xs) add(x);
  else if (const auto* is = std::get_if<std::vector<std::int64_t>>(&value))
    for (const std::int64_t i : *is) add(i);
  else
    add(value);
  return numbers;
}

std::vector<int> wholes(const std::string& name, const setting_value& value, int least, int greatest,
                        const std::string& allowed) {
  const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
  if (list == nullptr || list->empty()) refuse(name, value, allowed);
  std::vector<int> numbers;
  for (const std::int64_t i : *list)
    numbers.push_back(static_cast<int>(whole(name, i, least, greatest, allowed)));
  return numbers;
}

std::vector<std::string> texts(const std::string& name, const setting_value& value,
                               const std::string& allowed) {
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  if (list == nullptr || list->empty()) refuse(name, value, allowed);
  return *list;
}

std::string range_text(const char* noun, double least, double greatest, bool above) {
  const std::string from = number_text(least), to = number_text(greatest);
  return std::string(noun) + (above ? " above " + from + ", up to " + to : " from " + from + " to " + to);
}

}  // namespace settings_detail
}  // namespace wb
