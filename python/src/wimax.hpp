#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/receive/wimax/chain.hpp>

namespace wb::python {

/// A transmitter or receiver on every executor that it is used on, for as many frames as in the last call.
/// Safe to use from several threads: an executor serves one at a time.
template <class T>
class made_on_executors {
 public:
  /// Valid until the next call on this executor.
  T& on(executor& e, const wimax_link_config& link, std::size_t frames) {
    entry& found = entry_of(e);
    if (found.frames != frames) {
      found.frames = 0;
      found.made = std::make_unique<T>(link, e, frames);
      found.frames = frames;
    }
    return *found.made;
  }

 private:
  struct entry {
    std::weak_ptr<const void> life;
    std::size_t frames = 0;
    std::unique_ptr<T> made;
  };
  entry& entry_of(const executor& e) {
    const auto life = e.life();
    std::lock_guard lock(mutex_);
    entries_.remove_if([](const entry& k) { return k.life.expired(); });
    for (entry& k : entries_)
      if (!k.life.owner_before(life) && !life.owner_before(k.life)) return k;
    return entries_.emplace_back(life);
  }
  std::mutex mutex_;
  std::list<entry> entries_;
};

/// What Python's WiMAX frames hold.
struct wimax_frame_ref {
  wimax_frame_config config;  // its code is completed
  wimax_link_config link;
  std::vector<wimax_burst_sizes> bursts;
  std::shared_ptr<made_on_executors<wimax_transmitter>> transmitters =
      std::make_shared<made_on_executors<wimax_transmitter>>();
  std::shared_ptr<made_on_executors<wimax_receiver>> receivers =
      std::make_shared<made_on_executors<wimax_receiver>>();

  /// Throws argument_error as wimax_link_of.
  explicit wimax_frame_ref(wimax_frame_config c)
      : config(std::move(c)), link(wimax_link_of(config)), bursts(wimax_bursts_of(link)) {}
};

}  // namespace wb::python
