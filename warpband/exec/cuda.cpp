#include <warpband/exec/cuda.hpp>

#if WB_BUILD_CUDA
#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <type_traits>

#include <warpband/exec/kept_blocks.hpp>
#include <warpband/exec/sole_use.hpp>

namespace wb {
namespace {

/// `action` is a text, or makes one: only where it is needed, as calls that succeed allocate nothing.
template <class What>
void check(cudaError_t e, const What& action) {
  if (e == cudaSuccess) return;
  cudaGetLastError();  // an error that is reported does not stay behind
  std::string text;
  if constexpr (std::is_invocable_v<What>)
    text = action();
  else
    text = action;
  throw device_error(text + " failed: " + cudaGetErrorString(e));
}

/// Selects a device, and afterwards the one that was the caller's.
class on_device {
 public:
  explicit on_device(int device) noexcept {
    if (cudaGetDevice(&before_) != cudaSuccess) before_ = -1;  // as after another device's failure
    changed_ = before_ != device;
    if (changed_) result_ = cudaSetDevice(device);
  }
  /// Throws device_error where it could not be selected.
  explicit on_device(const cuda& exec) : on_device(exec.device().index) {
    check(result_, [&] { return "selecting " + exec.name(); });
  }
  ~on_device() {
    if (changed_ && before_ >= 0) cudaSetDevice(before_);
  }
  on_device(const on_device&) = delete;
  on_device& operator=(const on_device&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
  cudaError_t result_ = cudaSuccess;
};

cuda_device_info describe(int index) {
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, index), "reading the properties of cuda:" + std::to_string(index));
  int khz = 0;
  check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, index), "reading the clock");
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "reading the driver's version");
  check(cudaRuntimeGetVersion(&runtime), "reading the runtime's version");
  char pci_bus_id[32] = "";
  check(cudaDeviceGetPCIBusId(pci_bus_id, sizeof pci_bus_id, index), "reading the PCI bus ID");
  return {index,
          p.name,
          p.major,
          p.minor,
          p.multiProcessorCount,
          p.totalGlobalMem,
          p.sharedMemPerBlockOptin,
          khz / 1000,
          driver,
          runtime,
          pci_bus_id};
}

/// Keeps what is given back.
class kept_memory final : public memory {
 public:
  kept_memory(int device, bool pinned) : device_(device), pinned_(pinned) {}
  ~kept_memory() override { release_kept(); }
  void* take(std::size_t bytes) override {
    if (bytes > PTRDIFF_MAX) throw memory_error(bytes, place());
    std::lock_guard lock(mutex_);
    void* p = blocks_.take(bytes, [this](std::size_t rounded) {
      void* fresh = allocate(rounded);
      if (fresh == nullptr) {
        release_kept();
        fresh = allocate(rounded);
      }
      return fresh;
    });
    if (p == nullptr) throw memory_error(kept_blocks::rounded(bytes), place());
    return p;
  }
  void give(void* p, std::size_t bytes) noexcept override {
    if (pinned_) {  // a queued copy may still use it, and the host would not wait its turn as the stream does
      const on_device selected(device_);
      cudaDeviceSynchronize();
    }
    std::lock_guard lock(mutex_);
    if (!blocks_.give(p, bytes)) pinned_ ? cudaFreeHost(p) : cudaFree(p);
  }
  /// See kept_blocks.
  void hold() noexcept {
    std::lock_guard lock(mutex_);
    blocks_.hold();
  }
  void release() noexcept {
    std::lock_guard lock(mutex_);
    blocks_.release();
  }

 private:
  std::string place() const { return pinned_ ? "the host (page-locked)" : "cuda:" + std::to_string(device_); }
  void* allocate(std::size_t bytes) const {
    void* p = nullptr;
    const on_device selected(device_);
    const cudaError_t e = pinned_ ? cudaHostAlloc(&p, bytes, cudaHostAllocDefault) : cudaMalloc(&p, bytes);
    if (e == cudaSuccess) return p;
    cudaGetLastError();
    if (e != cudaErrorMemoryAllocation) check(e, "allocating memory");
    return nullptr;
  }
  void release_kept() noexcept {
    if (blocks_.empty()) return;
    const on_device selected(device_);
    blocks_.clear([this](void* p) { pinned_ ? cudaFreeHost(p) : cudaFree(p); });
  }
  int device_;
  bool pinned_;
  std::mutex mutex_;
  kept_blocks blocks_;
};

}  // namespace

