#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <warpband/exec/executor.hpp>

namespace wb {

class thread_pool;

/// Instruction sets that this build has and this machine can run, narrowest first.
std::vector<isa> available_isas();
const char* isa_name(isa) noexcept;
/// Throws argument_error for an unknown name, device_error for a set that is not built or not there.
isa isa_from_name(const std::string& name);

struct cpu_options {
  std::optional<int> threads = {};       // 1..4096; absent: all cores
  std::optional<isa> instructions = {};  // unset: environment variable WARPBAND_ISA, else the widest there is
  /// Asked by the thread that calls run, about every 50 microseconds. Where it says true, run throws
  /// interrupted_error as soon as all threads have ended their piece; what the call writes means nothing
  /// then.
  std::function<bool()> interrupted = {};
};

/// A call ended because `cpu_options::interrupted` said so.
class interrupted_error : public error {
 public:
  interrupted_error() : error("the call was interrupted") {}
};

/// Runs ops on the cores of this machine.
/// Threads: one at a time; `run` throws error while another thread's call runs. In a process that was forked
/// after the constructor `run` throws device_error: open another executor there.
class cpu final : public executor {
 public:
  explicit cpu(cpu_options options = {});
  ~cpu() override;
  int threads() const noexcept;
  isa instructions() const noexcept { return isa_; }

  std::string name() const override { return "cpu"; }
  bool is_device() const noexcept override { return false; }
  std::string description() const override;
  std::size_t preferred_items() const override;
  std::size_t preferred_blocks() const override { return preferred_items(); }
  void run(const kernel_set& op, const void* args, std::size_t items) override;
  void sync() override {}
  void upload(void* to, const void* from, std::size_t bytes) override;
  void download(void* to, const void* from, std::size_t bytes) override;
  void fill(void* to, unsigned char value, std::size_t bytes) override;
  const kernel& build_of(const kernel_set& op) const override;

 private:
  isa isa_;
  std::function<bool()> interrupted_;
  std::unique_ptr<thread_pool> pool_;
  std::vector<array<unsigned char>> arenas_;  // one per thread
};

}  // namespace wb
