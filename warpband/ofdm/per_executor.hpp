#pragma once
// What an object keeps for each executor that it is used on.
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include <warpband/exec/executor.hpp>

namespace wb {

/// A T for each executor, made at first use and dropped at a first use after the executor is gone. Copies
/// share them. `on` is safe to use from several threads; the T, as the executor, serves one at a time. Of one
/// that was moved from it throws error.
template <class T>
class per_executor {
 public:
  T& on(const executor& e) const {
    if (!state_) refuse_moved_from();
    const auto life = e.life();
    std::lock_guard lock(state_->mutex);
    std::erase_if(state_->kept, [](const auto& k) { return k.first.expired(); });
    for (auto& k : state_->kept)
      if (!k.first.owner_before(life) && !life.owner_before(k.first)) return k.second;
    return state_->kept.emplace_back(std::piecewise_construct, std::tuple{life}, std::tuple{}).second;
  }

 private:
  struct state {
    std::mutex mutex;
    std::list<std::pair<std::weak_ptr<const void>, T>> kept;  // a list: what `on` gave stays where it is
  };
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace wb
