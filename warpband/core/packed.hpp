#pragma once
// Numbers, texts and lists as bytes, for messages between processes of one build. A list and a text begin
// with their length in 64 bits, an optional value with one byte that says whether it is there.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>

namespace wb {

/// Bytes end before the value that is read, or hold a length that cannot be.
class unpack_error : public error {
 public:
  using error::error;
};

template <class T>
concept packed_number = std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>;

/// Appends values to `Bytes`: std::string, or a vector of char or std::byte.
/// Threads: one at a time.
template <class Bytes>
class packer {
 public:
  template <packed_number T>
  packer& operator<<(const T& value) {
    append(&value, sizeof value);
    return *this;
  }
  packer& operator<<(const std::string& text) {
    *this << std::uint64_t{text.size()};
    append(text.data(), text.size());
    return *this;
  }
  template <class T>
  packer& operator<<(const std::vector<T>& list) {
    *this << std::uint64_t{list.size()};
    if constexpr (packed_number<T>)
      append(list.data(), list.size() * sizeof(T));
    else
      for (const T& value : list) *this << value;
    return *this;
  }
  template <class T>
  packer& operator<<(const std::optional<T>& value) {
    *this << static_cast<char>(value.has_value());
    if (value) *this << *value;
    return *this;
  }
  /// Bytes without a length: they end where the message does.
  packer& append(const void* from, std::size_t bytes) {
    const auto* first = static_cast<const typename Bytes::value_type*>(from);
    bytes_.insert(bytes_.end(), first, first + bytes);
    return *this;
  }
  Bytes take() { return std::exchange(bytes_, {}); }

 private:
  Bytes bytes_;
};

/// Reads values back, of bytes that it owns (std::string, a vector) or not (std::string_view). Throws
/// unpack_error with the text `broken` for bytes that no packer made; it then took no more memory than a few
/// times their number.
/// Threads: one at a time.
template <class Bytes>
class unpacker {
 public:
  unpacker(Bytes bytes, std::string broken) : bytes_(std::move(bytes)), broken_(std::move(broken)) {}
  /// Moves copy: one that was moved from stays as it was.
  unpacker(const unpacker&) = default;
  unpacker& operator=(const unpacker&) = default;

  template <packed_number T>
  unpacker& operator>>(T& value) {
    need(1, sizeof value);
    std::memcpy(&value, next(sizeof value), sizeof value);
    return *this;
  }
  unpacker& operator>>(std::string& text) {
    const std::size_t size = length(1);
    text.assign(next(size), size);
    return *this;
  }
  template <class T>
  unpacker& operator>>(std::vector<T>& list) {
    if constexpr (packed_number<T>) {
      list.resize(length(sizeof(T)));
      const std::size_t bytes = list.size() * sizeof(T);
      if (bytes != 0) std::memcpy(list.data(), next(bytes), bytes);
    } else {
      list.clear();
      for (std::size_t n = length(1); n != 0; n--) *this >> list.emplace_back();
    }
    return *this;
  }
  template <class T>
  unpacker& operator>>(std::optional<T>& value) {
    value.reset();
    if (get<char>() != 0) *this >> value.emplace();
    return *this;
  }
  template <class T>
  T get() {
    T value{};
    *this >> value;
    return value;
  }

  bool at_end() const noexcept { return at_ == bytes_.size(); }
  /// Throws unpack_error where bytes are left.
  void finish() const {
    if (!at_end()) throw unpack_error(broken_);
  }

 private:
  void need(std::uint64_t values, std::size_t bytes) const {
    if (values > (bytes_.size() - at_) / bytes) throw unpack_error(broken_);
  }
  /// Of a list whose values take at least so many bytes each.
  std::size_t length(std::size_t bytes) {
    const auto values = get<std::uint64_t>();
    need(values, bytes);
    return static_cast<std::size_t>(values);
  }
  const char* next(std::size_t bytes) {
    at_ += bytes;
    return reinterpret_cast<const char*>(bytes_.data()) + (at_ - bytes);
  }

  Bytes bytes_;
  std::string broken_;
  std::size_t at_ = 0;
};

}  // namespace wb
