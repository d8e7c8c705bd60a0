#include <warpband/link/receiver_clock.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/tradeoff.hpp>

namespace wb {
namespace {

constexpr double long_enough = 0.02;  // seconds of a run, where there are frames enough
constexpr int least_runs = 3, most_runs = 9;

/// The least time of a frame: what else the machine does only adds to it. `run` queues the work of so many
/// frames.
double seconds_of_frame(executor& exec, std::size_t unit, std::size_t batch,
                        const std::function<void(std::size_t)>& run) {
  using clock = std::chrono::steady_clock;
  const auto timed = [&](std::size_t frames) {
    const auto start = clock::now();
    run(frames);
    exec.sync();
    return std::chrono::duration<double>(clock::now() - start).count();
  };
  std::size_t frames = unit;
  timed(frames);  // tables and working memory
  double first = timed(frames);
  if (first < long_enough && frames < batch) {
    const double more = std::min(long_enough / std::max(first, 1e-9), static_cast<double>(batch / unit));
    frames = std::max<std::size_t>(1, static_cast<std::size_t>(more)) * unit;
    timed(frames);
    first = timed(frames);
  }
  double least = first, total = first;
  int runs = 1;
  const auto enough = [&] {
    return runs == most_runs || (runs >= least_runs && total > 3 * long_enough) || total > 20 * long_enough;
  };
  for (; !enough(); runs++) {
    const double seconds = timed(frames);
    least = std::min(least, seconds);
    total += seconds;
  }
  return least / static_cast<double>(frames);
}

/// Detector and decoder once, with bits in the order of the code.
link_config checked(link_config link) {
  check_choices(link);
  link.receiver.reset();
  return link;
}

}  // namespace

receiver_clock::receiver_clock(const link_config& link, executor& exec)
    : link_(completed(checked(link))), exec_(exec), size_(link_), transmitter_(link_) {
  const std::size_t bytes = make_antennas(link_)->bytes_per_frame() + transmitter_.bytes_per_frame() +
                            make_receiver(link_)->bytes_per_frame() + frame_counter(link_).bytes_per_frame();
  const std::size_t memory = (exec_.is_device() ? std::size_t{1024} : std::size_t{16}) << 20;
  unit_ = std::max<std::size_t>(1, std::min(exec_.preferred_blocks(), memory / bytes));
  batch_ = std::max<std::size_t>(1, memory / bytes / unit_) * unit_;
  transmitter_.allocate(exec_, batch_);
}

const std::uint8_t* receiver_clock::bits_at(double point_db) {
  if (point_db_ == point_db) return sent_;
  point_db_.reset();
  transmitter_.draw(exec_, batch_at(point_db));
  sent_ = transmitter_.send(exec_, batch_at(point_db));
  exec_.sync();
  point_db_ = point_db;
  return sent_;
}

receiver_times receiver_clock::measure(const link_config& link, double point_db) {
  link_config c = completed(link);
  const frame_sizes size(c);
  if (size.k != size_.k || size.sent != size_.sent || size.symbols != size_.symbols || c.qam != link_.qam ||
      c.constellation != link_.constellation || &c.antennas.kind() != &link_.antennas.kind() ||
      rx_antennas_of(c) != rx_antennas_of(link_))
    throw argument_error("link", "another", "one that differs in detector and decoder alone");
  check_number("point_db", point_db, -100, 100);
  c.receiver.reset();  // each of them once
  const auto antennas = make_antennas(c);
  const auto receiver = make_receiver(c);
  frame_counter results(c);
  antennas->allocate(exec_, batch_);
  receiver->allocate(exec_, batch_);
  results.allocate(exec_, batch_);
  const samples received = antennas->send(exec_, bits_at(point_db), batch_at(point_db));
  exec_.sync();
  const auto stage = [&](std::size_t s) {
    return [&, s](std::size_t frames) {
      receiver->run_stage(exec_, s, heard_of(first_frames(received, frames, batch_)), results.wanted(frames));
    };
  };
  receiver_times times{.detect = seconds_of_frame(exec_, unit_, batch_, stage(0))};
  if (receiver->stages().size() == 1) return times;

  // LLRs of all frames that the decoder is timed on; of a slow detector not of the whole batch.
  const double max_frames = static_cast<double>(batch_), affordable = 25 * long_enough / times.detect;
  const std::size_t frames =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::min(max_frames, affordable)) / unit_) * unit_;
  stage(0)(frames);
  times.decode = seconds_of_frame(exec_, unit_, frames, stage(1));
  const view<std::int32_t> counted = results.wanted(unit_).iterations;
  std::vector<std::int32_t> iterations(counted.items * counted.elements);
  exec_.download(iterations.data(), counted.data, iterations.size() * sizeof(std::int32_t));
  exec_.sync();
  times.iterations =
      std::accumulate(iterations.begin(), iterations.end(), 0.0) / static_cast<double>(iterations.size());
  return times;
}

}  // namespace wb
