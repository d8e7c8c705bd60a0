#pragma once
// Executors: where ops run. `cpu` has a pool of threads and picks the widest instruction set the machine has;
// `cuda` has one stream of one device. Both take the same calls and give the same bits.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/view.hpp>
#include <warpband/exec/kernel.hpp>

namespace wb {

/// Memory of an executor. What is given back is kept for the next request of that size where allocation is
/// slow (CUDA device and pinned memory). Safe to use from several threads.
class memory {
 public:
  virtual ~memory() = default;
  /// At least `bytes`, 64-byte aligned. Throws memory_error; nothing leaks.
  virtual void* take(std::size_t bytes) = 0;
  virtual void give(void* p, std::size_t bytes) noexcept = 0;
};

/// An owned batch in the memory of an executor. Outlives it if need be.
/// Threads: as a std::vector. Empty once moved from.
template <class T>
class array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  array() = default;
  array(std::shared_ptr<memory> where, std::size_t items, std::size_t elements, layout order)
      : where_(std::move(where)), items_(items), elements_(elements), order_(order) {
    if (items != 0 && elements > PTRDIFF_MAX / sizeof(T) / items) throw memory_error(SIZE_MAX, "any device");
    if (bytes() != 0) data_ = static_cast<T*>(where_->take(bytes()));
  }
  array(array&& o) noexcept { swap(o); }
  array& operator=(array&& o) noexcept {
    array(std::move(o)).swap(*this);
    return *this;
  }
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  ~array() {
    if (data_ != nullptr) where_->give(data_, bytes());
  }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t elements() const noexcept { return elements_; }
  std::size_t items() const noexcept { return items_; }
  std::size_t size() const noexcept { return elements_ * items_; }
  std::size_t bytes() const noexcept { return size() * sizeof(T); }
  operator view<T>() noexcept { return make_view(data_, items_, elements_, order_); }
  operator view<const T>() const noexcept {
    return make_view(static_cast<const T*>(data_), items_, elements_, order_);
  }
  void swap(array& o) noexcept {
    std::swap(where_, o.where_);
    std::swap(data_, o.data_);
    std::swap(elements_, o.elements_);
    std::swap(items_, o.items_);
    std::swap(order_, o.order_);
  }

 private:
  std::shared_ptr<memory> where_;
  T* data_ = nullptr;
  std::size_t items_ = 0, elements_ = 0;
  layout order_ = layout::row_major;
};

/// Times what is queued on an executor: by the device's clock on CUDA, by the host's on a CPU.
/// Threads: one at a time.
class executor_timer {
 public:
  executor_timer() = default;
  virtual ~executor_timer() = default;
  executor_timer(const executor_timer&) = delete;
  executor_timer& operator=(const executor_timer&) = delete;
  /// What is queued between the two is timed. Each call replaces the one before it.
  virtual void start() = 0;
  virtual void stop() = 0;
  /// Waits for what was queued before stop().
  virtual double seconds() = 0;
  /// Keeps queued work from starting until release(), so that a device does not wait for the host between
  /// short kernels. It holds at most a tenth of a second and a few hundred launches. Nothing on a CPU.
  virtual void hold() {}
  virtual void release() {}
};

/// Where ops run. Calls are queued in order; `sync` waits for them. One executor serves one thread at a time.
class executor {
 public:
  virtual ~executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// "cpu" or "cuda:0".
  virtual std::string name() const = 0;
  /// Whether it runs on a device of its own, with its own memory, rather than on this machine's cores.
  virtual bool is_device() const noexcept = 0;
  /// What it runs on: "avx512, 2 threads" or "NVIDIA H100 80GB HBM3".
  virtual std::string description() const = 0;
  /// Items that fill it once, if each takes a lane or a thread. A good batch is a multiple.
  virtual std::size_t preferred_items() const = 0;
  /// Items that fill it once, if each takes a block of threads on a device.
  virtual std::size_t preferred_blocks() const = 0;

  /// Queues `items` items of an op. `args` is the op's arguments, copied before the call returns.
  virtual void run(const kernel_set& op, const void* args, std::size_t items) = 0;
  /// Waits for everything queued; reports a failure of it as device_error.
  virtual void sync() = 0;
  /// Queued copies between host memory and an array of this executor.
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  /// Queues writes of `value` to `bytes` bytes of an array of this executor.
  virtual void fill(void* to, unsigned char value, std::size_t bytes) = 0;
  /// Whether all that was queued is done. Throws device_error if it failed.
  virtual bool idle() const { return true; }
  /// What is queued from now on starts after what is queued on `other` now. Between CUDA executors the host
  /// does not wait. No other thread uses `other` meanwhile.
  virtual void wait_for(executor& other) { other.sync(); }
  /// The default takes the host's clock and waits in start() and stop().
  virtual std::unique_ptr<executor_timer> make_timer();
  /// Bytes of the device's memory that all processes use; 0 if it has no memory of its own.
  virtual std::size_t memory_used() const { return 0; }
  /// The build of an op that `run` would start; throws device_error where there is none.
  virtual const kernel& build_of(const kernel_set& op) const = 0;

