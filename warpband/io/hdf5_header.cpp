#include <warpband/io/hdf5_header.hpp>

#include <unistd.h>

#include <cstring>
#include <deque>

#include <warpband/io/hdf5_group.hpp>

namespace wb {

namespace {

constexpr unsigned link_info_message = 2, link_message = 6, layout_message = 8, attribute_message = 12,
                   continuation_message = 16, table_message = 17, attribute_info_message = 21;
constexpr int most_blocks = 4096, most_messages = 1 << 16;  // of one header; more is a damaged one's

/// Reads a header's blocks one after the other.
class header_walk {
 public:
  header_walk(int file, const hdf5_numbers& numbers) : file_(file), numbers_(numbers) {}

  bool sound(std::uint64_t address) {
    if (!first_block(address)) return true;
    for (int blocks = 0; !left_.empty(); blocks++) {
      if (blocks == most_blocks) return false;
      const block b = left_.front();
      left_.pop_front();
      if (!sound(b)) return false;
    }
    return true;
  }

 private:
  struct block {
    std::uint64_t first, end;  // of its messages
  };

  bool get(std::uint64_t at, unsigned char* to, std::size_t bytes) const {
    if (at > INT64_MAX - numbers_.begin) return false;
    return pread(file_, to, bytes, static_cast<off_t>(numbers_.begin + at)) == static_cast<ssize_t>(bytes);
  }
  void add(std::uint64_t first, std::uint64_t bytes) {
    if (bytes <= UINT64_MAX - first) left_.push_back({first, first + bytes});
  }

  /// False where there is no header.
  bool first_block(std::uint64_t address) {
    unsigned char head[16];
    if (!get(address, head, 16)) return false;
    newer_ = std::memcmp(head, "OHDR", 4) == 0;
    if (!newer_) {
      add(address + 16, little(head + 8, 4));
      return head[0] == 1;
    }
    const unsigned flags = head[5];
    const std::uint64_t at = address + 6 + ((flags & 0x20) != 0 ? 16 : 0) + ((flags & 0x10) != 0 ? 4 : 0);
    const std::size_t width = std::size_t{1} << (flags & 3);
    if (!get(at, head, width)) return false;
    message_head_ = (flags & 4) != 0 ? 6 : 4;
    add(at + width, little(head, width));
    return true;
  }

  bool sound(const block& b) {
    const std::size_t head_bytes = newer_ ? message_head_ : 8;
    for (std::uint64_t at = b.first; at < b.end && b.end - at >= head_bytes; messages_++) {
      unsigned char head[8];
      if (messages_ == most_messages) return false;
      if (!get(at, head, head_bytes)) return true;  // beyond the file
      const auto type = static_cast<unsigned>(newer_ ? head[0] : little(head, 2));
      const std::uint64_t bytes = little(head + (newer_ ? 1 : 2), 2);
      const bool shared = (head[newer_ ? 3 : 4] & 2) != 0;  // it is elsewhere
      at += head_bytes;
      if (type == layout_message && !shared && !sound_layout(at)) return false;
      if (type == attribute_message && !shared && !sound_attribute(at, bytes)) return false;
      if (type == link_message && !shared && !is_sound_link(file_, numbers_, at, bytes)) return false;
      if (type == table_message && !shared && !sound_table(at)) return false;
      if (type == link_info_message && !shared && !sound_index(at, 8)) return false;
      if (type == attribute_info_message && !shared && !sound_index(at, 2)) return false;
      if (type == continuation_message) follow(at);
      at += bytes;
    }
    return true;
  }

  void follow(std::uint64_t at) {
    unsigned char where[16];
    if (!get(at, where, numbers_.address_bytes + numbers_.size_bytes)) return;
    const std::uint64_t first = little(where, numbers_.address_bytes),
                        bytes = little(where + numbers_.address_bytes, numbers_.size_bytes);
    if (!newer_)
      add(first, bytes);
    else if (bytes >= 8 && first <= UINT64_MAX - 4)
      add(first + 4, bytes - 8);  // between "OCHK" and a check sum
  }

