#pragma once
// A device of warpband.h: what its calls run on.
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <warpband/c/warpband.h>
#include <warpband/c/operations.hpp>
#include <warpband/exec/executor.hpp>

namespace wb::c {

/// What one call at a time runs on: an executor (threads of the CPU, or a stream), and the runners of code
/// blocks with their memory.
/// Threads: one at a time.
struct lane {
  explicit lane(std::unique_ptr<executor> made) : exec(std::move(made)) {}
  std::unique_ptr<executor> exec;
  /// That of an operation, made at its first use.
  template <class Op>
  typename Op::runner& runner() {
    auto& kept = std::get<std::unique_ptr<typename Op::runner>>(runners);
    if (!kept) kept = std::make_unique<typename Op::runner>();
    return *kept;
  }

 private:
  std::tuple<std::unique_ptr<ldpc_block_decoder>, std::unique_ptr<ldpc_block_encoder>,
             std::unique_ptr<turbo_block_decoder>, std::unique_ptr<turbo_block_encoder>>
      runners;
};

/// A lane that a call has to itself. It goes back to its device with give_back(); one that is dropped
/// instead, as by an exception, is closed: what failed on it is not used again.
/// Threads: one at a time.
class lease {
 public:
  lease() = default;
  lease(wb_device& device, std::unique_ptr<lane> taken) : device_(&device), lane_(std::move(taken)) {}
  lane* operator->() const noexcept { return lane_.get(); }
  executor& exec() const noexcept { return *lane_->exec; }
  void give_back() noexcept;

 private:
  wb_device* device_ = nullptr;
  std::unique_ptr<lane> lane_;
};

}  // namespace wb::c

/// It has as many lanes as calls ran on it at the same time. The last one given back is taken first, as its
/// memory is warm.
/// Threads: any number.
struct wb_device {
 public:
  /// Throws argument_error, device_error.
  explicit wb_device(const char* name);
  /// Throws device_error, memory_error.
  wb::c::lease take();
  void give(std::unique_ptr<wb::c::lane> lane) noexcept;
  bool is_device() const noexcept { return is_device_; }
  const char* description() const noexcept { return description_.c_str(); }

 private:
  std::unique_ptr<wb::c::lane> open() const;
  std::string name_, description_;
  int threads_ = 0;
  bool is_device_ = false;
  std::mutex mutex_;
  std::size_t lanes_ = 0;
  std::vector<std::unique_ptr<wb::c::lane>> free_;  // has room for all
};

namespace wb::c {

/// A lane until the object goes, as the soft buffers are those of its executor.
/// Threads: one at a time.
class kept_lane {
 public:
  explicit kept_lane(wb_device& device) : lane_(device.take()) {}
  ~kept_lane() {
    try {
      lane_.exec().sync();
    } catch (...) {
      return;  // it failed and is closed
    }
    lane_.give_back();
  }
  kept_lane(const kept_lane&) = delete;
  kept_lane& operator=(const kept_lane&) = delete;
  executor& exec() const noexcept { return lane_.exec(); }

 private:
  lease lane_;
};

}  // namespace wb::c
