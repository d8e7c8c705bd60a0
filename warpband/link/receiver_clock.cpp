#include <warpband/link/receiver_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/channel/rayleigh/rayleigh.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/link/names.hpp>
#include <warpband/link/source/source.hpp>

namespace wb {
namespace {

constexpr double long_enough = 0.02;  // seconds of a run, where there are frames enough
constexpr int least_runs = 3, most_runs = 9;

std::size_t size(int n) { return static_cast<std::size_t>(n); }

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
    : link_(completed(checked(link))), exec_(exec), mapper_(link.qam) {
  streams_ = std::holds_alternative<detector_config>(link_.antennas);
  const code_sizes sizes = sizes_of(link_.code);
  bits_ = sizes.k;
  sent_ = sizes.n;
  uses_ = uses_per_frame(link_);
  symbols_ = symbols_per_frame(link_);
  padded_ = symbols_ * size(mapper_.bits());

  const std::size_t rx = size(rx_antennas_of(link_)), tx = size(streams_of(link_));
  const std::size_t bytes = 2 * bits_ + 5 * padded_ + 8 * (symbols_ + uses_ * (rx + rx * tx)) + 9;
  const std::size_t memory = (exec_.is_device() ? std::size_t{1024} : std::size_t{16}) << 20;
  unit_ = std::max<std::size_t>(1, std::min(exec_.preferred_batch(true), memory / bytes));
  batch_ = std::max<std::size_t>(1, memory / bytes / unit_) * unit_;
  const bool coded = link_.code.type != code_type::none;
  source_ = exec_.make<std::uint8_t>(coded ? bits_ : padded_, batch_);
  if (coded) coded_ = exec_.make<std::uint8_t>(padded_, batch_);
  decided_ = exec_.make<std::uint8_t>(bits_, batch_);
  status_ = exec_.make<std::uint8_t>(1, batch_ * uses_);
  iterations_ = exec_.make<std::int32_t>(1, batch_);
  sent_symbols_ = exec_.make<std::complex<float>>(tx, batch_ * uses_);
  received_ = exec_.make<std::complex<float>>(rx, batch_ * uses_);
  gain_ = exec_.make<std::complex<float>>(rx * tx, batch_ * (is_block_fading(link_) && streams_ ? 1 : uses_));
  llr_ = exec_.make<float>(padded_, batch_);
  noise_var_ = exec_.make<float>(1, 1);
  const std::vector<std::uint8_t> zeros(source_.size());  // behind the bits of a frame
  exec_.upload(source_.data(), zeros.data(), source_.bytes());
  exec_.sync();
}

void receiver_clock::send(double point_db) {
  if (point_db_ == point_db) return;
  point_db_.reset();
  const bool coded = link_.code.type != code_type::none;
  const view<std::uint8_t> bits{source_.data(), bits_, batch_, 1, source_.elements()};
  const int crc = link_.code.crc ? link_.code.crc->degree : 0;
  random_bits(exec_, bits, static_cast<int>(bits_) - crc, {link_.seed, 0, 0});
  if (crc != 0) crc_attacher(static_cast<int>(bits_) - crc, *link_.code.crc).run(exec_, bits);
  if (coded) make_codec(link_.code)->encode(exec_, bits, make_view(coded_.data(), padded_, batch_));
  const std::uint8_t* sent = coded ? coded_.data() : source_.data();
  mapper_.run(exec_, make_view(sent, size(mapper_.bits()), batch_ * symbols_),
              make_view(sent_symbols_.data(), batch_ * symbols_));
  const float n0 = static_cast<float>(std::pow(10, -noise_level_at(link_, point_db).esn0_db / 10));
  exec_.upload(noise_var_.data(), &n0, sizeof n0);
  const std::size_t rx = size(rx_antennas_of(link_)), tx = size(streams_of(link_)), uses = batch_ * uses_;
  const auto s = make_view(sent_symbols_.data(), tx, uses);
  const auto y = make_view(received_.data(), rx, uses), entries = make_view(received_.data(), rx * uses);
  const std::size_t shared = is_block_fading(link_) ? uses_ : 1;
  if (const auto* line = std::get_if<tdl_config>(&link_.channel))
    tdl_channel(*line).apply(exec_, s, y, make_view(gain_.data(), rx * tx, uses), {link_.seed, 0, 0});
  else if (streams_)
    apply_mimo_rayleigh(exec_, s, y, make_view(gain_.data(), rx * tx, uses / shared), shared,
                        {link_.seed, 0, 0});
  else if (std::holds_alternative<rayleigh_config>(link_.channel))
    apply_rayleigh(exec_, s, y, make_view(gain_.data(), uses), static_cast<int>(shared), {link_.seed, 0, 0});
  const bool faded = !std::holds_alternative<awgn_config>(link_.channel);
  add_awgn(exec_, faded ? entries : make_view(sent_symbols_.data(), uses), entries, n0, {link_.seed, 0, 0});
  exec_.sync();
  point_db_ = point_db;
}

void receiver_clock::detect(const detector& detector, std::size_t frames) {
  const std::size_t uses = frames * uses_, shared = is_block_fading(link_) ? uses_ : 1,
                    rx = size(detector.rx_antennas()), tx = size(detector.streams());
  detector.run(exec_,
               {.received = make_view(received_.data(), rx, uses),
                .channel = make_view(gain_.data(), rx * tx, uses / shared),
                .uses_per_channel = shared,
                .noise_var = {noise_var_.data(), 1, uses, 1, 0},
                .prior = {}},
               {.llr = make_view(llr_.data(), detector.bits_per_use(), uses),
                .bits = {},
                .status = make_view(status_.data(), uses)});
}

void receiver_clock::demap(const demapper& demapper, std::size_t frames) {
  const std::size_t uses = frames * uses_;
  view<const std::complex<float>> h;
  if (!std::holds_alternative<awgn_config>(link_.channel)) h = make_view(gain_.data(), uses);
  demapper.run(exec_,
               {.received = make_view(received_.data(), uses),
                .channel = h,
                .noise_var = {noise_var_.data(), 1, uses, 1, 0}},
               make_view(llr_.data(), size(demapper.bits()), uses));
}

receiver_times receiver_clock::measure(const link_config& link, double point_db) {
  const link_config c = completed(link);
  const code_sizes sizes = sizes_of(c.code);
  if (sizes.k != bits_ || sizes.n != sent_ || symbols_per_frame(c) != symbols_ || c.qam != link_.qam ||
      c.antennas.index() != link_.antennas.index() || rx_antennas_of(c) != rx_antennas_of(link_))
    throw argument_error("link", "another", "one that differs in detector and decoder alone");
  check_number("point_db", point_db, -100, 100);
  send(point_db);
  receiver_times times;
  std::function<void(std::size_t)> front;
  std::unique_ptr<detector> detector;
  if (streams_) {
    detector = make_detector(std::get<detector_config>(c.antennas));
    front = [&](std::size_t frames) { detect(*detector, frames); };
  } else {
    front = [this, demapper = demapper(c.qam, std::get<single_antenna>(c.antennas).demapper)](
                std::size_t frames) { demap(demapper, frames); };
  }
  times.detect = seconds_of_frame(exec_, unit_, batch_, front);
  if (c.code.type == code_type::none) return times;

  // LLRs of all frames that the decoder is timed on; of a slow detector not of the whole batch.
  const double most = static_cast<double>(batch_), affordable = 25 * long_enough / times.detect;
  const std::size_t frames =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::min(most, affordable)) / unit_) * unit_;
  front(frames);
  const auto codec = make_codec(c.code);
  times.decode = seconds_of_frame(exec_, unit_, frames, [&](std::size_t n) {
    codec->decode(exec_, {llr_.data(), sent_, n, 1, padded_},
                  {.bits = make_view(decided_.data(), bits_, n),
                   .soft = {},
                   .iterations = make_view(iterations_.data(), n),
                   .status = make_view(status_.data(), n)});
  });
  std::vector<std::int32_t> iterations(unit_);
  exec_.download(iterations.data(), iterations_.data(), unit_ * sizeof(std::int32_t));
  exec_.sync();
  times.iterations = std::accumulate(iterations.begin(), iterations.end(), 0.0) / static_cast<double>(unit_);
  return times;
}

}  // namespace wb
