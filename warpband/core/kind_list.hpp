#pragma once
// The one list that names the kinds of something: codes, channels, detectors. A program may add its own
// before it reads a scenario. A kind is a struct with a `name` and functions that describe it. A `kind_scope`
// adds kinds for one thread and for a time.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/setting.hpp>

namespace wb {

namespace kind_scopes {
inline thread_local std::uint64_t innermost = 0;
inline std::atomic<std::uint64_t> made = 0;
}  // namespace kind_scopes

/// Number of the calling thread's innermost scope. Each scope has its own; 0 means none. A value that was
/// computed from lists of kinds is valid while this number stays the same.
inline std::uint64_t kind_scope_number() noexcept { return kind_scopes::innermost; }

template <class Kind>
class kind_scope;

/// Names are compared as words of settings are (`same_word`). Add before other threads read the list. Readers
/// also see the kinds of their thread's scope.
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
    for (const Kind& kind : *this)
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
    for (const Kind& kind : *this) result.emplace_back(kind.name);
    return result;
  }
  /// What messages call the choice.
  const std::string& argument() const noexcept { return argument_; }

  class iterator {
   public:
    iterator(const kind_list& list, std::size_t index) : list_(&list), index_(index) {}
    const Kind& operator*() const noexcept {
      const std::size_t lasting = list_->kinds_.size();
      return index_ < lasting ? list_->kinds_[index_] : (*list_->scoped())[index_ - lasting];
    }
    iterator& operator++() noexcept {
      index_++;
      return *this;
    }
    bool operator==(const iterator&) const = default;

   private:
    const kind_list* list_;
    std::size_t index_;
  };
  iterator begin() const noexcept { return {*this, 0}; }
  iterator end() const noexcept {
    return {*this, kinds_.size() + (scoped() != nullptr ? scoped()->size() : 0)};
  }

 private:
  friend class kind_scope<Kind>;
  /// Kinds of the thread's innermost scope of this list, or null.
  const std::vector<Kind>* scoped() const noexcept {
    const kind_scope<Kind>* scope = kind_scope<Kind>::innermost_;
    while (scope != nullptr && &scope->list_ != this) scope = scope->outer_;
    return scope != nullptr ? &scope->kinds_ : nullptr;
  }

  std::string argument_;
  std::deque<Kind> kinds_;
};

/// Kinds that the calling thread alone sees in a list while the scope lives. They hide those of an outer
/// scope of the list. Scopes of other threads may have kinds of the same names. Destroy a scope on its
/// thread, the last one first.
template <class Kind>
class kind_scope {
 public:
  /// Throws argument_error for a name that the list has, or twice. `argument`: what the message calls the
  /// kinds; the list's by default.
  kind_scope(kind_list<Kind>& list, std::vector<Kind> kinds, const std::optional<std::string>& argument = {})
      : list_(list), kinds_(std::move(kinds)) {
    for (std::size_t i = 0; i < kinds_.size(); i++) {
      bool taken = false;
      for (const Kind& kind : list_.kinds_) taken = taken || same_word(kind.name, kinds_[i].name);
      for (std::size_t j = 0; j < i; j++) taken = taken || same_word(kinds_[j].name, kinds_[i].name);
      if (taken)
        throw argument_error(argument.value_or(list_.argument()), '"' + std::string(kinds_[i].name) + '"',
                             "the name of a new kind");
    }
    innermost_ = this;
    kind_scopes::innermost = ++kind_scopes::made;
  }
  ~kind_scope() {
    innermost_ = outer_;
    kind_scopes::innermost = number_before_;
  }
  kind_scope(const kind_scope&) = delete;
  kind_scope& operator=(const kind_scope&) = delete;

 private:
  friend class kind_list<Kind>;
  static inline thread_local const kind_scope* innermost_ = nullptr;
  kind_list<Kind>& list_;
  std::vector<Kind> kinds_;
  const kind_scope* outer_ = innermost_;
  std::uint64_t number_before_ = kind_scopes::innermost;
};

}  // namespace wb
