#include <warpband/link/sweep.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <warpband/core/error.hpp>

namespace wb {
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

}  // namespace

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
  if (!independent_bits) return {};
  return clopper_pearson(counts.bit_errors, bits());
}
interval point_result::fer_interval() const { return clopper_pearson(counts.frame_errors, counts.frames); }
std::optional<double> point_result::mean_iterations() const noexcept {
  if (!coded) return {};
  return rate(counts.iterations, counts.frames);
}
double point_result::mbps() const noexcept {
  if (!(counts.seconds > 0)) return 0;
  return 1e-6 * static_cast<double>(counts.frames_run * bits_per_frame) / counts.seconds;
}

bool add_frames(point_counts& counts, const frame_counts& batch, const stop_rule& stop) {
  for (std::size_t i = 0; i < batch.bit_errors.size(); i++) {
    if (counts.frames >= stop.max_frames) return true;
    counts.frames++;
    counts.bit_errors += static_cast<std::uint64_t>(batch.bit_errors[i]);
    counts.frame_errors += batch.bit_errors[i] != 0;
    if (!batch.iterations.empty()) counts.iterations += static_cast<std::uint64_t>(batch.iterations[i]);
    if (!batch.erased.empty()) counts.erased_frames += batch.erased[i];
    if (stop.frame_errors != 0 && counts.frame_errors >= stop.frame_errors) return true;
  }
  return counts.frames >= stop.max_frames;
}

point_result run_point(link_chain& chain, double ebn0_db, const stop_rule& stop,
                       const point_progress& progress, const point_counts& from) {
  using clock = std::chrono::steady_clock;
  if (stop.max_frames == 0) throw argument_error("max_frames", "0", "at least 1");
  const link_config& config = chain.config();
  point_result r;
  r.ebn0_db = ebn0_db;
  r.esn0_db = esn0_from_ebn0_db(config, ebn0_db);
  r.bits_per_frame = static_cast<std::uint64_t>(config.k);
  r.coded = chain.coded();
  r.independent_bits = !r.coded && (config.channel == channel_type::awgn ||
                                    (config.fading == fading_type::fast && config.qam == 2));
  r.counts = from;
  point_counts& c = r.counts;

  const std::uint64_t most = chain.max_batch();
  const std::uint64_t unit = std::min<std::uint64_t>(most, chain.where().preferred_batch(true));
  std::uint64_t batch = unit;
  const auto met = [&] {
    return c.frames >= stop.max_frames || (stop.frame_errors != 0 && c.frame_errors >= stop.frame_errors);
  };
  bool enough = met(), cancelled = false, late = false;
  while (!enough && !cancelled && !late) {
    const std::uint64_t left = stop.max_frames - c.frames;
    const std::uint64_t now = std::min({batch, left, std::max(unit, frames_to_target(c, stop, unit))});
    const auto start = clock::now();
    const frame_counts& counts = chain.run(c.frames, static_cast<std::size_t>(now), ebn0_db);
    enough = add_frames(c, counts, stop);
    const double seconds = std::chrono::duration<double>(clock::now() - start).count();
    c.frames_run += now;
    c.seconds += seconds;
    // Long enough to hide the start of a batch, short enough for a lively progress and a prompt Ctrl-C.
    if (seconds < 0.1) batch = std::min(most, batch * (seconds < 0.02 ? 4 : 2));
    if (progress) cancelled = !progress(c);
    late = stop.max_seconds > 0 && c.seconds >= stop.max_seconds;
  }
  if (enough)
    r.stopped_by = stop.frame_errors != 0 && c.frame_errors >= stop.frame_errors ? stop_reason::frame_errors
                                                                                 : stop_reason::max_frames;
  else
    r.stopped_by = cancelled ? stop_reason::cancelled : stop_reason::time;
  return r;
}

curve_result run_curve(const curve_config& curve, executor& exec, const curve_observer& observer) {
  curve_result result{curve.label, curve, {}, false};
  result.config.link = completed(curve.link);
  const std::uint64_t most = std::min<std::uint64_t>(curve.stop.max_frames, SIZE_MAX);
  link_chain chain(curve.link, exec, static_cast<std::size_t>(most));
  for (std::size_t i = 0; i < curve.ebn0_db.size(); i++) {
    const auto progress = [&](const point_counts& counts) {
      return !observer.progress || observer.progress(chain, i, counts);
    };
    point_result point = run_point(chain, curve.ebn0_db[i], curve.stop, progress);
    if (point.stopped_by == stop_reason::cancelled) {
      result.cancelled = true;
      break;
    }
    result.points.push_back(point);
    if (observer.finished) observer.finished(result);
    if (point.fer() < curve.stop.below_fer) break;
  }
  return result;
}

}  // namespace wb
