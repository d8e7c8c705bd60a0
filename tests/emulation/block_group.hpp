#pragma once
// What kernels of emulated blocks need beside their threads: the group of a block, and a CPU that shows what
// a kernel gets.
#include <functional>
#include <utility>

#include <tests/emulation/emulated_block.hpp>
#include <warpband/exec/forwarding.hpp>

namespace wb::emulation {

/// What core/group.hpp has for the block of a CUDA device.
struct block_group {
  int size;
  std::int32_t* word = nullptr;  // for sums
  int rank = static_cast<int>(thread_index.x);
  void sync() const { meet(0, size); }
  bool any(bool x) const { return any_of_block(x); }
  std::int32_t sum_all(std::int32_t x) const {
    return combined([&] { *word += x; });
  }
  std::int32_t xor_all(std::int32_t x) const {
    return combined([&] { *word ^= x; });
  }

 private:
  template <class F>
  std::int32_t combined(F add) const {
    if (rank == 0) *word = 0;
    sync();
    add();
    sync();
    const std::int32_t x = *word;
    sync();
    return x;
  }
};

/// Which calls a test sees: one number or all, and when.
struct watched_calls {
  int number = -1;
  bool after = false;
};
/// Runs kernels on a CPU and shows their arguments.
template <class Args>
class watched_cpu final : public forwarding_executor {
 public:
  watched_cpu(executor& cpu, std::function<void(const Args&)> watch, watched_calls calls = {})
      : forwarding_executor(cpu), watch_(std::move(watch)), calls_(calls) {}
  void run(const kernel_set& op, const void* args, std::size_t items) override {
    const bool seen = calls_.number < 0 || calls_.number == next_;
    next_++;
    if (seen && !calls_.after) watch_(*static_cast<const Args*>(args));
    forwarding_executor::run(op, args, items);
    if (!seen || !calls_.after) return;
    sync();
    watch_(*static_cast<const Args*>(args));
  }

 private:
  std::function<void(const Args&)> watch_;
  watched_calls calls_;
  int next_ = 0;
};

}  // namespace wb::emulation