bool has_cuda() noexcept { return true; }

std::vector<cuda_device_info> cuda_devices() {
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  std::vector<cuda_device_info> devices;
  for (int i = 0; i < n; i++) devices.push_back(describe(i));
  return devices;
}

static int existing(int device) {
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess) {
    cudaGetLastError();
    n = 0;
  }
  if (device < 0 || device >= n)
    throw device_error("device cuda:" + std::to_string(device) + " is not there: this machine has " +
                       std::to_string(n) + " CUDA device" + (n == 1 ? "" : "s") +
                       "; \"cpu\" is always there");
  return device;
}

cuda::cuda(cuda_options options)
    : cuda(options, std::make_shared<kept_memory>(existing(options.device), false)) {}
cuda::cuda(cuda_options options, std::shared_ptr<memory> device)
    : executor(device, std::make_shared<kept_memory>(options.device, true)),
      info_(describe(options.device)),
      device_memory_(std::move(device)) {
  const on_device selected(*this);
  cudaStream_t s = static_cast<cudaStream_t>(options.stream);
  if (s == nullptr) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "creating a stream");
  owns_stream_ = options.stream == nullptr;
  stream_ = s;
}
cuda::~cuda() {
  const on_device selected(info_.index);
  if (!owns_stream_) {
    cudaDeviceSynchronize();  // a caller's stream may be gone already
    return;
  }
  cudaStreamSynchronize(static_cast<cudaStream_t>(stream_));
  cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
}

std::string cuda::name() const { return "cuda:" + std::to_string(info_.index); }
std::string cuda::description() const { return info_.name; }
std::size_t cuda::preferred_items() const { return static_cast<std::size_t>(info_.multiprocessors) * 2048; }
std::size_t cuda::preferred_blocks() const { return static_cast<std::size_t>(info_.multiprocessors) * 8; }

const kernel& cuda::build_of(const kernel_set& op) const {
  if (op.cuda == nullptr) throw device_error(std::string(op.name) + " is not built for CUDA");
  return *op.cuda;
}

void cuda::run(const kernel_set& op, const void* args, std::size_t items) {
  if (items == 0) return;
  const kernel& k = build_of(op);
  const sole_use use(in_use_);
  const on_device selected(*this);
  cudaGetLastError();  // an error somebody else left behind is not this launch's
  const device_limits limits{info_.multiprocessors, info_.shared_bytes - 1024};  // 1 KiB is the system's
  const std::size_t bytes = k.scratch(args, limits, items);
  if (workspace_.bytes() < bytes) {
    workspace_ = {};
    workspace_ = make<unsigned char>(1, bytes);
  }
  check(static_cast<cudaError_t>(k.run(args, {0, items, workspace_.data(), stream_, limits})),
        [&] { return std::string("starting ") + op.name; });
}
void cuda::sync() {
  const on_device selected(*this);  // the default stream is that of the current device
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)),
        [&] { return "work queued on " + name(); });
}
std::size_t cuda::memory_used() const {
  std::size_t free = 0, total = 0;
  const on_device selected(*this);
  check(cudaMemGetInfo(&free, &total), "asking for the memory of " + name());
  return total - free;
}
void cuda::select() const {
  check(cudaSetDevice(info_.index), [&] { return "selecting " + name(); });
}
void cuda::upload(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const on_device selected(*this);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, static_cast<cudaStream_t>(stream_)),
        [&] { return "copying to " + name(); });
}
void cuda::download(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const on_device selected(*this);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, static_cast<cudaStream_t>(stream_)),
        [&] { return "copying from " + name(); });
}