  /// A batch in this executor's memory, `items` rows of `elements` values. Uninitialised.
  template <class T>
  array<T> make(std::size_t items, std::size_t elements, layout order = layout::row_major) {
    return array<T>(memory_, items, elements, order);
  }
  /// A batch in host memory that copies fast to and from this executor (page-locked for CUDA).
  template <class T>
  array<T> make_host(std::size_t items, std::size_t elements, layout order = layout::row_major) {
    return array<T>(host_memory_, items, elements, order);
  }
  /// An array whose bytes are 0.
  template <class T>
  array<T> make_zeros(std::size_t items, std::size_t elements, layout order = layout::row_major) {
    auto a = make<T>(items, elements, order);
    fill(a.data(), 0, a.bytes());
    return a;
  }
  /// A copy of host values, one row.
  template <class T>
  array<T> make_from(const std::vector<T>& values) {
    auto a = make<T>(1, values.size());
    upload(a.data(), values.data(), a.bytes());
    return a;
  }
  /// The values of an array, in its memory order. Waits.
  template <class T>
  std::vector<T> to_host(const array<T>& a) {
    std::vector<T> v(a.size());
    download(v.data(), a.data(), a.bytes());
    sync();
    return v;
  }
  /// Lives as long as this executor; tables kept for it are dropped after.
  std::weak_ptr<const void> life() const noexcept { return life_; }

 protected:
  executor(std::shared_ptr<memory> device, std::shared_ptr<memory> host);
  struct shares_memory {
    executor& other;
  };
  explicit executor(shares_memory with) : executor(with.other.memory_, with.other.host_memory_) {}

 private:
  std::shared_ptr<memory> memory_, host_memory_;
  std::shared_ptr<const void> life_ = std::make_shared<char>();
};

/// The error of what was moved from.
[[noreturn]] void refuse_moved_from();

/// A constant table of which every executor it is used on gets a copy, made at first use. Copies of a
/// `resident` share them; safe to use from several threads. Of one that was moved from `host` is empty and
/// `on` throws error.
template <class T>
class resident {
 public:
  resident() = default;
  explicit resident(std::vector<T> values) : state_(std::make_shared<state>(std::move(values))) {}
  const std::vector<T>& host() const noexcept {
    static const std::vector<T> none;
    return state_ ? state_->host : none;
  }
  /// Throws error where it was moved from.
  void check_held() const {
    if (!state_) refuse_moved_from();
  }
  const T* on(executor& e) const {
    check_held();
    const auto life = e.life();
    std::lock_guard lock(state_->mutex);
    std::erase_if(state_->copies, [](const auto& c) { return c.first.expired(); });
    for (const auto& c : state_->copies)
      if (!c.first.owner_before(life) && !life.owner_before(c.first)) return c.second.data();
    auto copy = e.make_from(state_->host);
    e.sync();
    return state_->copies.emplace_back(life, std::move(copy)).second.data();
  }

 private:
  struct state {
    explicit state(std::vector<T> values) : host(std::move(values)) {}
    std::vector<T> host;
    std::mutex mutex;
    std::vector<std::pair<std::weak_ptr<const void>, array<T>>> copies;
  };
  std::shared_ptr<state> state_ = std::make_shared<state>(std::vector<T>{});
};

/// Working memory of an object's calls, kept on every executor that it is used on, so that only the first
/// calls allocate. Safe to use from several threads: an executor serves one at a time, and its queue orders
/// who writes. Of one that was moved from `on` throws error.
class kept_workspace {
 public:
  /// At least so many bytes on `e`, there until more are asked for or `e` goes; a cuda_graph keeps what it
  /// knows.
  std::byte* on(executor& e, std::size_t bytes) const {
    if (!state_) refuse_moved_from();
    const auto life = e.life();
    std::lock_guard lock(state_->mutex);
    std::erase_if(state_->kept, [](const auto& k) { return k.first.expired(); });
    for (auto& k : state_->kept)
      if (!k.first.owner_before(life) && !life.owner_before(k.first)) {
        if (k.second.bytes() < bytes) k.second = e.make<std::byte>(1, bytes);
        return k.second.data();
      }
    return state_->kept.emplace_back(life, e.make<std::byte>(1, bytes)).second.data();
  }

 private:
  struct state {
    std::mutex mutex;
    std::vector<std::pair<std::weak_ptr<const void>, array<std::byte>>> kept;
  };
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// Opens "cpu" or "cuda:N" ("cuda" is "cuda:0"). `threads` is for the CPU; 0 means all cores.
/// Throws argument_error for a name that is neither, device_error for a device that is not there.
std::unique_ptr<executor> open_executor(const std::string& device, int threads = 0);

}  // namespace wb
