#pragma once
// An executor that forwards to another and notes what the started kernels and copies amount to.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <warpband/exec/executor.hpp>

namespace wb::bench {

/// What one call asks of a device.
struct cost {
  struct kernel_cost {
    double flops = 0, bytes = 0;
  };
  std::vector<kernel_cost> kernels;
  double in = 0, out = 0;  // bytes copied from and to the host
  int waits = 0;           // of the host
};

class meter final : public executor {
 public:
  explicit meter(executor& base)
      : executor(std::make_shared<borrowed>(base, false), std::make_shared<borrowed>(base, true)),
        base_(base) {}
  std::string name() const override { return base_.name(); }
  bool is_device() const noexcept override { return base_.is_device(); }
  std::string description() const override { return base_.description(); }
  std::size_t preferred_batch(bool block_per_item) const override {
    return base_.preferred_batch(block_per_item);
  }
  void run(const kernel_set& op, const void* args, std::size_t items) override {
    const kernel& k = base_.build_of(op);
    const double n = static_cast<double>(items);
    seen.kernels.push_back({k.flops(args) * n, k.bytes(args) * n});
    base_.run(op, args, items);
  }
  void sync() override {
    seen.waits++;
    base_.sync();
  }
  void upload(void* to, const void* from, std::size_t n) override {
    seen.in += static_cast<double>(n);
    base_.upload(to, from, n);
  }
  void download(void* to, const void* from, std::size_t n) override {
    seen.out += static_cast<double>(n);
    base_.download(to, from, n);
  }
  const kernel& build_of(const kernel_set& op) const override { return base_.build_of(op); }

  cost seen;

 private:
  /// Memory of the other executor.
  class borrowed final : public memory {
   public:
    borrowed(executor& base, bool host) : base_(base), host_(host) {}
    void* take(std::size_t n) override {
      auto a = host_ ? base_.make_host<unsigned char>(n, 1) : base_.make<unsigned char>(n, 1);
      void* p = a.data();
      std::lock_guard lock(mutex_);
      arrays_.emplace(p, std::move(a));
      return p;
    }
    void give(void* p, std::size_t) noexcept override {
      std::lock_guard lock(mutex_);
      arrays_.erase(p);
    }

   private:
    executor& base_;
    bool host_;
    std::mutex mutex_;
    std::map<void*, array<unsigned char>> arrays_;
  };
  executor& base_;
};

}  // namespace wb::bench