void cuda::fill(void* to, unsigned char value, std::size_t bytes) {
  if (bytes == 0) return;
  const on_device selected(*this);
  check(cudaMemsetAsync(to, value, bytes, static_cast<cudaStream_t>(stream_)),
        [&] { return "filling memory of " + name(); });
}
bool cuda::idle() const {
  const on_device selected(*this);
  const cudaError_t e = cudaStreamQuery(static_cast<cudaStream_t>(stream_));
  if (e == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(e, [&] { return "work queued on " + name(); });
  return true;
}
void cuda::wait_for(executor& other) {
  auto* const device = dynamic_cast<cuda*>(&other);
  if (device == nullptr) return executor::wait_for(other);
  if (!device->queued_) device->queued_ = std::make_unique<cuda_event>(*device);
  device->queued_->record(*device);
  device->queued_->hold(*this);
}

void cuda::notify(void (*f)(void*), void* data) {
  const on_device selected(*this);
  check(cudaLaunchHostFunc(static_cast<cudaStream_t>(stream_), f, data), "queueing a host function");
}

cuda_event::cuda_event(int device, bool timed) : device_(device) {
  const on_device selected(device);
  cudaEvent_t e = nullptr;
  check(cudaEventCreateWithFlags(&e, timed ? cudaEventDefault : cudaEventDisableTiming), "creating an event");
  event_ = e;
}
cuda_event::~cuda_event() {
  const on_device selected(device_);
  cudaEventDestroy(static_cast<cudaEvent_t>(event_));
}
void cuda_event::record(void* stream) {
  const on_device selected(device_);
  check(cudaEventRecord(static_cast<cudaEvent_t>(event_), static_cast<cudaStream_t>(stream)),
        "recording an event");
}
bool cuda_event::reached() const {
  const cudaError_t e = cudaEventQuery(static_cast<cudaEvent_t>(event_));
  if (e == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(e, [&] { return "work queued on cuda:" + std::to_string(device_); });
  return true;
}
void cuda_event::hold(void* stream) const {
  const on_device selected(device_);
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), static_cast<cudaEvent_t>(event_), 0),
        "waiting for an event");
}
double cuda_event::us_since(const cuda_event& other) const {
  float ms = 0;
  check(cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(other.event_), static_cast<cudaEvent_t>(event_)),
        "reading the time between events");
  return static_cast<double>(ms) * 1e3;
}

cuda_graph& cuda_graph::operator=(cuda_graph&& other) noexcept {
  std::swap(graph_, other.graph_);
  std::swap(device_, other.device_);
  std::swap(held_, other.held_);
  return *this;
}
cuda_graph::~cuda_graph() {
  if (graph_ == nullptr) return;
  const on_device selected(device_);
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph_));
  static_cast<kept_memory&>(*held_).release();
}
void cuda_graph::record(cuda& exec, const std::function<void()>& queue) {
  const on_device selected(exec);
  const auto stream = static_cast<cudaStream_t>(exec.stream());
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording a graph");
  cudaGraph_t graph = nullptr;
  try {
    queue();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(stream, &graph), "recording a graph");
  cudaGraphExec_t ready = nullptr;
  const cudaError_t e = cudaGraphInstantiateWithFlags(&ready, graph, 0);
  cudaGraphDestroy(graph);
  check(e, "preparing a graph");
  cuda_graph fresh;
  fresh.graph_ = ready;
  fresh.device_ = exec.device().index;
  fresh.held_ = exec.device_memory_;
  static_cast<kept_memory&>(*fresh.held_).hold();
  *this = std::move(fresh);
  check(cudaGraphUpload(ready, stream), "preparing a graph");
}
void cuda_graph::run(cuda& exec) const {
  if (!recorded()) throw error("this graph recorded nothing, or was moved from");
  if (held_ != exec.device_memory_) throw error("a graph runs on the executor that it was recorded on");
  const on_device selected(exec);
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph_), static_cast<cudaStream_t>(exec.stream())),
        "starting a graph");
}

int cuda_device_of(const void* p) noexcept {
  cudaPointerAttributes a{};
  if (cudaPointerGetAttributes(&a, p) != cudaSuccess) {
    cudaGetLastError();
    return -1;
  }
  return a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged ? a.device : -1;
}

