#pragma once
// The executors that benchmarks run on.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <warpband/exec/executor.hpp>

namespace wb::bench {

/// Opened once and kept: opening a CUDA device takes long.
class executor_pool {
 public:
  explicit executor_pool(int cpu_threads) : cpu_threads_(cpu_threads) {}
  /// Another `index` is another stream of the same device.
  executor& get(const std::string& device, std::size_t index = 0) {
    auto& open = open_[device];
    while (open.size() <= index) open.push_back(open_executor(device, cpu_threads_));
    return *open[index];
  }

 private:
  int cpu_threads_;
  std::map<std::string, std::vector<std::unique_ptr<executor>>> open_;
};

}  // namespace wb::bench
