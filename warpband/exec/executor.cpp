#include <warpband/exec/executor.hpp>

#include <charconv>
#include <chrono>

#include <warpband/core/printable.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>

namespace wb {
namespace {

class host_timer final : public executor_timer {
 public:
  explicit host_timer(executor& exec) : exec_(exec) {}
  void start() override { first_ = now(); }
  void stop() override { last_ = now(); }
  double seconds() override { return std::chrono::duration<double>(last_ - first_).count(); }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point now() {
    exec_.sync();
    return clock::now();
  }
  executor& exec_;
  clock::time_point first_, last_;
};

}  // namespace

executor::executor(std::shared_ptr<memory> device, std::shared_ptr<memory> host)
    : memory_(std::move(device)), host_memory_(std::move(host)) {}

std::unique_ptr<executor_timer> executor::make_timer() { return std::make_unique<host_timer>(*this); }

void refuse_moved_from() { throw error("this object was moved from"); }

std::unique_ptr<executor> open_executor(const std::string& device, int threads) {
  if (device == "cpu")
    return std::make_unique<cpu>(
        cpu_options{.threads = threads != 0 ? std::optional(threads) : std::nullopt, .instructions = {}});
  return open_cuda(device);
}

std::unique_ptr<cuda> open_cuda(const std::string& device) {
  if (device == "cpu") return nullptr;
  if (device == "cuda") return std::make_unique<cuda>();
  if (device.starts_with("cuda:")) {
    int index = -1;
    const char *first = device.data() + 5, *last = device.data() + device.size();
    const auto [end, status] = std::from_chars(first, last, index);
    if (status == std::errc{} && end == last && first != last && index >= 0)
      return std::make_unique<cuda>(cuda_options{.device = index});
  }
  throw argument_error("device", "\"" + printable(device) + "\"", "\"cpu\" or \"cuda:N\"");
}

}  // namespace wb
