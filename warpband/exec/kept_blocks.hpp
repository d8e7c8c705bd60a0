#pragma once
// Memory that is kept when it is given back, to be given out again: what stands behind an executor's arrays
// where allocating is slow. It knows nothing of devices.
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <unordered_map>

namespace wb {

/// Blocks by size. Sizes are rounded up so that similar requests share. Not for several threads at a time.
///
/// A *hold* is for work that was recorded with the addresses of blocks: while there is one, no block that was
/// out when the last hold began is given out again. So such work finds what it wrote there, and does not
/// write to other users' memory. Blocks that came later are given out again as ever: what holds keep is
/// bounded.
class kept_blocks {
 public:
  kept_blocks() = default;
  kept_blocks(const kept_blocks&) = delete;
  kept_blocks& operator=(const kept_blocks&) = delete;
  /// One that is kept, or allocate(bytes), which may return nullptr; then so does this.
  template <class Allocate>
  void* take(std::size_t bytes, const Allocate& allocate) {
    void* p = nullptr;
    if (const auto i = kept_.find(rounded(bytes)); i != kept_.end()) {
      p = i->second;
      kept_.erase(i);
    } else {
      p = allocate(rounded(bytes));
      if (p == nullptr) return nullptr;
    }
    try {
      out_[p] = ++taken_;
    } catch (const std::bad_alloc&) {
      keep(kept_, rounded(bytes), p);
      throw;
    }
    return p;
  }
  /// What take() returned for so many bytes. False where it could not be kept: the caller frees it.
  bool give(void* p, std::size_t bytes) noexcept {
    const auto i = out_.find(p);
    const bool held = holds_ != 0 && i != out_.end() && i->second <= held_until_;
    if (i != out_.end()) out_.erase(i);
    return keep(held ? held_ : kept_, rounded(bytes), p);
  }
  void hold() noexcept {
    holds_++;
    held_until_ = taken_;
  }
  void release() noexcept {
    if (--holds_ == 0) kept_.merge(held_);
  }
  /// Frees what is kept and not held.
  template <class Free>
  void clear(const Free& free) noexcept {
    for (const auto& k : kept_) free(k.second);
    kept_.clear();
  }
  bool empty() const noexcept { return kept_.empty(); }
  /// A multiple of 512, up to a quarter more from 2048 on. `bytes` is at most PTRDIFF_MAX.
  static std::size_t rounded(std::size_t bytes) noexcept {
    std::size_t unit = 512;
    while (unit < bytes / 8) unit *= 2;
    return (bytes + unit - 1) / unit * unit;
  }

 private:
  using blocks = std::multimap<std::size_t, void*>;
  static bool keep(blocks& to, std::size_t bytes, void* p) noexcept {
    try {
      to.emplace(bytes, p);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  blocks kept_, held_;
  std::unordered_map<void*, std::uint64_t> out_;  // when each was taken
  std::uint64_t taken_ = 0, held_until_ = 0;
  std::size_t holds_ = 0;
};

}  // namespace wb
