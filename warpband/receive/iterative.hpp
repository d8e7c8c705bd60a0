#pragma once
// Iterative detection and decoding: detector and decoder exchange extrinsic LLRs of the coded bits.
//
//   y, H, N0, priors -> detector -> deinterleave, clip -> decoder -> scale, interleave -> priors -> ...
//
// P is the interleaver, L_D the extrinsic LLRs of the detector, L_C those of the decoder, and A_j a-priori
// LLRs. Outer iteration j = 1, 2, ... is
//
//   L_D = detect(y, H, N0, A_j),  L_C = decode(clip(P^-1 L_D)),  A_{j+1} = clip(scaling * P L_C),  A_1 = 0
//
// (B. M. Hochwald, S. ten Brink, "Achieving near-capacity on a multiple-antenna channel", IEEE Trans.
// Commun., 2003, §III). With one outer iteration this is the open loop, bit for bit.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/receive/interleaver.hpp>
#include <warpband/receive/receiver.hpp>
#include <warpband/receive/soft.hpp>

namespace wb {

enum class receiver_interleaver { none, random };
enum class receiver_state {
  keep,   // the decoder goes on from the messages of the outer iteration before
  reset,  // it begins anew
};

/// LLRs that are fed back are limited to this, so that a loop that diverges stays finite: e^-100 is no
/// probability that a detector in float32 could tell from 0.
inline constexpr float most_feedback = 100;

/// The most outer iterations of a receiver.
inline constexpr int most_outer = 16;

struct receiver_config {
  int outer = 1;  // outer iterations, 1..most_outer
  /// Iterations of the decoder in each of them, 1..1000; absent: those of its own configuration.
  std::optional<int> inner = {};
  float scaling = 1;  // factor on the extrinsic LLRs of the decoder, (0, 2]
  receiver_interleaver interleaver = receiver_interleaver::none;
  std::int64_t interleaver_seed = 1;  // of random_permutation, from 0
  /// In place of it: bit i of a frame is coded bit permutation[i].
  std::vector<std::int32_t> permutation = {};
  /// A decoder without a state begins anew in any case.
  receiver_state decoder_state = receiver_state::keep;
  /// The decoder's input is limited to +-detector_clip: 0.001..1e6.
  std::optional<float> detector_clip = {};
};
/// Its settings: names, what is allowed, what they mean. Without the permutation.
const std::vector<setting_of<receiver_config>>& receiver_settings();

/// The interleaver of its n coded bits. Throws argument_error for a permutation that is none of them.
bit_interleaver interleaver_of(const receiver_config& config, std::size_t n);

/// A receiver with any detector and decoder that have soft input and output.
///
/// A frame whose checks hold after an outer iteration is finished (soft_decoder_output): its results stay as
/// they are. Once more than a fourth of the frames are finished the others are packed together, so that
/// finished ones cost nothing. Until then finished frames are computed again, without effect. For this `run`
/// waits between outer iterations for one number, how many frames are left. With one outer iteration it only
/// queues. Without checks (early_stop = "none" and no CRC) no frame is ever finished.
///
/// Frames are [frames, ...], uses of the channel [frames * uses_per_frame(), ...], frame after frame; bits
/// behind its n coded ones count as unknown.
///
/// Results depend on a frame's own input alone: CPU and CUDA, any instruction set, batch size and number of
/// threads give the same bits.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class iterative_receiver {
 public:
  /// Throws argument_error: what is not allowed. Also `detector` that takes no a-priori LLRs, or `decoder`
  /// that gives no extrinsic ones, with more than one outer iteration. Also `interleaver` that is no
  /// permutation of the coded bits.
  /// `uses_per_frame`: where a frame takes more uses than its coded bits need, how many; 0: no more.
  iterative_receiver(const detector_config& detector, const code_config& code,
                     const receiver_config& config = {}, std::size_t uses_per_frame = 0);
  /// The same with another detector.
  iterative_receiver(std::shared_ptr<const soft_detector> detector, const code_config& code,
                     const receiver_config& config = {}, std::size_t uses_per_frame = 0);
  /// The same of a pair of one's own, whose decoder has its own iterations: inner must be 0.
  iterative_receiver(std::shared_ptr<const soft_detector> detector,
                     std::shared_ptr<const soft_decoder> decoder, const receiver_config& config = {},
                     std::size_t uses_per_frame = 0);
  /// Moves copy: one that was moved from stays as it was.
  iterative_receiver(const iterative_receiver&) = default;
  iterative_receiver& operator=(const iterative_receiver&) = default;

  /// Receives a batch. Throws shape_error, and argument_error for a prior where the detector takes none.
  void run(executor& exec, const heard& in, const decided& out) const;
  /// The same results, but it only queues: finished frames go through all outer iterations and cost as much
  /// as the others. For callers that must not wait, such as the capture of a CUDA graph.
  void queue(executor& exec, const heard& in, const decided& out) const;

  std::size_t k() const noexcept { return decoder_->k(); }
  std::size_t n() const noexcept { return decoder_->n(); }
  /// Uses of the channel that a frame takes: n over the bits of a use, rounded up, or more if so asked.
  std::size_t uses_per_frame() const noexcept { return uses_; }
  const receiver_config& config() const noexcept { return config_; }
  const soft_detector& detector() const noexcept { return *detector_; }
  const soft_decoder& decoder() const noexcept { return *decoder_; }
  /// What a transmitter needs.
  const bit_interleaver& interleaver() const noexcept { return interleaver_; }
  /// Memory that a call takes on its executor for each frame, with `rx_values` complex values received in a
  /// use. `uses_per_channel` uses share a channel matrix of `gains` entries.
  std::size_t working_bytes(std::size_t rx_values, std::size_t gains,
                            std::size_t uses_per_channel = 1) const noexcept;

 private:
  struct batch;
  void check() const;
  void receive(executor& exec, const heard& in, const decided& out, bool waits) const;
  std::size_t frames_of(const heard& in, const decided& out) const;
  void detect_and_decode(executor& exec, batch& b, int j) const;
  void keep(executor& exec, const batch& b, int j) const;
  void feed_back(executor& exec, batch& b, int j) const;
  void gather(executor& exec, batch& b) const;

  std::shared_ptr<const soft_detector> detector_;
  std::shared_ptr<const soft_decoder> decoder_;
  receiver_config config_;
  bit_interleaver interleaver_;
  std::size_t uses_;
  kept_workspace workspace_;
};

/// As a receiver, in one stage. `waits`: between outer iterations, as `run`; else it only queues. `bytes`: of
/// a frame, as working_bytes has them.
std::unique_ptr<receiver> make_loop(iterative_receiver loop, bool waits, std::size_t bytes = 0);

}  // namespace wb
