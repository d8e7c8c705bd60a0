#pragma once
// An object of a result file, for link/result_read.cpp alone.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include <warpband/core/error.hpp>
#include <warpband/link/result_json.hpp>

namespace wb::result_file {

/// An object of a file, and where in the file it is: everything in it is asked for by name and type.
class object {
 public:
  object(const json& j, std::string where, const std::string& path)
      : j_(j), where_(std::move(where)), path_(path) {
    if (!j.is_object()) refuse(where_.empty() ? "it" : where_, j, "an object");
  }
  [[noreturn]] void fail(const std::string& reason) const {
    throw file_error(path_, "not a result: " + reason);
  }
  [[noreturn]] void refuse(const std::string& name, const json& v, const std::string& allowed) const {
    fail(argument_error(name, shown(v), allowed).what());
  }
  [[noreturn]] void refuse(const char* key, const std::string& allowed) const {
    refuse(name(key), at(key), allowed);
  }
  std::string name(const std::string& key) const { return where_.empty() ? key : where_ + "." + key; }
  bool has(const char* key) const { return j_.contains(key); }
  /// Other keys than these are of another program: writing the result again would lose them.
  void holds_only(std::initializer_list<const char*> keys) const {
    for (const auto& [key, v] : j_.items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        fail(shown(name(key)) + " is not known to this version, " + version());
  }
  const json& at(const char* key) const {
    const auto i = j_.find(key);
    if (i == j_.end()) fail(name(key) + " is missing");
    return *i;
  }
  object inner(const char* key) const { return {at(key), name(key), path_}; }
  const json& list(const char* key) const {
    if (!at(key).is_array()) refuse(key, "a list");
    return at(key);
  }
  object element(const char* key, std::size_t i) const {
    return {list(key)[i], name(key) + "[" + std::to_string(i) + "]", path_};
  }
  std::string text(const char* key) const {
    if (!at(key).is_string()) refuse(key, "text");
    return at(key).get<std::string>();
  }
  std::string text_or_null(const char* key) const { return at(key).is_null() ? "" : text(key); }
  bool boolean(const char* key) const {
    if (!at(key).is_boolean()) refuse(key, "true or false");
    return at(key).get<bool>();
  }
  /// `most_name` says in words where the largest value comes from.
  std::uint64_t integer(const char* key, std::uint64_t least, std::uint64_t greatest,
                        const std::string& most_name = "") const {
    const json& v = at(key);
    if (!v.is_number_unsigned() || v.get<std::uint64_t>() < least || v.get<std::uint64_t>() > greatest)
      refuse(key, "an integer from " + std::to_string(least) + " to " + std::to_string(greatest) + most_name);
    return v.get<std::uint64_t>();
  }
  double number(const char* key, double least, double greatest, const std::string& allowed) const {
    const json& v = at(key);
    if (!v.is_number() || !(v.get<double>() >= least && v.get<double>() <= greatest)) refuse(key, allowed);
    return v.get<double>();
  }

 private:
  const json& j_;
  std::string where_;
  const std::string& path_;
};

}  // namespace wb::result_file
