#pragma once
// The one list that names the kinds of something: codes, channels, detectors. A program may add its own
// before it reads a scenario. A kind is a struct with a `name` and functions that describe it.
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/setting.hpp>

namespace wb {

/// Names are compared as words of settings are (`same_word`). Add before other threads read the list.
template <class Kind>
class kind_list {
 public:
  /// `argument`: what messages call the choice, "code.type".
  kind_list(std::string argument, std::initializer_list<Kind> kinds) : argument_(std::move(argument)) {
    for (const Kind& kind : kinds) add(kind);
  }

  kind_list(const kind_list&) = delete;
  kind_list& operator=(const kind_list&) = delete;

  /// Throws argument_error if a kind has this name. References to other kinds stay valid.
  const Kind& add(Kind kind) {
    if (find(kind.name) != nullptr)
      throw argument_error(argument_, '"' + std::string(kind.name) + '"', "the name of a new kind");
    return kinds_.emplace_back(std::move(kind));
  }
  /// Null if no kind has the name.
  const Kind* find(std::string_view name) const noexcept {
    for (const Kind& kind : kinds_)
      if (same_word(kind.name, name)) return &kind;
    return nullptr;
  }
  /// Throws argument_error, with all names, if no kind has this one.
  const Kind& get(std::string_view name) const {
    if (const Kind* kind = find(name)) return *kind;
    throw argument_error(argument_, '"' + std::string(name) + '"', among(names()));
  }
  /// In the order in which they were added.
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const Kind& kind : kinds_) result.emplace_back(kind.name);
    return result;
  }
  auto begin() const noexcept { return kinds_.begin(); }
  auto end() const noexcept { return kinds_.end(); }

 private:
  std::string argument_;
  std::deque<Kind> kinds_;
};

}  // namespace wb
