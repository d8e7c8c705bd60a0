#pragma once
// Ranks of one process, for tests.
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <warpband/exec/ranks.hpp>

namespace wb::testing {

/// Messages between threads.
class post {
 public:
  void put(int from, int to, message bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[{from, to}].push_back(std::move(bytes));
    arrived_.notify_all();
  }
  message take(int from, int to) {
    std::unique_lock lock(mutex_);
    auto& box = boxes_[{from, to}];
    arrived_.wait(lock, [&] { return !box.empty(); });
    message bytes = std::move(box.front());
    box.pop_front();
    return bytes;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int, int>, std::deque<message>> boxes_;
};

class thread_rank : public ranks {
 public:
  thread_rank(post& post, int rank, int size) : post_(post), rank_(rank), size_(size) {
    for (int r = 0; r < size; r++) names_.push_back("rank " + std::to_string(r) + " on here");
  }
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  int local_rank() const noexcept override { return rank_; }
  int local_size() const noexcept override { return size_; }
  const std::string& name(int rank) const override { return names_.at(static_cast<std::size_t>(rank)); }
  void send(int to, message bytes) override { post_.put(rank_, to, std::move(bytes)); }
  message receive(int from, double) override { return post_.take(from, rank_); }

 private:
  post& post_;
  int rank_, size_;
  std::vector<std::string> names_;
};

}  // namespace wb::testing
