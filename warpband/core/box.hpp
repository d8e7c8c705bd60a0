#pragma once
// Settings of a kind that its users need not know: of a code, a channel, a detector, also of a user's own.
//
//   box b(kbest_settings{.survivors = 16});
//   b.get<kbest_settings>().survivors;  // 16
//
// A box shares its content, which does not change: copies are cheap, and threads may read them. `boxed` makes
// settings of the content settings of the box; `set` and `edit` put a new content in its place.
#include <concepts>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/setting.hpp>

namespace wb {

/// Settings of one type, or nothing.
/// Threads: any number may read a box and its copies; one may change a box that no other reads.
class box {
 public:
  /// Nothing; equal to other empty boxes.
  box() = default;
  box(const box&) = default;  // a move is a copy too: no box loses its content
  box& operator=(const box&) = default;
  template <class T>
    requires(!std::same_as<T, box> && std::equality_comparable<T>)
  explicit box(T content) : content_(std::make_shared<const content_of<T>>(std::move(content))) {}

  /// The content, or null if it is none of T.
  template <class T>
  const T* find() const noexcept {
    const auto* c = dynamic_cast<const content_of<T>*>(content_.get());
    return c != nullptr ? &c->value : nullptr;
  }
  /// The content. Throws error if it is none of T.
  template <class T>
  const T& get() const {
    if (const T* value = find<T>()) return *value;
    throw error(std::string("settings of type ") + typeid(T).name() + " expected, but the box has " +
                (content_ ? content_->type().name() : "none"));
  }
  /// A new copy of the content for this box alone, to be changed before the box is copied. Throws as `get`.
  template <class T>
  T& edit() {
    auto copy = std::make_shared<content_of<T>>(get<T>());
    T& value = copy->value;
    content_ = std::move(copy);
    return value;
  }
  bool operator==(const box& other) const {
    return content_ == other.content_ || (content_ && other.content_ && content_->equals(*other.content_));
  }

 private:
  struct any_content {
    virtual ~any_content() = default;
    virtual const std::type_info& type() const noexcept = 0;
    virtual bool equals(const any_content& other) const = 0;
  };
  template <class T>
  struct content_of final : any_content {
    explicit content_of(T v) : value(std::move(v)) {}
    const std::type_info& type() const noexcept override { return typeid(T); }
    bool equals(const any_content& other) const override {
      const auto* same = dynamic_cast<const content_of*>(&other);
      return same != nullptr && same->value == value;
    }
    T value;
  };
  std::shared_ptr<const any_content> content_;
};

/// The settings in a box. An empty box gives the defaults of C.
template <class C>
const C& held(const box& b) {
  static const C initial;
  return b == box() ? initial : b.get<C>();
}

/// The settings of a content, as those of its box. An empty box counts as T{}.
template <class T>
std::vector<setting_of<box>> boxed(const std::vector<setting_of<T>>& settings) {
  const auto content = [](const box& b) { return b == box() ? T{} : b.get<T>(); };
  std::vector<setting_of<box>> result;
  for (const setting_of<T>& s : settings)
    result.push_back({s.name, s.kind, s.allowed, s.text, s.words,
                      [content, set = s.set](box& b, const setting_value& v) {
                        T changed = content(b);
                        set(changed, v);
                        b = box(std::move(changed));
                      },
                      [content, get = s.get](const box& b) { return get(content(b)); }, s.conditions, s.group,
                      s.of_links, s.brief, s.open, s.absent});
  return result;
}

}  // namespace wb
