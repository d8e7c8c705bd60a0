#include <warpband/io/hdf5_header.hpp>

#include <unistd.h>

#include <cstring>
#include <deque>

namespace wb {

namespace {

constexpr unsigned layout_message = 8, continuation_message = 16;
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
  static std::uint64_t little(const unsigned char* from, std::size_t bytes) {
    std::uint64_t n = 0;
    for (std::size_t i = bytes; i-- > 0;) n = n << 8 | from[i];
    return n;
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
      at += head_bytes;
      if (type == layout_message && !sound_layout(at)) return false;
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

  bool sound_layout(std::uint64_t at) const {
    unsigned char head[4];
    if (!get(at, head, 4)) return true;
    const unsigned version = head[0], storage = head[version < 3 ? 2 : 1],
                   dimensions = head[version < 3    ? 1
                                     : version == 3 ? 2
                                                    : 3];
    return storage != 2 || (dimensions >= 2 && dimensions <= 33);
  }

  int file_;
  hdf5_numbers numbers_;
  bool newer_ = false;            // version 2, whose messages have shorter heads
  std::size_t message_head_ = 4;  // then
  int messages_ = 0;
  std::deque<block> left_;
};

}  // namespace

bool has_sound_chunks(int file, const hdf5_numbers& numbers, std::uint64_t address) {
  if (numbers.address_bytes > 8 || numbers.size_bytes > 8) return true;  // libhdf5 refuses them too
  return header_walk(file, numbers).sound(address);
}

}  // namespace wb
