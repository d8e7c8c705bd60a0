#include <warpband/link/chain.hpp>

#include <algorithm>

#include <warpband/core/error.hpp>

namespace wb {
namespace {

/// Limit for a batch whose size the caller fixed. Linux grants more memory than it has, and kills the process
/// later.
constexpr std::size_t most_host_bytes = std::size_t{8} << 30;

}  // namespace

link_chain::link_chain(const link_config& config, executor& exec, std::size_t max_batch,
                       std::unique_ptr<antenna_system> antennas, bool exactly)
    : config_(completed(config)),
      exec_(exec),
      antennas_(antennas ? std::move(antennas) : make_antennas(config_)),
      transmitter_(config_),
      receiver_(make_receiver(config_)),
      counter_(config_) {
  const std::size_t frame = antennas_->bytes_per_frame() + transmitter_.bytes_per_frame() +
                            receiver_->bytes_per_frame() + counter_.bytes_per_frame();
  if (exactly) {
    const std::size_t room = exec_.is_device() ? SIZE_MAX : most_host_bytes;
    if (max_batch > room / frame)
      throw argument_error(
          "batch", std::to_string(max_batch),
          "at most " + std::to_string(room / frame) + ": a frame takes " + std::to_string(frame) + " bytes");
    allocate(max_batch);
    return;
  }
  // What one unit of the executor's work needs is taken in any case, within reason.
  const std::size_t unit = preferred_frames();
  const std::size_t usual = (exec_.is_device() ? std::size_t{1024} : std::size_t{64}) << 20;
  const std::size_t limit = std::size_t{1} << 30;
  std::size_t batch = std::max<std::size_t>(1, std::clamp(unit * frame, usual, limit) / frame);
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
  return std::max<std::size_t>(1, exec_.preferred_blocks() / antennas_->items_per_frame());
}

void link_chain::allocate(std::size_t batch) {
  antennas_->allocate(exec_, batch);
  transmitter_.allocate(exec_, batch);
  receiver_->allocate(exec_, batch);
  counter_.allocate(exec_, batch);
  max_batch_ = batch;
}

/// Transport blocks whose CRCs held stay in the batch, sent and decoded with the others: their soft buffers
/// never move, and frames keep their places in the channel's random numbers, which kernels count up from the
/// first. The decoder's early stop makes them cheap.
const frame_counts& link_chain::run(std::uint64_t first_frame, std::size_t frames, double point_db) {
  check_run(frames, point_db);
  counter_.begin(frames);
  if (frames == 0) return counter_.counts();
  frame_batch batch{.first = first_frame, .frames = frames, .point_db = point_db, .axis = config_.axis};
  transmitter_.draw(exec_, batch);
  bool failed = true;
  for (; failed && batch.transmission < transmitter_.transmissions(); batch.transmission++) {
    const std::uint8_t* coded = transmitter_.send(exec_, batch);
    const samples in = antennas_->send(exec_, coded, batch);
    receiver_->run(exec_, heard_of(in), counter_.wanted(frames), batch.transmission);
    failed = counter_.count(exec_, transmitter_.bits(frames), coded, in, batch);
  }
  return counter_.counts();
}

}  // namespace wb
