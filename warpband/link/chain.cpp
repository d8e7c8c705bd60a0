#include <warpband/link/chain.hpp>

#include <algorithm>

#include <warpband/core/error.hpp>

namespace wb {

link_chain::link_chain(const link_config& config, executor& exec, std::size_t max_batch)
    : config_(completed(config)),
      exec_(exec),
      antennas_(make_antennas(config_)),
      exchange_(make_exchange(config_)) {
  // What one unit of the executor's work needs is taken in any case, within reason.
  const std::size_t unit = preferred_frames(),
                    frame = antennas_->bytes_per_frame() + exchange_->bytes_per_frame();
  const std::size_t usual = (exec_.is_device() ? std::size_t{1024} : std::size_t{64}) << 20;
  const std::size_t most = std::size_t{1} << 30;
  std::size_t batch = std::max<std::size_t>(1, std::clamp(unit * frame, usual, most) / frame);
  if (batch > unit) batch = batch / unit * unit;
  batch = std::min(batch, std::max<std::size_t>(1, max_batch));
  while (max_batch_ == 0) {
    try {
      allocate(batch);
    } catch (const memory_error&) {  // others may use the device's memory too
      if (batch == 1) throw;
      batch /= 2;
    }
  }
}

std::size_t link_chain::preferred_frames() const {
  return std::max<std::size_t>(1, exec_.preferred_batch(true) / antennas_->items_per_frame());
}

void link_chain::allocate(std::size_t batch) {
  antennas_->allocate(exec_, batch);
  exchange_->allocate(exec_, batch);
  max_batch_ = batch;
}

const frame_counts& link_chain::run(std::uint64_t first_frame, std::size_t frames, double point_db) {
  check_run(frames, point_db);
  exchange_->run(exec_, *antennas_, {.first = first_frame, .frames = frames, .point_db = point_db}, counts_);
  return counts_;
}

}  // namespace wb
