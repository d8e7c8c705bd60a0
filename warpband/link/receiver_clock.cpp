#include <warpband/link/receiver_clock.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/link/codec.hpp>
#include <warpband/link/names.hpp>

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
  double least = first, all = first;
  int runs = 1;
  const auto enough = [&] {
    return runs == most_runs || (runs >= least_runs && all > 3 * long_enough) || all > 20 * long_enough;
  };
  for (; !enough(); runs++) {
    const double now = timed(frames);
    least = std::min(least, now);
    all += now;
  }
  return least / static_cast<double>(frames);
}

const link_config& checked(const link_config& link) {
  if (std::holds_alternative<massive_link_config>(link.antennas) ||
      std::holds_alternative<stbc_config>(link.antennas))
    throw argument_error("antennas", "massive MIMO or a space-time code", "one antenna or a detector");
  if (is_transport(link.code.type))
    throw argument_error("code.type", "\"" + std::string(name_of(link.code.type)) + "\"",
                         "a code without HARQ");
  return link;
}

}  // namespace

receiver_clock::receiver_clock(const link_config& link, executor& exec)
    : link_(completed(checked(link))),
      exec_(exec),
      size_(link_),
      source_(link_),
      coded_link_(link_.code.type != code_type::none) {
  const std::size_t bytes = make_antennas(link_)->bytes_per_frame() + 2 * size_.k + 5 * size_.padded + 5;
  const std::size_t memory = (exec_.is_device() ? std::size_t{1024} : std::size_t{16}) << 20;
  unit_ = std::max<std::size_t>(1, std::min(exec_.preferred_batch(true), memory / bytes));
  batch_ = std::max<std::size_t>(1, memory / bytes / unit_) * unit_;
  bits_ = exec_.make<std::uint8_t>(coded_link_ ? size_.k : size_.padded, batch_);
  if (coded_link_) coded_ = exec_.make<std::uint8_t>(size_.padded, batch_);
  decided_ = exec_.make<std::uint8_t>(size_.k, batch_);
  status_ = exec_.make<std::uint8_t>(1, batch_);
  iterations_ = exec_.make<std::int32_t>(1, batch_);
  llr_ = exec_.make<float>(size_.padded, batch_);
  clear(exec_, bits_);  // behind the bits of a frame
}

const std::uint8_t* receiver_clock::bits_at(double point_db) {
  const std::uint8_t* sent = coded_link_ ? coded_.data() : bits_.data();
  if (point_db_ == point_db) return sent;
  point_db_.reset();
  const view<std::uint8_t> bits{bits_.data(), size_.k, batch_, 1, bits_.elements()};
  source_.run(exec_, bits, batch_at(point_db));
  if (coded_link_)
    make_codec(link_.code)->encode(exec_, bits, make_view(coded_.data(), size_.padded, batch_));
  exec_.sync();
  point_db_ = point_db;
  return sent;
}

receiver_times receiver_clock::measure(const link_config& link, double point_db) {
  const link_config c = completed(link);
  const frame_sizes size(c);
  if (size.k != size_.k || size.sent != size_.sent || size.symbols != size_.symbols || c.qam != link_.qam ||
      c.antennas.index() != link_.antennas.index() || rx_antennas_of(c) != rx_antennas_of(link_))
    throw argument_error("link", "another", "one that differs in detector and decoder alone");
  check_number("point_db", point_db, -100, 100);
  const auto antennas = make_antennas(c);
  antennas->allocate(exec_, batch_);
  antennas->send(exec_, bits_at(point_db), batch_at(point_db));
  exec_.sync();
  const auto detect = [&](std::size_t frames) { antennas->detect(exec_, frames, {.llr = llr_.data()}); };
  receiver_times times{.detect = seconds_of_frame(exec_, unit_, batch_, detect)};
  if (!coded_link_) return times;

  // LLRs of all frames that the decoder is timed on; of a slow detector not of the whole batch.
  const double most = static_cast<double>(batch_), affordable = 25 * long_enough / times.detect;
  const std::size_t frames =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::min(most, affordable)) / unit_) * unit_;
  detect(frames);
  time_decoder(times, *make_codec(c.code), frames);
  return times;
}

void receiver_clock::time_decoder(receiver_times& times, const codec& codec, std::size_t frames) {
  times.decode = seconds_of_frame(exec_, unit_, frames, [&](std::size_t n) {
    codec.decode(exec_, {llr_.data(), size_.sent, n, 1, size_.padded},
                 {.bits = make_view(decided_.data(), size_.k, n),
                  .soft = {},
                  .iterations = make_view(iterations_.data(), n),
                  .status = make_view(status_.data(), n)});
  });
  std::vector<std::int32_t> iterations;
  download(exec_, iterations, iterations_, unit_);
  exec_.sync();
  times.iterations = std::accumulate(iterations.begin(), iterations.end(), 0.0) / static_cast<double>(unit_);
}

}  // namespace wb
