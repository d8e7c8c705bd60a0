#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <warpband/exec/executor.hpp>

namespace wb {

/// A CUDA device as `warpband info` shows it.
struct cuda_device_info {
  int index = 0;
  std::string name;
  int major = 0, minor = 0, multiprocessors = 0;
  std::size_t memory_bytes = 0, shared_bytes = 0;
  int clock_mhz = 0;            // the highest its multiprocessors run at
  int driver = 0, runtime = 0;  // versions of CUDA, 13000 for 13.0
  std::string pci_bus_id;       // "0000:65:00.0"
};
/// True where the library was built with CUDA.
bool has_cuda() noexcept;
/// The devices of this machine; empty without CUDA, without a driver or without a device.
std::vector<cuda_device_info> cuda_devices();

struct cuda_options {
  int device = 0;
  void* stream =
      nullptr;  // a cudaStream_t of the caller's to queue on, which outlives this; null: an own one
};

class cuda_event;

/// Runs ops on one stream of one CUDA device. The caller's current device is as before after each call. The
/// constructor throws device_error when the library was built without CUDA or the device is not there.
/// Threads: one at a time; `run` throws error while another thread's call of it is under way.
class cuda final : public executor {
 public:
  explicit cuda(cuda_options options = {});
  ~cuda() override;
  std::string name() const override;
  bool is_device() const noexcept override { return true; }
  std::string description() const override;
  std::size_t preferred_items() const override;
  std::size_t preferred_blocks() const override;
  void run(const kernel_set& op, const void* args, std::size_t items) override;
  void sync() override;
  void upload(void* to, const void* from, std::size_t bytes) override;
  void download(void* to, const void* from, std::size_t bytes) override;
  void fill(void* to, unsigned char value, std::size_t bytes) override;
  bool idle() const override;
  void wait_for(executor& other) override;
  std::unique_ptr<executor_timer> make_timer() override;
  std::size_t memory_used() const override;
  const kernel& build_of(const kernel_set& op) const override;
  /// The cudaStream_t all work is queued on.
  void* stream() const noexcept { return stream_; }
  const cuda_device_info& device() const noexcept { return info_; }
  /// Makes its device the calling thread's current one, for which each call is a little quicker then: a
  /// thread that uses this device alone calls it once. Throws device_error.
  void select() const;
  /// Queues a call of `f` on a thread of CUDA's, where it must not call CUDA and should not wait. It is not
  /// made where work before it failed.
  void notify(void (*f)(void*), void* data);

 private:
  friend class cuda_graph;
  cuda(cuda_options options, std::shared_ptr<memory> device);
  cuda_device_info info_;
  std::shared_ptr<memory> device_memory_;
  void* stream_ = nullptr;
  bool owns_stream_ = true;
  array<unsigned char> workspace_;
  std::unique_ptr<cuda_event> queued_;  // what others wait for; made by the first that does
  std::atomic<bool> in_use_{false};
};

/// Opens "cuda:N" ("cuda" is "cuda:0"); null for "cpu". Throws as open_executor.
std::unique_ptr<cuda> open_cuda(const std::string& device);

/// A place in what is queued on a stream, for others to wait for: the host, or another stream of any device.
/// Streams are those of a `cuda`, or any cudaStream_t of the event's device (record) or of any (hold).
/// Threads: one at a time.
class cuda_event {
 public:
  /// timed: us_since can tell when it was reached. Throws device_error.
  explicit cuda_event(int device, bool timed = false);
  explicit cuda_event(const cuda& exec) : cuda_event(exec.device().index) {}
  ~cuda_event();
  cuda_event(const cuda_event&) = delete;
  cuda_event& operator=(const cuda_event&) = delete;
  /// The place is behind all that is queued there now. Throws device_error.
  void record(cuda& exec) { record(exec.stream()); }
  void record(void* stream);
  /// Whether the work before it is done; true before the first record(). Throws device_error where it failed.
  bool reached() const;
  /// What is queued there from now on waits for it; the host does not. Throws device_error.
  void hold(cuda& exec) const { hold(exec.stream()); }
  void hold(void* stream) const;
  /// Microseconds by the device's clock from another place to this one; below 0 where the other one was
  /// reached later. Both are timed, of one device, were recorded and are reached, else device_error. To about
  /// half a microsecond, or to one part in 16 million of long times.
  double us_since(const cuda_event& other) const;

 private:
  int device_;
  void* event_ = nullptr;
};

/// What was queued on a `cuda` once, to be queued again in one go: the same kernels with the same arguments,
/// and copies between the same addresses. As long as it lives, memory of the executor's device that was in
/// use during recording is not given to other users. This holds even if it is released: if a larger batch
/// makes a workspace grow, the graph keeps the old one. Host memory is not kept.
/// Threads: one at a time.
class cuda_graph {
 public:
  cuda_graph() = default;
  cuda_graph(cuda_graph&& other) noexcept { *this = std::move(other); }
  cuda_graph& operator=(cuda_graph&& other) noexcept;
  ~cuda_graph();
  /// Records what `queue` queues on `exec`, and nothing runs. It also records other executors that wait for
  /// an event recorded there and for which `exec` waits in the end. The same calls must have run before, so
  /// that their tables and their workspace are there. An array that `queue` makes must outlive the graph: one
  /// that it gives back while it is recorded goes to others. Throws device_error, and what `queue` throws.
  void record(cuda& exec, const std::function<void()>& queue);
  bool recorded() const noexcept { return graph_ != nullptr; }
  /// Queues it all, on the executor that it was recorded on. Throws device_error; error for another one.
  void run(cuda& exec) const;

 private:
  void* graph_ = nullptr;  // cudaGraphExec_t
  int device_ = 0;
  std::shared_ptr<memory> held_;
};

/// The device that memory is on; -1 for host memory and what CUDA does not know.
int cuda_device_of(const void* p) noexcept;

}  // namespace wb
