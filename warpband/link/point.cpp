#include <warpband/link/point.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <warpband/core/check.hpp>
#include <warpband/link/antenna_kind.hpp>

namespace wb {

const std::vector<setting_of<stop_rule>>& stop_settings() {
  using c = stop_rule;
  constexpr std::int64_t most_count = 1'000'000'000'000'000;
  static const std::vector<setting_of<c>> settings{
      integer("frame_errors", &c::frame_errors, 0, most_count,
              "A point stops at exactly this many frame errors, with HARQ those that the last transmission "
              "leaves. 0: no such rule. `warpband sim --frame-errors` overrides it."),
      integer(
          "max_frames", &c::max_frames, 1, most_count,
          "A point stops after this many frames at the latest. `warpband sim --max-frames` overrides it."),
      number(
          "max_seconds", &c::max_seconds, 0, 1e9,
          "A point stops after this time, summed over all runs that added frames to it. With it the counts "
          "depend on the machine's speed. Absent: no such rule. `warpband sim --max-seconds` overrides it.",
          true, "a number of seconds above 0, up to 1e9"),
      number("below_fer", &c::below_fer, 0, 1,
             "Leaves out the points of a curve after the first whose frame error rate is below this."),
      number("below_bler", &c::below_bler, 0, 1,
             "As below_fer, with the error rate of the codewords of massive MIMO. stop.frame_errors counts "
             "frames with any wrong codeword.")
          .left_out_by_default()};
  return settings;
}

namespace {

double rate(std::uint64_t part, std::uint64_t whole) noexcept {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Frames that the rule of frame errors will still want, if errors go on as they came; at least a unit.
std::uint64_t frames_to_target(const point_counts& c, const stop_rule& stop, std::uint64_t unit) {
  if (stop.frame_errors == 0 || c.frame_errors == 0) return UINT64_MAX;
  const double missing = static_cast<double>(stop.frame_errors - c.frame_errors);
  const double frames = missing * static_cast<double>(c.frames) / static_cast<double>(c.frame_errors);
  return (static_cast<std::uint64_t>(std::min(frames, 1e15)) / unit + 1) * unit;
}

/// Frames of a first batch: as many as keep the executor busy, but where frames are large no more than any
/// processor has done in a few seconds. What a frame takes is known after that.
std::uint64_t first_batch(const link_config& link, std::uint64_t unit) {
  std::uint64_t work = bits_per_frame(link) * passes_of(link.code) + link.antennas.kind().work(link);
  work *= static_cast<std::uint64_t>(outer_iterations(link));
  if (is_transport(link.code)) work *= static_cast<std::uint64_t>(harq_of(link.code).transmissions);
  return std::clamp<std::uint64_t>((std::uint64_t{1} << 26) / work, 1, unit);
}

}  // namespace

stop_reason reason_of(const point_counts& c, const stop_rule& stop) noexcept {
  if (stop.frame_errors != 0 && c.frame_errors >= stop.frame_errors) return stop_reason::frame_errors;
  if (c.frames >= stop.max_frames) return stop_reason::max_frames;
  if (stop.max_seconds && c.seconds >= *stop.max_seconds) return stop_reason::time;
  return stop_reason::cancelled;
}

bool has_enough(const point_counts& counts, const stop_rule& stop) noexcept {
  return reason_of(counts, stop) != stop_reason::cancelled;
}

const char* name_of(stop_reason reason) noexcept {
  switch (reason) {
    case stop_reason::frame_errors:
      return "frame_errors";
    case stop_reason::max_frames:
      return "max_frames";
    case stop_reason::time:
      return "time";
    case stop_reason::cancelled:
      return "cancelled";
  }
  return "?";
}

double point_result::ber() const noexcept { return rate(counts.bit_errors, bits()); }
double point_result::fer() const noexcept { return rate(counts.frame_errors, counts.frames); }
std::optional<interval> point_result::ber_interval() const {
  if (codewords != 0)
    return clustered_interval(counts.bit_errors, counts.bit_errors_squared, counts.frames, bits_per_frame);
  if (!independent_bits) return {};
  return clopper_pearson(counts.bit_errors, bits());
}
interval point_result::fer_interval() const { return clopper_pearson(counts.frame_errors, counts.frames); }
std::optional<double> point_result::mean_iterations() const noexcept {
  if (!coded) return {};
  const std::uint64_t blocks = static_cast<std::uint64_t>(code_blocks) * transmissions_sent();
  return rate(counts.iterations, transmissions == 0 ? counts.frames : blocks);
}
std::optional<double> point_result::mutual_information() const noexcept {
  if (sent_bits == 0 || counts.frames == 0) return {};
  return 1 - counts.information_lost / static_cast<double>(counts.frames * sent_bits);
}
double point_result::mbps() const noexcept {
  if (!(counts.seconds > 0)) return 0;
  return 1e-6 * static_cast<double>(counts.frames_run * bits_per_frame) / counts.seconds;
}

double point_result::bler() const noexcept { return rate(counts.codeword_errors, counts.frames * codewords); }
interval point_result::bler_interval() const {
  if (codewords == 0) return {0, 1};
  return clustered_interval(counts.codeword_errors, counts.codeword_errors_squared, counts.frames, codewords);
}

double point_result::outer_ber(int n) const {
  check_range("n", n, 1, outer);
  return rate(counts.outer_bit_errors[static_cast<std::size_t>(n - 1)], bits());
}
double point_result::outer_fer(int n) const {
  check_range("n", n, 1, outer);
  return rate(counts.outer_frame_errors[static_cast<std::size_t>(n - 1)], counts.frames);
}
interval point_result::outer_fer_interval(int n) const {
  check_range("n", n, 1, outer);
  return clopper_pearson(counts.outer_frame_errors[static_cast<std::size_t>(n - 1)], counts.frames);
}
double point_result::outer_bler(int n) const {
  check_range("n", n, 1, outer);
  return rate(counts.outer_codeword_errors[static_cast<std::size_t>(n - 1)], counts.frames * codewords);
}

double point_result::bler(int n) const {
  check_range("n", n, 1, transmissions);
  return rate(counts.block_errors[static_cast<std::size_t>(n - 1)], counts.frames);
}
interval point_result::bler_interval(int n) const {
  check_range("n", n, 1, transmissions);
  return clopper_pearson(counts.block_errors[static_cast<std::size_t>(n - 1)], counts.frames);
}
std::uint64_t point_result::transmissions_sent() const noexcept {
  if (transmissions == 0) return 0;
  std::uint64_t sent = counts.frames;  // one more after each that failed, but for the last
  for (int n = 1; n < transmissions; n++) sent += counts.block_errors[static_cast<std::size_t>(n - 1)];
  return sent;
}
double point_result::mean_transmissions() const noexcept { return rate(transmissions_sent(), counts.frames); }
double point_result::relative_throughput() const noexcept {
  return transmissions == 0 ? 0 : rate(counts.frames - counts.frame_errors, transmissions_sent());
}
double point_result::throughput() const noexcept {
  if (transmissions == 0) return 0;
  return relative_throughput() * static_cast<double>(bits_per_frame) / static_cast<double>(resource_elements);
}
// Both are monotonic functions of the error rates that they are made of. So the exact intervals of these
// rates, a share of the 5% each, give their intervals.
interval point_result::mean_transmissions_interval() const {
  if (transmissions == 0) return {0, 0};
  interval i{1, 1};
  for (int n = 1; n < transmissions; n++) {
    const interval part = clopper_pearson(counts.block_errors[static_cast<std::size_t>(n - 1)], counts.frames,
                                          1 - 0.05 / (transmissions - 1));
    i.low += part.low, i.high += part.high;
  }
  return i;
}
interval point_result::throughput_interval() const {
  if (transmissions == 0) return {0, 0};
  const double confidence = 1 - 0.05 / transmissions;
  interval sent{1, 1};
  for (int n = 1; n < transmissions; n++) {
    const interval part =
        clopper_pearson(counts.block_errors[static_cast<std::size_t>(n - 1)], counts.frames, confidence);
    sent.low += part.low, sent.high += part.high;
  }
  const interval lost = clopper_pearson(counts.frame_errors, counts.frames, confidence);
  const double bits = static_cast<double>(bits_per_frame) / static_cast<double>(resource_elements);
  return {bits * (1 - lost.high) / sent.high, bits * (1 - lost.low) / sent.low};
}

bool add_frames(point_counts& counts, const frame_counts& batch, const stop_rule& stop) {
  for (std::size_t i = 0; i < batch.bit_errors.size(); i++) {
    if (counts.frames >= stop.max_frames) return true;
    counts.frames++;
    counts.bit_errors += static_cast<std::uint64_t>(batch.bit_errors[i]);
    bool error = batch.bit_errors[i] != 0;
    if (!batch.transmissions.empty()) {
      const bool passed = batch.passed[i] != 0;
      const std::size_t failed = batch.transmissions[i] - std::size_t{passed};
      for (std::size_t n = 0; n < failed; n++) counts.block_errors[n]++;
      counts.undetected_errors += passed && error;
      error = error || !passed;
    } else if (!batch.erased.empty()) {
      error = error || batch.erased[i] != 0;  // zeros, which may be right by chance
    }
    counts.frame_errors += error;
    for (std::size_t j = 0; j < batch.outer_bit_errors.size(); j++) {
      const std::int32_t bits = batch.outer_bit_errors[j][i];
      counts.outer_bit_errors[j] += static_cast<std::uint64_t>(bits);
      counts.outer_frame_errors[j] += bits != 0 || batch.outer_erased[j][i] != 0;
      if (!batch.outer_codeword_errors.empty())
        counts.outer_codeword_errors[j] += static_cast<std::uint64_t>(batch.outer_codeword_errors[j][i]);
    }
    if (!batch.codeword_errors.empty()) {
      const auto codewords = static_cast<std::uint64_t>(batch.codeword_errors[i]),
                 bits = static_cast<std::uint64_t>(batch.bit_errors[i]);
      counts.codeword_errors += codewords;
      counts.codeword_errors_squared += codewords * codewords;
      // A sum that would not fit stays where it is at its largest: the interval becomes too wide, not narrow.
      counts.bit_errors_squared += std::min(bits * bits, UINT64_MAX - counts.bit_errors_squared);
    }
    if (!batch.information_lost.empty()) counts.information_lost += double{batch.information_lost[i]};
    if (!batch.iterations.empty()) counts.iterations += static_cast<std::uint64_t>(batch.iterations[i]);
    if (!batch.erased_uses.empty()) counts.erased_uses += static_cast<std::uint64_t>(batch.erased_uses[i]);
    if (!batch.erased.empty()) counts.erased_frames += batch.erased[i];
    if (stop.frame_errors != 0 && counts.frame_errors >= stop.frame_errors) return true;
  }
  return counts.frames >= stop.max_frames;
}

point_result point_of(const link_config& link, double sweep_db) {
  const noise_level level = noise_level_at(link, sweep_db);
  point_result r;
  r.sweep_db = sweep_db;
  r.ebn0_db = level.ebn0_db;
  r.snr_db = level.snr_db;
  r.esn0_db = level.esn0_db;
  r.bits_per_frame = bits_per_frame(link);
  if (has_codewords(link)) r.codewords = codewords_per_frame(link);
  if (link.mutual_information) r.sent_bits = codewords_per_frame(link) * sizes_of(link.code).n;
  r.coded = !is_uncoded(link.code);
  if (link.receiver) r.outer = link.receiver->outer;
  if (is_transport(link.code)) {
    const harq_rule rule = harq_of(link.code);
    r.transmissions = rule.transmissions;
    r.code_blocks = rule.code_blocks;
    r.resource_elements = resource_elements(link);
  }
  const air_fading fading = fading_of(link.channel);
  r.independent_bits = !r.coded && !has_codewords(link) && !link.constellation &&
                       (fading == air_fading::none || (fading == air_fading::fast && link.qam == 2));
  return r;
}

point_result run_point(frame_runner& frames, double sweep_db, const stop_rule& stop,
                       const point_progress& progress, const point_counts& from) {
  using clock = std::chrono::steady_clock;
  if (stop.max_frames == 0) throw argument_error("max_frames", "0", "at least 1");
  point_result r = point_of(frames.config(), sweep_db);
  r.counts = from;
  point_counts& c = r.counts;

  const std::uint64_t max_batch = frames.max_batch();
  std::uint64_t unit = std::min<std::uint64_t>(max_batch, frames.preferred_frames());
  std::uint64_t batch = first_batch(frames.config(), unit);
  bool cancelled = false;
  while (!cancelled && !has_enough(c, stop)) {
    const std::uint64_t left = stop.max_frames - c.frames;
    const std::uint64_t count = std::min({batch, left, std::max(unit, frames_to_target(c, stop, unit))});
    const auto start = clock::now();
    const frame_counts& counts = frames.run(c.frames, static_cast<std::size_t>(count), sweep_db);
    add_frames(c, counts, stop);
    const double seconds = std::chrono::duration<double>(clock::now() - start).count();
    c.frames_run += count;
    c.seconds += seconds;
    // Long enough to hide the start of a batch. Short enough for a lively progress and a prompt Ctrl-C, and
    // far below the distance of two checkpoints.
    if (seconds < 0.1)
      batch = std::min(max_batch, batch * (seconds < 0.02 ? 4 : 2));
    else if (seconds > 5 && count > 1)
      batch = unit = std::max<std::uint64_t>(1, count / static_cast<std::uint64_t>(seconds));
    if (progress) cancelled = !progress(c);
  }
  r.stopped_by = reason_of(c, stop);
  return r;
}

}  // namespace wb
