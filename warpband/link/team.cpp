#include <warpband/link/team.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include <warpband/core/decimal.hpp>
#include <warpband/core/error.hpp>
#include <warpband/core/named.hpp>
#include <warpband/exec/start_thread.hpp>
#include <warpband/link/chain.hpp>

namespace wb {
namespace {

class local_member final : public team_member {
 public:
  local_member(const link_config& config, executor& exec, std::size_t max_batch)
      : name_(exec.name()), chain_(config, exec, max_batch), thread_(start_thread([this] { work(); })) {}
  ~local_member() override {
    {
      const std::lock_guard lock(mutex_);
      state_ = state::over;
    }
    changed_.notify_all();
    thread_.join();
  }

  const std::string& name() const noexcept override { return name_; }
  std::size_t max_batch() const noexcept override { return chain_.max_batch(); }
  std::size_t preferred_frames() const override { return chain_.preferred_frames(); }
  double seconds() const noexcept override { return seconds_; }

  void begin(std::uint64_t first_frame, std::size_t frames, double point_db) override {
    {
      const std::lock_guard lock(mutex_);
      first_ = first_frame, frames_ = frames, point_db_ = point_db;
      state_ = state::busy;
    }
    changed_.notify_all();
  }

  const frame_counts& wait() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return state_ != state::busy; });
    if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
    return *counts_;
  }

 private:
  enum class state { idle, busy, over };

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return state_ != state::idle; });
      if (state_ == state::over) return;
      lock.unlock();
      const auto start = std::chrono::steady_clock::now();
      const frame_counts* counts = nullptr;
      std::exception_ptr failed;
      try {
        counts = &chain_.run(first_, frames_, point_db_);
      } catch (...) {
        failed = std::current_exception();
      }
      lock.lock();
      seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      counts_ = counts;
      failed_ = failed;
      if (state_ == state::busy) state_ = state::idle;
      changed_.notify_all();
    }
  }

  std::string name_;
  link_chain chain_;
  std::mutex mutex_;
  std::condition_variable changed_;
  state state_ = state::idle;
  std::uint64_t first_ = 0;
  std::size_t frames_ = 0;
  double point_db_ = 0, seconds_ = 0;
  const frame_counts* counts_ = nullptr;
  std::exception_ptr failed_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<team_member> make_local_member(const link_config& config, executor& exec,
                                               std::size_t max_batch) {
  return std::make_unique<local_member>(config, exec, max_batch);
}

std::vector<std::size_t> shares_of(std::size_t frames, const std::vector<member_pace>& members) {
  double total = 0;
  for (const auto& m : members) total += m.speed;
  std::vector<std::size_t> shares(members.size());
  std::size_t left = frames;
  for (std::size_t i = 0; i < shares.size(); i++) {
    const member_pace& m = members[i];
    const double ideal = static_cast<double>(frames) * m.speed / total,
                 units = ideal / static_cast<double>(m.unit);
    const auto share =
        units < 4 ? static_cast<std::size_t>(ideal) : m.unit * static_cast<std::size_t>(std::lround(units));
    shares[i] = std::min({share, m.max_frames, left});
    left -= shares[i];
  }
  // What rounding and full members leave goes to the fastest with room.
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return members[a].speed > members[b].speed; });
  for (const std::size_t i : order) {
    const std::size_t more = std::min(members[i].max_frames - shares[i], left);
    shares[i] += more, left -= more;
  }
  return shares;
}

link_team::link_team(link_config config, std::vector<std::unique_ptr<team_member>> members)
    : config_(std::move(config)), members_(std::move(members)) {
  if (members_.empty()) throw argument_error("members", "0", "at least 1");
  for (const auto& m : members_) max_batch_ += m->max_batch();
  frames_.resize(members_.size());
  seconds_.resize(members_.size());
}

std::vector<member_pace> link_team::paces() const {
  double speed = 0, size = 0;  // of those that have run
  std::vector<member_pace> paces(members_.size());
  for (std::size_t i = 0; i < paces.size(); i++) {
    paces[i].max_frames = members_[i]->max_batch();
    paces[i].unit = members_[i]->preferred_frames();
    if (seconds_[i] == 0) continue;
    paces[i].speed = frames_[i] / seconds_[i];
    speed += paces[i].speed, size += static_cast<double>(paces[i].unit);
  }
  for (std::size_t i = 0; i < paces.size(); i++)
    if (seconds_[i] == 0) paces[i].speed = static_cast<double>(paces[i].unit) * (size > 0 ? speed / size : 1);
  return paces;
}

std::size_t link_team::preferred_frames() const {
  std::size_t total = 0;
  for (const auto& m : members_) total += m->preferred_frames();
  return total;
}

const frame_counts& link_team::run(std::uint64_t first_frame, std::size_t frames, double point_db) {
  check_run(frames, point_db);
  const std::vector<std::size_t> shares = shares_of(frames, paces());

  std::string failed;
  std::size_t begun = 0;
  for (std::uint64_t first = first_frame; begun < members_.size(); first += shares[begun++]) {
    if (shares[begun] == 0) continue;
    try {
      members_[begun]->begin(first, shares[begun], point_db);
    } catch (const std::exception& e) {
      failed = named(members_[begun]->name(), e.what());
      break;
    }
  }
  counts_ = {};
  for (std::size_t i = 0; i < begun; i++) {
    if (shares[i] == 0) continue;
    try {
      append(counts_, members_[i]->wait());
      frames_[i] = frames_[i] / 2 + static_cast<double>(shares[i]);
      seconds_[i] = seconds_[i] / 2 + members_[i]->seconds();
    } catch (const std::exception& e) {
      if (failed.empty()) failed = named(members_[i]->name(), e.what());
    }
  }
  if (!failed.empty()) throw error(failed);
  return counts_;
}

}  // namespace wb
