// The order in which settings are tried, and when one is given up.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/tradeoff.hpp>

namespace wb {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double first_snr_db = 20;             // for the first times of detectors, which hardly depend on it
constexpr double frames_of_a_search = 300;      // divided by the target, about
constexpr double most_seconds_of_a_search = 5;  // in detector and decoder

void check(const tradeoff_config& c) {
  check(fer_target{.fer = c.fer, .width_db = c.width_db, .max_frames = c.max_frames});
  if (!(c.loss_db >= 0 && c.loss_db <= 100)) throw argument_error("loss_db", decimal(c.loss_db), "0 to 100");
  if (c.max_seconds) check_number("max_seconds", *c.max_seconds, 0, 1e9);
}

class tradeoff_search {
 public:
  tradeoff_search(const link_config& link, const tradeoff_config& config, executor& exec,
                  const tradeoff_progress& progress)
      : link_(link), config_(config), exec_(exec), progress_(progress), clock_(link, exec) {}

  tradeoff_result run() {
    std::vector<link_config> first;
    for (const link_antennas& antennas : link_.antennas.kind().candidates(link_))
      first.push_back(with(antennas, link_.code));
    stage(timed(first, at_first()), true);
    const std::optional<std::size_t> fast = chosen_of(result_, config_.loss_db);
    if (done() || !fast) return finished();

    // Decoders, with the detector that is fastest within the loss that matters.
    const tradeoff_entry chosen = result_.entries[*fast];
    std::vector<link_config> others;
    const auto codes = decoder_candidates(link_.code, exec_.is_device());
    for (std::size_t i = 1; i < codes.size(); i++) others.push_back(with(chosen.link.antennas, codes[i]));
    const std::vector<std::size_t> detectors = result_.front;
    const std::size_t begin = result_.entries.size();
    stage(timed(others, *chosen.db), false);
    if (done()) return finished();

    // All pairs of what is left of both.
    std::vector<trial> pairs;
    for (const std::size_t e : result_.front) {
      if (e < begin) continue;
      for (const std::size_t d : detectors) {
        const tradeoff_entry &decoder = result_.entries[e], &detector = result_.entries[d];
        if (detector.detector == decoder.detector) continue;
        pairs.push_back({with(detector.link.antennas, decoder.link.code),
                         {detector.times.detect, decoder.times.decode, 0}});
      }
    }
    stage(std::move(pairs), false);
    return finished();
  }

 private:
  struct trial {
    link_config link;
    receiver_times expected;
  };

  link_config with(const link_antennas& antennas, const code_config& code) const {
    link_config c = link_;
    c.antennas = antennas;
    c.code = code;
    return c;
  }
  double at_first() const {
    if (link_.axis == snr_axis::snr_db) return first_snr_db;
    return first_snr_db - noise_level_at(completed(link_), 0).snr_db;
  }

  /// Receivers with their times at a point; those that are too late become entries.
  std::vector<trial> timed(const std::vector<link_config>& links, double point_db) {
    std::vector<trial> trials;
    for (const link_config& c : links) {
      tradeoff_entry entry = entry_of({c, {}});
      if (!told(entry, 0)) break;
      if (done()) {
        entry.fate = tradeoff_fate::late;
        result_.entries.push_back(std::move(entry));
      } else {
        trials.push_back({c, clock_.measure(c, point_db)});
      }
    }
    return trials;
  }

  /// Tries settings in the order of their times.
  void stage(std::vector<trial> trials, bool with_clips) {
    std::stable_sort(trials.begin(), trials.end(), [](const trial& a, const trial& b) {
      return a.expected.seconds() < b.expected.seconds();
    });
    for (const trial& t : trials) {
      if (result_.cancelled) return;
      tradeoff_entry e = entry_of(t);
      if (done())
        e.fate = tradeoff_fate::late;
      else if (e.times.seconds() * frames_of_a_search / config_.fer > most_seconds_of_a_search)
        e.fate = tradeoff_fate::slow;
      else
        search(e, with_clips);
      result_.entries.push_back(std::move(e));
      find_front();
    }
  }

  tradeoff_entry entry_of(const trial& t) const {
    tradeoff_entry e;
    e.link = t.link;
    e.times = t.expected;
    name(e);
    return e;
  }
  static void name(tradeoff_entry& e) {
    e.detector = e.link.antennas.kind().receiver_name(e.link.antennas);
    e.decoder = decoder_name(e.link.code);
  }

  /// What a setting of this time must stay below: the least that those need that are no slower.
  double limit_of(double seconds) const {
    double least = infinite;
    for (const tradeoff_entry& e : result_.entries)
      if (e.db && e.times.seconds() <= seconds) least = std::min(least, *e.db);
    return least;
  }

  fer_target target(const std::optional<double>& near_db) const {
    return {.fer = config_.fer,
            .width_db = config_.width_db,
            .near_db = near_db,
            .max_frames = config_.max_frames};
  }

  void search(tradeoff_entry& e, bool with_clips) {
    // It must gain half the width at least. Points are on a lattice of that half.
    const double limit = limit_of(e.times.seconds()) - config_.width_db / 2;
    const auto is_beyond = [&](const std::optional<double>& db) {
      return db && *db >= limit - config_.width_db / 4;
    };
    std::optional<double> near = limit < infinite ? limit : last_db_;
    if (near) near = std::clamp(*near, fer_target{}.least_db, fer_target{}.most_db);
    if (with_clips && near) choose_clip(e, *near);
    find(e, near, is_beyond);
    // The best limit depends on the SNR.
    const bool is_far = !near || (e.db && std::abs(*e.db - *near) > config_.width_db);
    if (with_clips && e.db && is_far && choose_clip(e, *e.db)) find(e, e.db, is_beyond);
    if (e.db) last_db_ = e.db, e.times = clock_.measure(e.link, *e.db);
  }

