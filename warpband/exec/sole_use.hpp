#pragma once
// An executor serves one thread at a time: a second one is told so.
#include <atomic>

#include <warpband/core/error.hpp>

namespace wb {

/// Holds what serves one thread at a time, as long as it lives. Throws error where another call holds it.
/// Threads: one at a time for each object; any number of objects may ask for one `in_use` at once.
class sole_use {
 public:
  explicit sole_use(std::atomic<bool>& in_use) : in_use_(in_use) {
    if (in_use.exchange(true, std::memory_order_acquire))
      throw error("two threads use one executor at once: give each thread its own");
  }
  ~sole_use() { in_use_.store(false, std::memory_order_release); }
  sole_use(const sole_use&) = delete;
  sole_use& operator=(const sole_use&) = delete;

 private:
  std::atomic<bool>& in_use_;
};

}  // namespace wb
