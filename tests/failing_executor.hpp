#pragma once
// A CPU that goes by the name of a device and fails as one.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <warpband/core/error.hpp>
#include <warpband/exec/cpu.hpp>

namespace wb::testing {

/// Threads: as any executor.
class failing_executor final : public executor {
 public:
  explicit failing_executor(std::string name)
      : executor(std::make_shared<heap>(), std::make_shared<heap>()), name_(std::move(name)) {}
  /// So many more ops run; with the next one the device is gone, and every call from there on fails.
  void fail_after(int ops) { left_ = ops; }
  bool gone() const { return gone_; }

  std::string name() const override { return name_; }
  bool is_device() const noexcept override { return false; }
  std::string description() const override { return name_; }
  std::size_t preferred_batch(bool block_per_item) const override {
    return cpu_.preferred_batch(block_per_item);
  }
  void run(const kernel_set& op, const void* args, std::size_t items) override {
    if (left_ >= 0 && left_-- == 0) gone_ = true;
    check();
    cpu_.run(op, args, items);
  }
  void sync() override { check(); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    check(), cpu_.upload(to, from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    check(), cpu_.download(to, from, bytes);
  }
  const kernel& build_of(const kernel_set& op) const override { return cpu_.build_of(op); }

 private:
  struct heap final : memory {
    void* take(std::size_t bytes) override {
      void* const p = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
      if (p == nullptr) throw memory_error(bytes, "the heap");
      return p;
    }
    void give(void* p, std::size_t) noexcept override { std::free(p); }
  };
  void check() const {
    if (gone_) throw device_error("an illegal memory access was encountered");
  }

  std::string name_;
  cpu cpu_{cpu_options{.threads = 1, .instructions = {}}};
  int left_ = -1;  // ops, or no end
  bool gone_ = false;
};

}  // namespace wb::testing
