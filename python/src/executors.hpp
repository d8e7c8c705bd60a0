#pragma once
// Executors as Python holds them: one call at a time, and whole again in the child of a fork.
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>

#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/exec/executor.hpp>

namespace wb::python {

/// How often this process is the child of a fork: threads and CUDA contexts stay with the parent.
unsigned forks_so_far() noexcept;

class executor_ref {
 public:
  /// A CPU; nothing: the widest instruction set, or what WARPBAND_ISA says. Throws argument_error,
  /// device_error.
  executor_ref(int threads, std::optional<std::string> instructions);
  /// A device and a cudaStream_t of the caller's, or 0 for a stream of its own. Throws device_error.
  static std::unique_ptr<executor_ref> cuda(int device, std::uintptr_t stream);
  executor_ref(const executor_ref&) = delete;
  executor_ref& operator=(const executor_ref&) = delete;
  ~executor_ref();

  int device() const noexcept { return device_; }  // -1: the CPU
  int threads() const noexcept { return threads_; }
  const std::optional<std::string>& instructions() const noexcept { return instructions_; }
  executor& open();  // with the GIL

  /// The cudaStream_t of a device's executor.
  std::uintptr_t stream();
  /// Keeps an object until what is queued now has run. With the GIL.
  void hold(nanobind::object object);
  /// A number in the memory of the device, copied there at its first use; those used last are kept.
  const float* constant(float value);

  /// Calls f(executor) without the GIL, when no other thread is in a call. A signal whose handler raises ends
  /// a call on a CPU, with what it raised.
  template <class F>
  void run(F&& f) {
    executor& exec = open();
    std::mutex& mutex = *mutex_;
    try {
      nanobind::gil_scoped_release released;
      std::lock_guard lock(mutex);
      std::forward<F>(f)(exec);
    } catch (const interrupted_error&) {
      throw nanobind::python_error();
    }
  }

 private:
  executor_ref();
  void abandon() noexcept;
  int threads_ = 0, device_ = -1;
  std::optional<std::string> instructions_;
  std::unique_ptr<executor> executor_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  unsigned generation_ = 0;
  std::deque<std::pair<std::unique_ptr<cuda_event>, nanobind::object>> held_;
  std::list<std::pair<std::uint32_t, array<float>>> constants_;  // by their bits, the one used last first
};

}  // namespace wb::python
