#pragma once
// HARQ buffers that a device keeps itself, so that callers pass an offset instead of a copy. They are in host
// memory.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb_bbdev {

/// Threads: any number, as long as no two use one slot at the same time.
class harq_memory {
 public:
  static constexpr std::size_t slot_bytes = 32768;  // a circular buffer has at most 66 * 384 = 25344 LLRs

  /// Pages are taken when they are first written. Throws std::bad_alloc.
  explicit harq_memory(std::size_t mebibytes);
  ~harq_memory();
  harq_memory(const harq_memory&) = delete;
  harq_memory& operator=(const harq_memory&) = delete;

  std::size_t bytes() const noexcept { return bytes_; }
  bool has(std::uint32_t offset) const noexcept { return offset % slot_bytes == 0 && offset < bytes_; }
  /// `offset` of these: has(offset).
  std::int8_t* slot(std::uint32_t offset) const noexcept { return data_ + offset; }
  /// LLRs that were last stored in the slot.
  std::size_t length(std::uint32_t offset) const noexcept {
    return lengths_[offset / slot_bytes].load(std::memory_order_relaxed);
  }
  void set_length(std::uint32_t offset, std::size_t length) noexcept {
    lengths_[offset / slot_bytes].store(static_cast<std::uint32_t>(length), std::memory_order_relaxed);
  }

 private:
  std::size_t bytes_;
  std::int8_t* data_;
  std::vector<std::atomic<std::uint32_t>> lengths_;
};

}  // namespace wb_bbdev
