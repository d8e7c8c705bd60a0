#pragma once
// A small pool of threads for loops over a batch.
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/exec/sole_use.hpp>

namespace wb {

/// How often this process is a copy of another one (fork): in the copy no threads of the other one run.
inline unsigned forks_behind() noexcept {
  static std::atomic<unsigned> forks{0};
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forks++; });
  (void)registered;
  return forks;
}

/// Runs a loop body on all its threads; the calling thread is one of them. One call at a time.
class thread_pool {
 public:
  /// Throws device_error where the system does not start so many threads; those that it started have ended
  /// then, and their memory is free.
  explicit thread_pool(int threads) {
    // What exceptions need of a thread is made by its first one, for which the C library ends the process
    // where no memory is left. This thread's is made here. Workers throw nothing, and wait on a
    // std::condition_variable: its sibling for any lock asks for exceptions under way, which needs it too.
    (void)std::uncaught_exceptions();
    workers_.reserve(threads > 1 ? static_cast<std::size_t>(threads - 1) : 0);
    try {
      for (int i = 1; i < threads; i++) workers_.emplace_back([this, i] { work(i); });
      return;
    } catch (const std::system_error&) {  // no more processes, or no memory for a stack
      end();
    } catch (...) {  // no memory
      end();
      throw;
    }
    throw device_error("the system does not start " + std::to_string(threads) + " threads: ask for fewer");
  }
  ~thread_pool() { end(); }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;
  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }
  /// Whether its threads are another process's. It must then be left as it is, also by its destructor, which
  /// would wait for them.
  bool is_of_parent() const noexcept { return born_ != forks_behind(); }

  /// Held by a call from before it prepares what its body uses. Throws error while another call holds one,
  /// and device_error in a process that was forked after the pool was made.
  class turn {
   public:
    explicit turn(thread_pool& pool) : use_((pool.refuse_fork(), pool.in_use_)) {}

   private:
    sole_use use_;
  };
  /// body(thread index, first, last) for consecutive pieces of [0, items), at most `grain` items each. The
  /// body does not throw. The calling thread asks `stop`, if there is one, before each piece of its own:
  /// where it says true no further piece begins, and the result is false. Throws what `turn` throws.
  template <class Body>
  bool for_each_piece(std::size_t items, std::size_t grain, const Body& body,
                      const std::function<bool()>& stop = {}) {
    return for_each_piece(turn(*this), items, grain, body, stop);
  }
  /// The same in a turn that the caller holds.
  template <class Body>
  bool for_each_piece(const turn&, std::size_t items, std::size_t grain, const Body& body,
                      const std::function<bool()>& stop = {}) {
    if (items <= grain || (workers_.empty() && !stop)) {
      if (items > 0) body(0, std::size_t{0}, items);
      return true;
    }
    job j{items, grain,
          [](const void* b, int t, std::size_t lo, std::size_t hi) {
            (*static_cast<const Body*>(b))(t, lo, hi);
          },
          &body};
    {
      std::lock_guard lock(mutex_);
      job_ = &j;
      next_ = 0;
      busy_ = static_cast<int>(workers_.size());
      generation_++;
    }
    start_.notify_all();
    const bool whole = pieces(0, stop);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    job_ = nullptr;
    return whole;
  }

 private:
  void refuse_fork() const {
    if (is_of_parent())
      throw device_error(
          "this process is a fork, and the executor's threads run in the process before it: open another "
          "executor here");
  }
  struct job {
    std::size_t items, grain;
    void (*call)(const void*, int, std::size_t, std::size_t);
    const void* body;
  };
  bool pieces(int thread, const std::function<bool()>& stop = {}) {
    for (;;) {
      const bool stopped = stop && stop();
      std::size_t lo;
      {
        std::lock_guard lock(mutex_);
        if (stopped) {
          next_ = job_->items;
          return false;
        }
        lo = next_;
        if (lo >= job_->items) return true;
        next_ = lo + job_->grain;
      }
      const std::size_t rest = job_->items - lo;
      job_->call(job_->body, thread, lo, lo + (rest < job_->grain ? rest : job_->grain));
    }
  }
  void end() noexcept {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    start_.notify_all();
    for (std::thread& w : workers_) w.join();
    workers_.clear();
  }
  void work(int thread) noexcept {
    unsigned long seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        start_.wait(lock, [&] { return ending_ || generation_ != seen; });
        if (ending_) return;
        seen = generation_;
      }
      pieces(thread);
      {
        std::lock_guard lock(mutex_);
        busy_--;
      }
      done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const job* job_ = nullptr;
  std::size_t next_ = 0;
  int busy_ = 0;
  bool ending_ = false;
  unsigned long generation_ = 0;
  const unsigned born_ = forks_behind();
  std::atomic<bool> in_use_{false};
  std::vector<std::thread> workers_;
};

}  // namespace wb
