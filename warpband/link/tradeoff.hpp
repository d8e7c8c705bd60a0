#pragma once
// A flexible receiver exchanges accuracy for throughput (M. Wu, B. Yin, J. R. Cavallaro, "Flexible N-way MIMO
// detector on GPU", 2012). Here that is a search: of all settings of detector and decoder it finds those that
// no other beats both in time and in signal-to-noise ratio (SNR). The SNR is that of a frame error rate,
// measured on this device.
//
// Detectors come first, with the decoder of the link, the fastest first. One that needs more SNR than a
// faster one is dominated: a few frames at that SNR show it, and its search ends. Each detector gets the
// limit of LLRs that saves frame errors, if one does. Then come decoders, with one of the detectors that are
// left; then all pairs of what is left of both. So a decoder that is dominated with one detector is taken to
// be so with all.
//
// Transport blocks are sent again as HARQ has it. Their error rate is that after the last transmission, and
// their times are those of one transmission. In massive MIMO the error rate is that of drops, with any wrong
// codeword.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpband/link/fer_target.hpp>
#include <warpband/link/receiver_clock.hpp>

namespace wb {

// ---- dominance

/// What a setting costs, and what it needs; the smaller both, the better.
struct cost_and_need {
  double seconds = 0, db = 0;
};
/// No worse in both, and better in one.
bool dominates(const cost_and_need& a, const cost_and_need& b) noexcept;
/// Those that no other dominates, in the order of rising time, and so of falling dB; of equal ones the first.
std::vector<std::size_t> front_of(std::span<const cost_and_need> settings);
/// The fastest of a front that needs at most `loss_db` more than the best of it; nothing of an empty front.
std::optional<std::size_t> fastest_within(std::span<const cost_and_need> settings,
                                          std::span<const std::size_t> front, double loss_db);

// ---- candidates

/// Detectors that make sense for the antennas and the constellation of one: it itself, and what the list of
/// detectors has as candidates (detector_kind::candidates). All LLRs are limited as `base` has it, if it says
/// so.
std::vector<detector_config> detector_candidates(const detector_config& base);
/// Limits of LLRs to try, the one in force first: it, 4, 8, 16, and `no_clip` where LLRs need no limit.
std::vector<float> clip_candidates(float in_force, bool needs_limit);
/// "normalised-min-sum int8, 15 iterations"; "none" uncoded.
std::string decoder_name(const code_config& code);

// ---- the search

struct tradeoff_config {
  double fer = 1e-2;       // above 0, below 1
  double width_db = 0.25;  // of the interval of each SNR, at most: 0.01..10
  double loss_db = 0.5;    // the loss that matters: picks the detector that decoders are tried with
  std::uint64_t max_frames = 1'000'000;  // of a setting, at least 1
  /// No further setting is begun after this time.
  std::optional<double> max_seconds = {};
};

/// What became of a setting.
enum class tradeoff_fate {
  measured,
  dominated,    // a faster one needs less
  unreachable,  // the target is not reached up to 60 dB
  imprecise,    // max_frames did not suffice for the width, or even for both ends of the interval
  slow,         // its frames, about 300 divided by the target, would take more than 5 s
  late,         // max_seconds were over
};
/// "measured", "dominated", ...
const char* name_of(tradeoff_fate fate) noexcept;

struct tradeoff_entry {
  std::string detector, decoder;
  link_config link;  // not completed
  tradeoff_fate fate = tradeoff_fate::measured;
  receiver_times times;
  /// The SNR of the target, in the link's axis, and its interval. Nothing: not found, or not asked for.
  std::optional<double> db, low_db, high_db;
  std::uint64_t frames = 0;  // that were sent to find it
  /// With HARQ the mean number of transmissions of a block near `db`.
  double transmissions = 1;
};
/// Bits a second through detector and decoder: those that enter the encoder, and those that are sent.
struct receiver_rates {
  double information, coded;
};
receiver_rates rates_of(const tradeoff_entry& entry);

struct tradeoff_result {
  std::vector<tradeoff_entry> entries;  // in the order in which they were tried
  std::vector<std::size_t> front;       // rising time
  bool cancelled = false;
};
/// The dB of an entry of the front beyond those of the best of it.
double loss_of(const tradeoff_result& result, std::size_t entry);
/// Of the front, see fastest_within.
std::optional<std::size_t> chosen_of(const tradeoff_result& result, double loss_db);

/// Throws argument_error for a link whose receiver has no choice: the downlink of massive MIMO, and antennas
/// of a program without `antenna_kind::candidates`.
void check_choices(const link_config& link);

/// Called often, with the entry under way; false cancels.
using tradeoff_progress =
    std::function<bool(const tradeoff_result& so_far, const tradeoff_entry& current, std::uint64_t frames)>;

/// Measures the settings of a link's receiver. `link` is as a scenario has it, not completed. Throws
/// argument_error for links without a choice (check_choices), and for settings that are not allowed.
tradeoff_result run_tradeoff(const link_config& link, const tradeoff_config& config, executor& exec,
                             const tradeoff_progress& progress = {});

}  // namespace wb
