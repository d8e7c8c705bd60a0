#pragma once
// Executors around another one: they count its work, check it or let it fail.
#include <memory>
#include <string>

#include <warpband/exec/executor.hpp>

namespace wb {

/// Passes every call to another executor, in whose memory its arrays are. Override what you observe.
/// Threads: as the other executor, which outlives it.
class forwarding_executor : public executor {
 public:
  explicit forwarding_executor(executor& base) : executor(shares_memory{base}), base_(base) {}
  std::string name() const override { return base_.name(); }
  bool is_device() const noexcept override { return base_.is_device(); }
  std::string description() const override { return base_.description(); }
  std::size_t preferred_items() const override { return base_.preferred_items(); }
  std::size_t preferred_blocks() const override { return base_.preferred_blocks(); }
  void run(const kernel_set& op, const void* args, std::size_t items) override { base_.run(op, args, items); }
  void sync() override { base_.sync(); }
  void upload(void* to, const void* from, std::size_t bytes) override { base_.upload(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { base_.download(to, from, bytes); }
  void fill(void* to, unsigned char value, std::size_t bytes) override { base_.fill(to, value, bytes); }
  bool idle() const override { return base_.idle(); }
  void wait_for(executor& other) override { base_.wait_for(other); }
  std::unique_ptr<executor_timer> make_timer() override { return base_.make_timer(); }
  std::size_t memory_used() const override { return base_.memory_used(); }
  const kernel& build_of(const kernel_set& op) const override { return base_.build_of(op); }

 private:
  executor& base_;
};

}  // namespace wb
