#pragma once
// A CPU that has the name of a device and fails as one.
#include <string>
#include <utility>

#include <warpband/core/error.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/forwarding.hpp>

namespace wb::testing {

/// A CPU of one thread, constructed before the executor that forwards to it.
struct one_thread {
  cpu cpu_{cpu_options{.threads = 1, .instructions = {}}};
};

/// Threads: as any executor.
class failing_executor final : private one_thread, public forwarding_executor {
 public:
  explicit failing_executor(std::string name) : forwarding_executor(cpu_), name_(std::move(name)) {}
  /// `ops` more ops run. With the next one the device is gone, and every call from there on fails.
  void fail_after(int ops) { left_ = ops; }
  bool gone() const { return gone_; }

  std::string name() const override { return name_; }
  std::string description() const override { return name_; }
  void run(const kernel_set& op, const void* args, std::size_t items) override {
    if (left_ >= 0 && left_-- == 0) gone_ = true;
    check();
    forwarding_executor::run(op, args, items);
  }
  void sync() override { check(); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    check(), forwarding_executor::upload(to, from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    check(), forwarding_executor::download(to, from, bytes);
  }
  void fill(void* to, unsigned char value, std::size_t bytes) override {
    check(), forwarding_executor::fill(to, value, bytes);
  }

 private:
  void check() const {
    if (gone_) throw device_error("an illegal memory access was encountered");
  }

  std::string name_;
  int left_ = -1;  // ops, or no end
  bool gone_ = false;
};

}  // namespace wb::testing
