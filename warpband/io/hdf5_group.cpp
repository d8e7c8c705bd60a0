#include <warpband/io/hdf5_group.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace wb {

namespace {

// Of a group's tree; more is a damaged one's.
constexpr std::size_t most_nodes = 1 << 16, most_entries = 1 << 22;

bool get(int file, const hdf5_numbers& numbers, std::uint64_t at, unsigned char* to, std::size_t bytes) {
  if (at > INT64_MAX - numbers.begin) return false;
  return pread(file, to, bytes, static_cast<off_t>(numbers.begin + at)) == static_cast<ssize_t>(bytes);
}

/// Walks the heap, the tree and the entries of a group with a symbol table.
class table_walk {
 public:
  table_walk(int file, const hdf5_numbers& numbers)
      : file_(file), numbers_(numbers), address_(numbers.address_bytes), size_(numbers.size_bytes) {}

  bool sound(std::uint64_t tree, std::uint64_t heap) {
    unsigned char head[32];
    if (!read(heap, head, 8 + 2 * size_ + address_) || std::memcmp(head, "HEAP", 4) != 0) return false;
    if (!sound_heap(little(head + 8 + 2 * size_, address_), little(head + 8, size_),
                    little(head + 8 + size_, size_)))
      return false;
    left_.push_back({tree, any_level});
    for (std::size_t nodes = 0; !left_.empty(); nodes++) {
      const node n = left_.back();
      left_.pop_back();
      if (nodes == most_nodes || !sound(n)) return false;
    }
    return true;
  }

 private:
  static constexpr int any_level = -1;
  struct node {
    std::uint64_t at;
    int level;
  };

  bool read(std::uint64_t at, unsigned char* to, std::size_t bytes) const {
    return get(file_, numbers_, at, to, bytes);
  }

  /// Whether the heap of names is inside the file and its free list ends. `data`: where its bytes are;
  /// `bytes`: how many; `free`: the first free block.
  bool sound_heap(std::uint64_t data, std::uint64_t bytes, std::uint64_t free) {
    struct stat there {};
    if (fstat(file_, &there) != 0) return false;
    const auto file_bytes = static_cast<std::uint64_t>(there.st_size);
    if (numbers_.begin > file_bytes || data > file_bytes - numbers_.begin ||
        bytes > file_bytes - numbers_.begin - data)
      return false;
    constexpr std::uint64_t none = 1;
    unsigned char place[8];
    for (std::uint64_t steps = 0; free != none; steps++) {
      if (steps > bytes / (2 * size_) || free > bytes || bytes - free < 2 * size_) return false;
      if (!read(data + free, place, size_)) return false;
      free = little(place, size_);
    }
    ends_ = 0;
    unsigned char block[4096];
    for (std::uint64_t end = bytes; end > 0;) {
      const std::size_t n = std::min<std::uint64_t>(end, sizeof block);
      if (!read(data + end - n, block, n)) return false;
      for (std::size_t i = n; i-- > 0;)
        if (block[i] == 0) {
          ends_ = end - n + i + 1;
          return true;
        }
      end -= n;
    }
    return true;
  }
  /// Whether a text that begins there ends in the heap.
  bool is_name(std::uint64_t at) const { return at < ends_; }

  bool sound(const node& n) {
    unsigned char head[24];
    if (!read(n.at, head, 8 + 2 * address_) || std::memcmp(head, "TREE", 4) != 0) return false;
    const int level = head[5];
    if (head[4] != 0 || (n.level != any_level && level != n.level)) return false;
    const std::size_t children = little(head + 6, 2);
    if (children == 0) return true;
    std::vector<unsigned char> all(children * (size_ + address_) + size_);
    if (!read(n.at + 8 + 2 * address_, all.data(), all.size())) return false;
    for (std::size_t i = 0; i <= children; i++) {
      const unsigned char* key = all.data() + i * (size_ + address_);
      if (!is_name(little(key, size_))) return false;
      if (i == children) break;
      const std::uint64_t child = little(key + size_, address_);
      if (level > 0)
        left_.push_back({child, level - 1});
      else if (!sound_entries(child))
        return false;
    }
    return left_.size() <= most_nodes;
  }