  bool sound_table(std::uint64_t at) const {
    unsigned char where[16];
    const std::size_t bytes = numbers_.address_bytes;
    return !get(at, where, 2 * bytes) ||
           is_sound_table(file_, numbers_, little(where, bytes), little(where + bytes, bytes));
  }

  /// Whether the heap of a group's links or an object's attributes is there, and what lists them by name and
  /// by age; or none of it is. `most`: bytes of the greatest age.
  bool sound_index(std::uint64_t at, std::size_t most) const {
    unsigned char head[2], where[24];
    if (!get(at, head, 2)) return true;
    const unsigned flags = head[1];
    const std::size_t bytes = numbers_.address_bytes, all = (flags & 2) != 0 ? 3 : 2;
    if (!get(at + 2 + ((flags & 1) != 0 ? most : 0), where, all * bytes)) return true;
    const std::uint64_t none = UINT64_MAX >> (64 - 8 * bytes), heap = little(where, bytes);
    if (heap == none) return true;  // they are in the header
    for (std::size_t i = 0; i < all; i++) {
      unsigned char signature[4];
      if (!get(little(where + i * bytes, bytes), signature, 4) ||
          std::memcmp(signature, i == 0 ? "FRHP" : "BTHD", 4) != 0)
        return false;
    }
    return true;
  }

  bool sound_layout(std::uint64_t at) const {
    unsigned char head[4];
    if (!get(at, head, 4)) return true;
    const unsigned version = head[0], storage = head[version < 3 ? 2 : 1],
                   dimensions = head[version < 3    ? 1
                                     : version == 3 ? 2
                                                    : 3];
    return storage != 2 || (dimensions >= 2 && dimensions <= 33);
  }

  /// Whether name, type, shape and value of an attribute are inside of its message.
  bool sound_attribute(std::uint64_t at, std::uint64_t bytes) const {
    unsigned char head[8];
    if (bytes < 8 || !get(at, head, 8)) return bytes >= 8;
    const unsigned version = head[0];
    const auto padded = [version](std::uint64_t n) { return version == 1 ? (n + 7) / 8 * 8 : n; };
    const std::uint64_t name = padded(little(head + 2, 2)), type = padded(little(head + 4, 2)),
                        space = padded(little(head + 6, 2)), first = version == 3 ? 9 : 8,
                        used = first + name + type + space;
    unsigned char end = 1;  // of the name, whose size counts it
    if (used > bytes || !get(at + first + little(head + 2, 2) - 1, &end, 1) || end != 0) return false;
    if (version > 1 && (head[1] & 3) != 0) return true;  // type or shape are elsewhere
    unsigned char size[4];
    if (type < 8 || !get(at + first + name + 4, size, 4)) return false;
    const std::uint64_t values = points(at + first + name + type, space), left = bytes - used;
    return values == 0 || little(size, 4) <= left / values;
  }

  /// Values of a shape of so many bytes; more than any message has where it is damaged.
  std::uint64_t points(std::uint64_t at, std::uint64_t bytes) const {
    constexpr std::uint64_t none = UINT64_MAX;
    unsigned char head[4], extent[8];
    if (bytes < 4 || !get(at, head, 4)) return none;
    const std::uint64_t first = head[0] == 1 ? 8 : 4, axes = head[1];
    if (head[0] != 1 && head[3] == 2) return 0;  // a null space
    if (first + axes * numbers_.size_bytes > bytes) return none;
    std::uint64_t n = 1;
    for (std::uint64_t i = 0; i < axes; i++) {
      if (!get(at + first + i * numbers_.size_bytes, extent, numbers_.size_bytes) ||
          __builtin_mul_overflow(n, little(extent, numbers_.size_bytes), &n))
        return none;
    }
    return n;
  }

  int file_;
  hdf5_numbers numbers_;
  bool newer_ = false;            // version 2, whose messages have shorter heads
  std::size_t message_head_ = 4;  // then
  int messages_ = 0;
  std::deque<block> left_;
};

}  // namespace

bool is_sound_header(int file, const hdf5_numbers& numbers, std::uint64_t address) {
  if (numbers.address_bytes < 1 || numbers.address_bytes > 8 || numbers.size_bytes > 8)
    return true;  // libhdf5 refuses them too
  return header_walk(file, numbers).sound(address);
}

}  // namespace wb
