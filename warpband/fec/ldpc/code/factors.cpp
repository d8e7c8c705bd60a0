#include <warpband/fec/ldpc/ldpc_factors.hpp>

#include <algorithm>

#include <nlohmann/json.hpp>

#include <warpband/core/printable.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/core/text_file.hpp>

namespace wb {
namespace {

using nlohmann::json;

/// The keys of a file, each taken with what is allowed.
/// Threads: one at a time may use an object.
class factors_reader {
 public:
  factors_reader(const json& object, const std::string& name) : object_(object), name_(name) {}

  [[noreturn]] void refuse(const std::string& key, const json* value, const std::string& allowed) const {
    std::string shown = value == nullptr     ? "missing"
                        : value->is_array()  ? "a list"  // a deep one would overflow the stack of dump()
                        : value->is_object() ? "an object"
                                             : printable(value->dump(-1, ' ', true));
    if (shown.size() > 60) shown = shown.substr(0, 57) + "...";
    throw file_error(name_, "no factors: " + key + " is " + shown + ": expected " + allowed);
  }
  const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  std::string text(const char* key, const std::string& wanted, const std::string& allowed) const {
    const json* value = find(key);
    if (value == nullptr || !value->is_string()) refuse(key, value, allowed);
    const std::string found = value->get<std::string>();
    if (found.empty() || found.size() > 200 || (!wanted.empty() && found != wanted))
      refuse(key, value, allowed);
    return found;
  }
  std::int64_t integer(const char* key, std::int64_t least, std::int64_t greatest,
                       const std::string& allowed) const {
    const json* value = find(key);
    if (value == nullptr || !value->is_number_integer()) refuse(key, value, allowed);
    const double found = value->get<double>();
    if (!(found >= static_cast<double>(least) && found <= static_cast<double>(greatest)))
      refuse(key, value, allowed);
    return value->get<std::int64_t>();
  }
  std::vector<double> numbers(const char* key, std::size_t count, double greatest) const {
    const json* list = find(key);
    const std::string allowed = "a number from 0 to " + plain(setting_value(greatest));
    if (!list->is_array()) refuse(key, list, "a list of numbers");
    if (list->size() != count)
      throw file_error(name_, std::string("no factors: ") + key + " has " + std::to_string(list->size()) +
                                  " numbers: expected " + std::to_string(count) + ", as iterations says");
    std::vector<double> numbers;
    for (const json& entry : *list) {
      const std::string place = std::string(key) + "[" + std::to_string(numbers.size()) + "]";
      if (!entry.is_number()) refuse(place, &entry, allowed);
      const double x = entry.get<double>();
      if (!(x >= 0 && x <= greatest)) refuse(place, &entry, allowed);
      numbers.push_back(x);
    }
    return numbers;
  }

 private:
  const json& object_;
  const std::string& name_;
};

}  // namespace

ldpc_factors parse_ldpc_factors(std::string_view text, const std::string& name) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) throw file_error(name, "no factors: expected an object of JSON");
  const factors_reader r(object, name);
  r.text("format", "warpband-ldpc-factors", "\"warpband-ldpc-factors\"");
  r.integer("version", 1, 1, "1");
  const std::vector<std::string> keys{"format", "version", "trained_for", "iterations", "factors", "offsets"};
  for (const auto& [key, value] : object.items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      r.refuse(printable(key), &value, "one of the keys " + among(keys));
  ldpc_factors found;
  found.trained_for = r.text("trained_for", "", "a text of 1 to 200 bytes");
  const auto count =
      static_cast<std::size_t>(r.integer("iterations", 1, most_ldpc_factors, "an integer from 1 to 1000"));
  const json *factors = r.find("factors"), *offsets = r.find("offsets");
  if ((factors == nullptr) == (offsets == nullptr)) r.refuse("factors", factors, "either factors or offsets");
  if (factors != nullptr)
    found.factors = r.numbers("factors", count, 1);
  else
    found.offsets = r.numbers("offsets", count, 8);
  return found;
}

ldpc_factors read_ldpc_factors(const std::string& path) {
  return parse_ldpc_factors(read_file(path, 1, "no factors"), path);
}

}  // namespace wb
