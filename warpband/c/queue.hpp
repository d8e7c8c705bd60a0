#pragma once
// A queue of operations: submitted by one thread, polled by another.
#include <cstddef>
#include <cstdint>

#include <warpband/c/warpband.h>

/// Threads: one may submit and one may poll or wait, at the same time.
struct wb_queue {
 public:
  virtual ~wb_queue() = default;
  wb_queue(const wb_queue&) = delete;
  wb_queue& operator=(const wb_queue&) = delete;
  wb_operation operation() const noexcept { return operation_; }
  /// How many of n structures were taken. Throws argument_error.
  virtual std::size_t submit(const void* ops, std::size_t n) = 0;
  virtual std::size_t poll(wb_done* done, std::size_t capacity) noexcept = 0;
  /// Whether a result came in time, or none is expected.
  virtual bool wait(std::uint64_t nanoseconds) noexcept = 0;

 protected:
  explicit wb_queue(wb_operation operation) : operation_(operation) {}

 private:
  wb_operation operation_;
};
