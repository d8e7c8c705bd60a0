#pragma once
// A point of a curve: stop rules, counts, error rates.
//
// Frames are counted in order of their index and the count stops at the exact frame that meets the rule. The
// rest of its batch is thrown away. So the counts are the same for any batch size, number of threads and
// backend (except under the rule of time). The counts are also the whole state of a point: run_point goes on
// from them and comes to what a run in one go would have come to. The point may have been interrupted, or a
// rule may ask for more now.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/link/frame_runner.hpp>
#include <warpband/link/interval.hpp>

namespace wb {

/// When a point has enough; the first rule to hold stops it.
struct stop_rule {
  std::uint64_t frame_errors = 100;        // 0: no such rule
  std::uint64_t max_frames = 1'000'000;    // at least 1
  std::optional<double> max_seconds = {};  // with it, counts depend on the machine
  double below_fer = 0;   // leaves out the points of a curve after one whose FER is below this
  double below_bler = 0;  // the same of the error rate of massive MIMO's codewords
  bool operator==(const stop_rule&) const = default;
};

/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<stop_rule>>& stop_settings();

/// The state of a point: frames [0, frames) are counted, frame `frames` is next.
struct point_counts {
  std::uint64_t frames = 0, bit_errors = 0, frame_errors = 0, erased_frames = 0;
  std::uint64_t iterations = 0;   // of the decoder, sum over the frames
  std::uint64_t erased_uses = 0;  // of the channel, with a detector
  std::uint64_t frames_run = 0;   // with those thrown away after the stop; for the speed only
  double seconds = 0;             // of all runs that had a part in it
  // With HARQ. A frame error is then a block whose CRCs fail to the end, or hold although bits are wrong.
  std::array<std::uint64_t, most_transmissions> block_errors{};  // [n]: CRCs fail after n + 1 transmissions
  std::uint64_t undetected_errors = 0;  // blocks whose CRCs hold although bits are wrong
  // With a receiver in a loop: after outer iteration n + 1. Those of the last stand above too.
  std::array<std::uint64_t, most_outer> outer_bit_errors{}, outer_frame_errors{};
  std::array<std::uint64_t, most_outer> outer_codeword_errors{};  // with massive MIMO
  // With massive MIMO, whose frames hold many codewords that fail together.
  std::uint64_t codeword_errors = 0;
  std::uint64_t codeword_errors_squared = 0;  // sum over the frames of their number's square
  std::uint64_t bit_errors_squared = 0;
  double information_lost = 0;  // bits sent that LLRs do not tell, where that is measured
  bool operator==(const point_counts&) const = default;
};

/// Whether a point with these counts is finished: a rule holds.
bool has_enough(const point_counts& counts, const stop_rule& stop) noexcept;

enum class stop_reason { frame_errors, max_frames, time, cancelled };
/// The rule that holds; "cancelled" where none does.
stop_reason reason_of(const point_counts& counts, const stop_rule& stop) noexcept;
/// "frame_errors", "max_frames", "time", "cancelled".
const char* name_of(stop_reason reason) noexcept;

/// One point of a curve.
struct point_result {
  double sweep_db = 0;  // its number in the sweep: ebn0_db, snr_db or esn0_db
  double ebn0_db = 0, snr_db = 0, esn0_db = 0;
  std::uint64_t bits_per_frame = 0;
  bool coded = false, independent_bits = false;
  point_counts counts;
  stop_reason stopped_by = stop_reason::max_frames;
  /// With HARQ the most transmissions of a block, else 0; then the rest, of one transmission, is not set.
  int transmissions = 0;
  int code_blocks = 0;
  std::uint64_t resource_elements = 0;
  /// With a receiver in a loop its outer iterations, else 0.
  int outer = 0;
  /// With massive MIMO the codewords of a frame, else 0.
  std::uint64_t codewords = 0;
  /// Where mutual information is measured the bits of a frame as sent, else 0.
  std::uint64_t sent_bits = 0;

  std::uint64_t bits() const noexcept { return counts.frames * bits_per_frame; }
  double ber() const noexcept;
  double fer() const noexcept;
  /// 95%. Not there for the bits of a coded or jointly faded frame: they fail together, and an interval that
  /// takes them for independent would be too narrow. With massive MIMO it is there, from how frames differ.
  std::optional<interval> ber_interval() const;
  interval fer_interval() const;
  /// Mean decoder iterations of a frame, with HARQ of a code block after a transmission; not there when
  /// uncoded.
  std::optional<double> mean_iterations() const noexcept;
  /// Of a sent bit and its LLR, in bits; not there where it is not measured. LLRs that are too large may
  /// bring it below 0.
  std::optional<double> mutual_information() const noexcept;
  /// Megabits per second that went through the whole chain, counted where they enter the encoder.
  double mbps() const noexcept;

  // With massive MIMO; else 0 and [0, 1].
  /// Error rate of codewords.
  double bler() const noexcept;
  interval bler_interval() const;  // 95%, frames being what is independent: `clustered_interval`

  // After n outer iterations of a receiver in a loop, 1..outer. Throw argument_error for another n.
  double outer_ber(int n) const;
  double outer_fer(int n) const;
  interval outer_fer_interval(int n) const;  // 95%
  double outer_bler(int n) const;            // of codewords, with massive MIMO; else 0

  // With HARQ; else 0 and [0, 0].
  /// Block error rate after n transmissions, 1..transmissions: of blocks whose CRCs do not hold by then,
  /// among all. Throws argument_error for another n.
  double bler(int n) const;
  interval bler_interval(int n) const;  // 95%
  /// Of all blocks.
  std::uint64_t transmissions_sent() const noexcept;
  double mean_transmissions() const noexcept;
  interval mean_transmissions_interval() const;  // at least 95%
  /// Bits of blocks without an error, per resource element sent.
  double throughput() const noexcept;
  interval throughput_interval() const;  // at least 95%
  /// The same as a part of what one transmission of each block would bring, 0..1.
  double relative_throughput() const noexcept;
};

/// A point of this link without a frame.
point_result point_of(const link_config& link, double sweep_db);

/// Called after each batch; false cancels.
using point_progress = std::function<bool(const point_counts&)>;

/// Adds a batch's frames to the counts, in order, up to the frame at which the rule holds. True if it did.
bool add_frames(point_counts& counts, const frame_counts& batch, const stop_rule& stop);

/// Runs one point until a rule stops it, from the state `from`. A point that has enough stays as it is, even
/// if it has more than the rule asks for. A batch takes a fraction of a second, and where a frame is slow no
/// more than a few seconds, if a frame does not. Throws argument_error for max_frames = 0.
point_result run_point(frame_runner& frames, double sweep_db, const stop_rule& stop,
                       const point_progress& progress = {}, const point_counts& from = {});

}  // namespace wb
