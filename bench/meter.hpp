#pragma once
// An executor that forwards to another and notes what the started kernels and copies amount to.
#include <vector>

#include <warpband/exec/forwarding.hpp>

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

class meter final : public forwarding_executor {
 public:
  using forwarding_executor::forwarding_executor;
  void run(const kernel_set& op, const void* args, std::size_t items) override {
    const kernel& k = build_of(op);
    const double n = static_cast<double>(items);
    seen.kernels.push_back({k.flops(args) * n, k.bytes(args) * n});
    forwarding_executor::run(op, args, items);
  }
  void sync() override {
    seen.waits++;
    forwarding_executor::sync();
  }
  void upload(void* to, const void* from, std::size_t bytes) override {
    seen.in += static_cast<double>(bytes);
    forwarding_executor::upload(to, from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    seen.out += static_cast<double>(bytes);
    forwarding_executor::download(to, from, bytes);
  }

  cost seen;
};

}  // namespace wb::bench
