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

/// `what` is a text, or makes one: only where it is needed, as calls that succeed allocate nothing.
template <class What>
void check(cudaError_t e, const What& what) {
  if (e == cudaSuccess) return;
  cudaGetLastError();  // an error that is reported does not stay behind
  std::string text;
  if constexpr (std::is_invocable_v<What>)
    text = what();
  else
    text = what;
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
  return {
      index,      p.name, p.major, p.minor, p.multiProcessorCount, p.totalGlobalMem, p.sharedMemPerBlockOptin,
      khz / 1000, driver, runtime};
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
  std::vector<cuda_device_info> all;
  for (int i = 0; i < n; i++) all.push_back(describe(i));
  return all;
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
std::size_t cuda::preferred_batch(bool block_per_item) const {
  return static_cast<std::size_t>(info_.multiprocessors) * (block_per_item ? 8 : 2048);
}

const kernel& cuda::build_of(const kernel_set& op) const {
  if (op.cuda == nullptr) throw device_error(std::string(op.name) + " is not built for CUDA");
  return *op.cuda;
}

void cuda::run(const kernel_set& op, const void* args, std::size_t items) {
  if (items == 0) return;
  const kernel& k = build_of(op);
  const sole_use of(in_use_);
  const on_device selected(*this);
  cudaGetLastError();  // an error somebody else left behind is not this launch's
  const device_limits limits{info_.multiprocessors, info_.shared_bytes - 1024};  // 1 KiB is the system's
  const std::size_t bytes = k.scratch(args, limits, items);
  if (workspace_.bytes() < bytes) {
    workspace_ = {};
    workspace_ = make<unsigned char>(bytes, 1);
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
  std::size_t free = 0, all = 0;
  const on_device selected(*this);
  check(cudaMemGetInfo(&free, &all), "asking for the memory of " + name());
  return all - free;
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

struct cuda_timer::state {
  explicit state(cuda& e) : exec(e) {
    try {
      const on_device selected(exec);
      check(cudaEventCreate(&first), "creating an event");
      check(cudaEventCreate(&last), "creating an event");
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~state() {
    open();
    const on_device selected(exec.device().index);
    cudaStreamSynchronize(stream());  // no hold of it is left, which would look at the gate
    destroy();
  }
  cudaStream_t stream() const { return static_cast<cudaStream_t>(exec.stream()); }
  void destroy() noexcept {
    if (first != nullptr) cudaEventDestroy(first);
    if (last != nullptr) cudaEventDestroy(last);
  }
  void open() {
    {
      std::lock_guard lock(mutex);
      released = holds;
    }
    gate.notify_all();
  }
  /// Runs on a thread of CUDA's. Holds pass in the order in which they were queued.
  static void CUDART_CB wait(void* data) {
    state& s = *static_cast<state*>(data);
    std::unique_lock lock(s.mutex);
    const long me = ++s.reached;
    s.gate.wait_for(lock, std::chrono::milliseconds(100), [&] { return s.released >= me; });
  }

  cuda& exec;
  cudaEvent_t first = nullptr, last = nullptr;
  std::mutex mutex;
  std::condition_variable gate;
  long holds = 0, reached = 0, released = 0;
};

cuda_timer::cuda_timer(cuda& exec) : state_(std::make_unique<state>(exec)) {}
cuda_timer::~cuda_timer() = default;
void cuda_timer::start() {
  const on_device selected(state_->exec);
  check(cudaEventRecord(state_->first, state_->stream()), "recording an event");
}
void cuda_timer::stop() {
  const on_device selected(state_->exec);
  check(cudaEventRecord(state_->last, state_->stream()), "recording an event");
}
double cuda_timer::seconds() {
  check(cudaEventSynchronize(state_->last), [&] { return "work queued on " + state_->exec.name(); });
  float ms = 0;
  check(cudaEventElapsedTime(&ms, state_->first, state_->last), "reading the time between events");
  return ms * 1e-3;
}
void cuda_timer::hold() {
  const on_device selected(state_->exec);
  {
    std::lock_guard lock(state_->mutex);
    state_->holds++;
  }
  check(cudaLaunchHostFunc(state_->stream(), state::wait, state_.get()), "queueing a host function");
}
void cuda_timer::release() { state_->open(); }

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
std::size_t cuda::preferred_batch(bool) const { return 1; }
const kernel& cuda::build_of(const kernel_set&) const { not_built(); }
void cuda::run(const kernel_set&, const void*, std::size_t) { not_built(); }
void cuda::sync() { not_built(); }
std::size_t cuda::memory_used() const { not_built(); }
void cuda::select() const { not_built(); }
void cuda::upload(void*, const void*, std::size_t) { not_built(); }
void cuda::download(void*, const void*, std::size_t) { not_built(); }
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
struct cuda_timer::state {};
cuda_timer::cuda_timer(cuda&) { not_built(); }
cuda_timer::~cuda_timer() = default;
void cuda_timer::start() { not_built(); }
void cuda_timer::stop() { not_built(); }
double cuda_timer::seconds() { not_built(); }
void cuda_timer::hold() { not_built(); }
void cuda_timer::release() { not_built(); }
}  // namespace wb

#endif