namespace {

class cuda_timer final : public executor_timer {
 public:
  explicit cuda_timer(cuda& exec) : exec_(exec) {
    try {
      const on_device selected(exec_);
      check(cudaEventCreate(&first_), "creating an event");
      check(cudaEventCreate(&last_), "creating an event");
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~cuda_timer() override {
    release();
    const on_device selected(exec_.device().index);
    cudaStreamSynchronize(stream());  // no queued hold is left that reads the gate
    destroy();
  }
  cuda_timer(const cuda_timer&) = delete;
  cuda_timer& operator=(const cuda_timer&) = delete;

  void start() override { record(first_); }
  void stop() override { record(last_); }
  double seconds() override {
    check(cudaEventSynchronize(last_), [&] { return "work queued on " + exec_.name(); });
    float ms = 0;
    check(cudaEventElapsedTime(&ms, first_, last_), "reading the time between events");
    return ms * 1e-3;
  }
  void hold() override {
    const on_device selected(exec_);
    {
      std::lock_guard lock(mutex_);
      holds_++;
    }
    check(cudaLaunchHostFunc(stream(), wait, this), "queueing a host function");
  }
  void release() override {
    {
      std::lock_guard lock(mutex_);
      released_ = holds_;
    }
    gate_.notify_all();
  }

 private:
  cudaStream_t stream() const { return static_cast<cudaStream_t>(exec_.stream()); }
  void record(cudaEvent_t event) {
    const on_device selected(exec_);
    check(cudaEventRecord(event, stream()), "recording an event");
  }
  void destroy() noexcept {
    if (first_ != nullptr) cudaEventDestroy(first_);
    if (last_ != nullptr) cudaEventDestroy(last_);
  }
  /// Runs on a thread of CUDA's. Holds pass in the order in which they were queued.
  static void CUDART_CB wait(void* data) {
    cuda_timer& t = *static_cast<cuda_timer*>(data);
    std::unique_lock lock(t.mutex_);
    const long number = ++t.reached_;
    t.gate_.wait_for(lock, std::chrono::milliseconds(100), [&] { return t.released_ >= number; });
  }

  cuda& exec_;
  cudaEvent_t first_ = nullptr, last_ = nullptr;
  std::mutex mutex_;
  std::condition_variable gate_;
  long holds_ = 0, reached_ = 0, released_ = 0;
};

}  // namespace

std::unique_ptr<executor_timer> cuda::make_timer() { return std::make_unique<cuda_timer>(*this); }

}  // namespace wb

#else

namespace wb {
namespace {
[[noreturn]] void not_built() {
  throw device_error(
      "this build of Warpband has no CUDA: \"cpu\" is always there, and the preset \"cuda\" builds the rest");
}
}  // namespace
bool has_cuda() noexcept { return false; }
std::vector<cuda_device_info> cuda_devices() { return {}; }
cuda::cuda(cuda_options) : executor(nullptr, nullptr) { not_built(); }
cuda::~cuda() = default;
std::string cuda::name() const { return "cuda"; }
std::string cuda::description() const { return "none"; }
std::size_t cuda::preferred_items() const { return 1; }
std::size_t cuda::preferred_blocks() const { return 1; }
const kernel& cuda::build_of(const kernel_set&) const { not_built(); }
void cuda::run(const kernel_set&, const void*, std::size_t) { not_built(); }
void cuda::sync() { not_built(); }
std::size_t cuda::memory_used() const { not_built(); }
void cuda::select() const { not_built(); }
void cuda::upload(void*, const void*, std::size_t) { not_built(); }
void cuda::download(void*, const void*, std::size_t) { not_built(); }
void cuda::fill(void*, unsigned char, std::size_t) { not_built(); }
bool cuda::idle() const { not_built(); }
void cuda::wait_for(executor&) { not_built(); }
std::unique_ptr<executor_timer> cuda::make_timer() { not_built(); }
void cuda::notify(void (*)(void*), void*) { not_built(); }
cuda_event::cuda_event(int, bool) : device_(0) { not_built(); }
cuda_event::~cuda_event() = default;
void cuda_event::record(void*) { not_built(); }
bool cuda_event::reached() const { not_built(); }
void cuda_event::hold(void*) const { not_built(); }
double cuda_event::us_since(const cuda_event&) const { not_built(); }
cuda_graph& cuda_graph::operator=(cuda_graph&&) noexcept { return *this; }
cuda_graph::~cuda_graph() = default;
void cuda_graph::record(cuda&, const std::function<void()>&) { not_built(); }
void cuda_graph::run(cuda&) const { not_built(); }
int cuda_device_of(const void*) noexcept { return -1; }
}  // namespace wb

#endif