  bool sound_entries(std::uint64_t at) {
    unsigned char head[8];
    if (!read(at, head, 8) || std::memcmp(head, "SNOD", 4) != 0) return false;
    constexpr std::uint64_t soft_link = 2;
    const std::size_t entries = little(head + 6, 2), bytes = 2 * address_ + 24;
    entries_ += std::max<std::size_t>(1, entries);
    if (entries_ > most_entries) return false;
    std::vector<unsigned char> all(entries * bytes);
    if (!read(at + 8, all.data(), all.size())) return false;
    for (std::size_t i = 0; i < entries; i++) {
      const unsigned char* entry = all.data() + i * bytes;
      if (!is_name(little(entry, address_))) return false;
      const unsigned char* kept = entry + 2 * address_;
      if (little(kept, 4) == soft_link && !is_name(little(kept + 8, 4))) return false;
    }
    return true;
  }

  int file_;
  hdf5_numbers numbers_;
  std::size_t address_, size_;
  std::uint64_t ends_ = 0;   // behind the last 0 of the heap
  std::size_t entries_ = 0;  // seen so far; one for each node that has none
  std::vector<node> left_;
};

bool fit(const hdf5_numbers& n) {
  return n.address_bytes >= 1 && n.address_bytes <= 8 && n.size_bytes >= 1 && n.size_bytes <= 8;
}

}  // namespace

bool is_sound_table(int file, const hdf5_numbers& numbers, std::uint64_t tree, std::uint64_t heap) {
  if (!fit(numbers)) return true;  // libhdf5 refuses them too
  return table_walk(file, numbers).sound(tree, heap);
}

bool is_sound_link(int file, const hdf5_numbers& numbers, std::uint64_t at, std::uint64_t bytes) {
  std::vector<unsigned char> all(std::min<std::uint64_t>(bytes, 1 << 16));
  if (!get(file, numbers, at, all.data(), all.size())) return true;  // beyond the file
  std::size_t next = 0;
  bool inside = true;
  const auto take = [&](std::size_t n) {
    inside = inside && n <= all.size() - next;
    const std::uint64_t value = inside ? little(all.data() + next, std::min<std::size_t>(n, 8)) : 0;
    if (inside) next += n;
    return value;
  };
  constexpr std::uint64_t hard = 0, soft = 1, first_user_defined = 64;
  if (take(1) != 1) return false;  // the version
  const std::uint64_t flags = take(1), type = (flags & 8) != 0 ? take(1) : hard;
  if ((flags & 4) != 0) take(8);                       // when it was made
  if ((flags & 16) != 0 && take(1) > 1) return false;  // ASCII, UTF-8
  const std::uint64_t name = take(std::size_t{1} << (flags & 3));
  if (flags > 31 || (type > soft && type < first_user_defined) || name == 0 || name > all.size())
    return false;
  take(name);
  if (type == hard) {
    take(numbers.address_bytes);
  } else {
    const std::uint64_t value = take(2);
    if (type == soft && value == 0) return false;
    take(value);
  }
  return inside;
}

bool is_sound_root(int file) {
  constexpr char signature[] = "\x89HDF\r\n\x1a\n";
  unsigned char head[128] = {};
  hdf5_numbers numbers;
  struct stat there {};
  if (fstat(file, &there) != 0) return true;
  const auto file_bytes = static_cast<std::uint64_t>(there.st_size);
  while (pread(file, head, 8, static_cast<off_t>(numbers.begin)) == 8 && std::memcmp(head, signature, 8) != 0)
    numbers.begin = numbers.begin == 0 ? 512 : 2 * numbers.begin;
  const std::size_t most =
      std::min<std::uint64_t>(sizeof head, file_bytes - std::min(numbers.begin, file_bytes));
  if (most < 48 || !get(file, numbers, 0, head, most)) return true;  // libhdf5 refuses it
  const unsigned version = head[8];
  numbers.address_bytes = head[version < 2 ? 13 : 9];
  numbers.size_bytes = head[version < 2 ? 14 : 10];
  if (version > 3 || !fit(numbers)) return true;
  const std::size_t address = numbers.address_bytes;
  if (version >= 2) return is_sound_header(file, numbers, little(head + 12 + 3 * address, address));
  // An entry of a symbol table: name, header, what is kept of it, tree, heap.
  const unsigned char* root = head + (version == 0 ? 24 : 28) + 4 * address;
  const unsigned char* kept = root + 2 * address;
  if (!is_sound_header(file, numbers, little(root + address, address))) return false;
  return little(kept, 4) != 1 ||
         is_sound_table(file, numbers, little(kept + 8, address), little(kept + 8 + address, address));
}

}  // namespace wb
