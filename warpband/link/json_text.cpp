#include <warpband/link/json_text.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <warpband/core/printable.hpp>

namespace wb {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t most_depth = 64;

/// Takes the parser's events. Members are collected in a vector first: the object itself searches all its
/// keys for each one that it takes.
class builder final : public nlohmann::json_sax<json> {
 public:
  builder(const std::string& text, const std::function<void(const std::string&)>& fail)
      : text_(text), fail_(fail) {}
  json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool v) override { return add(v); }
  bool number_integer(std::int64_t v) override { return add(v); }
  bool number_unsigned(std::uint64_t v) override { return add(v); }
  bool number_float(double v, const std::string&) override { return add(v); }
  bool string(std::string& v) override { return add(std::move(v)); }
  bool binary(json::binary_t&) override { return false; }  // JSON has none
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool key(std::string& v) override {
    open_.back().key = std::move(v);
    return true;
  }
  bool end_array() override {
    container done = std::move(open_.back());
    open_.pop_back();
    return add(std::move(done.list));
  }
  bool end_object() override {
    container done = std::move(open_.back());
    open_.pop_back();
    check_keys(done.members);
    json object = json::object();
    auto& members = object.get_ref<json::object_t&>();
    members.reserve(done.members.size());
    for (auto& [key, value] : done.members) members.emplace_back(std::move(key), std::move(value));
    return add(std::move(object));
  }
  bool parse_error(std::size_t position, const std::string&, const json::exception& error) override {
    constexpr int out_of_range = 406;  // nlohmann's number of it
    if (error.id == out_of_range) refuse("a number in it is too large");
    const std::size_t byte = std::min(position, text_.size());
    const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(byte), '\n');
    refuse("not JSON, or cut off, in line " + std::to_string(lines + 1));
  }

 private:
  using member_list = std::vector<std::pair<std::string, json>>;
  struct container {
    bool is_object = false;
    json::array_t list{};
    member_list members{};
    std::string key{};  // of the member to come
  };

  [[noreturn]] void refuse(const std::string& reason) const {
    fail_(reason);
    throw std::logic_error("a fault of JSON was passed over: " + reason);
  }
  bool open(bool is_object) {
    if (open_.size() > most_depth) refuse("it is nested too deeply, more than 64 levels");
    open_.push_back({.is_object = is_object});
    return true;
  }
  template <class T>
  bool add(T&& value) {
    if (open_.empty())
      root_ = std::forward<T>(value);
    else if (open_.back().is_object)
      open_.back().members.emplace_back(std::move(open_.back().key), std::forward<T>(value));
    else
      open_.back().list.emplace_back(std::forward<T>(value));
    return true;
  }
  void check_keys(const member_list& members) const {
    std::vector<std::string_view> keys;
    keys.reserve(members.size());
    for (const auto& [key, value] : members) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end())
      refuse("an object in it has the key \"" + printable(std::string(*twice)) + "\" twice");
  }

  const std::string& text_;
  const std::function<void(const std::string&)>& fail_;
  json root_;
  std::vector<container> open_;
};

}  // namespace

json parse_json(const std::string& text, const std::function<void(const std::string&)>& fail) {
  builder events(text, fail);
  json::sax_parse(text, &events);
  return events.take();
}

}  // namespace wb