  /// Finds the SNR of the target, and what becomes of the setting.
  template <class F>
  void find(tradeoff_entry& e, const std::optional<double>& near, const F& is_beyond) {
    link_chain chain(e.link, exec_, most_of_a_batch());
    bool dominated = false;
    const fer_target_result found = find_fer(chain, target(near), [&](const fer_target_result& r) {
      dominated = is_beyond(r.low_db);
      return !dominated && told(e, e.frames + r.frames);
    });
    e.frames += found.frames;
    e.low_db = found.low_db;
    e.high_db = found.high_db;
    e.db.reset();
    if (dominated || is_beyond(found.low_db)) {
      e.fate = tradeoff_fate::dominated;
    } else if (found.db) {
      e.fate = found.reached() ? tradeoff_fate::measured : tradeoff_fate::imprecise;
      e.db = found.db;
      e.transmissions = transmissions_at(found);
    } else {
      e.fate = found.outcome == fer_outcome::budget ? tradeoff_fate::imprecise : tradeoff_fate::unreachable;
    }
  }

  /// With HARQ the mean number of them at the point nearest to the SNR found, else 1.
  static double transmissions_at(const fer_target_result& found) {
    const auto nearest =
        std::min_element(found.points.begin(), found.points.end(), [&](const auto& a, const auto& b) {
          return std::abs(a.sweep_db - *found.db) < std::abs(b.sweep_db - *found.db);
        });
    return nearest->transmissions == 0 ? 1 : nearest->mean_transmissions();
  }

  /// Takes the limit of LLRs that leaves the fewest errors in the same frames, if it saves more of them than
  /// their standard deviation. A limit costs no time. Returns whether it took another one.
  bool choose_clip(tradeoff_entry& e, double near_db) {
    if (is_uncoded(e.link.code)) return false;  // decisions have no magnitude
    const auto limits = e.link.antennas.kind().limits(e.link.antennas);
    if (limits.size() < 2) return false;
    std::vector<std::optional<double>> errors;
    for (const link_antennas& antennas : limits) errors.push_back(errors_with(antennas, e, near_db));
    if (result_.cancelled) return false;
    const auto fewer = [](const auto& a, const auto& b) {
      return a.value_or(infinite) < b.value_or(infinite);
    };
    const auto best = std::min_element(errors.begin(), errors.end(), fewer);
    const double given = errors.front().value_or(infinite), least = best->value_or(infinite);
    const bool saves = given < infinite ? given - least > std::sqrt(given) : least < infinite;
    if (!saves) return false;
    e.link = with(limits[static_cast<std::size_t>(best - errors.begin())], e.link.code);
    name(e);
    return true;
  }
  /// Frame errors among 24 / target frames; nothing if they are far more than the target's.
  std::optional<double> errors_with(const link_antennas& antennas, tradeoff_entry& e, double point_db) {
    const auto frames = static_cast<std::uint64_t>(std::ceil(24 / config_.fer));
    link_chain chain(with(antennas, e.link.code), exec_, most_of_a_batch());
    point_counts counts;
    bool is_far = false;
    for (const std::uint64_t part : {frames / 8, frames}) {
      if (is_far) break;
      counts = run_point(
                   chain, point_db, {.frame_errors = 0, .max_frames = part},
                   [&](const point_counts& n) { return told(e, e.frames + n.frames); }, counts)
                   .counts;
      is_far =
          static_cast<double>(counts.frame_errors) > 8 * config_.fer * static_cast<double>(counts.frames);
    }
    e.frames += counts.frames;
    if (is_far || counts.frames < frames) return std::nullopt;
    return static_cast<double>(counts.frame_errors);
  }

  std::size_t most_of_a_batch() const {
    return static_cast<std::size_t>(std::min(1e6, std::ceil(frames_of_a_search / config_.fer)));
  }

  void find_front() {
    std::vector<cost_and_need> costs;
    std::vector<std::size_t> entries;
    for (std::size_t i = 0; i < result_.entries.size(); i++)
      if (const tradeoff_entry& e = result_.entries[i]; e.db) {
        costs.push_back({e.times.seconds(), *e.db});
        entries.push_back(i);
      }
    result_.front.clear();
    for (const std::size_t i : front_of(costs)) result_.front.push_back(entries[i]);
  }

  bool told(const tradeoff_entry& entry, std::uint64_t frames) {
    if (!result_.cancelled && progress_ && !progress_(result_, entry, frames)) result_.cancelled = true;
    return !result_.cancelled;
  }
  bool done() const {
    if (result_.cancelled) return true;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    return config_.max_seconds && passed.count() > *config_.max_seconds;
  }
  tradeoff_result finished() { return std::move(result_); }

  const link_config& link_;
  const tradeoff_config& config_;
  executor& exec_;
  const tradeoff_progress& progress_;
  receiver_clock clock_;
  tradeoff_result result_;
  std::optional<double> last_db_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

tradeoff_result run_tradeoff(const link_config& link, const tradeoff_config& config, executor& exec,
                             const tradeoff_progress& progress) {
  check(config);
  return tradeoff_search(link, config, exec, progress).run();
}

}  // namespace wb
