#pragma once
// The stages of a link:
//
//   transmitter -> antennas: mapper, channel -> receiver -> counter
//
// The transmitter (link/transmitter.hpp) knows what frames carry. Antennas know how coded bits travel, and
// give what is received. A receiver (receive/receiver.hpp) detects and decodes it. The counter
// (link/frame_counter.hpp) counts the errors, and says whether frames are sent again. Antennas are strategies
// with a file each, antennas_*.cpp. docs/design/links.md says how to add one.
//
// Everything stays on one executor. Buffers are taken once, by `allocate`, for the largest batch.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <warpband/air/air.hpp>
#include <warpband/channel/random.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/link/link.hpp>
#include <warpband/receive/receiver.hpp>

namespace wb {

/// Frames of one point of a sweep. All that is random in them follows from this and the link's seed.
struct frame_batch {
  std::uint64_t first = 0;  // index of the first frame
  std::size_t frames = 0;
  double point_db = 0;   // in the link's axis
  int transmission = 0;  // of these frames, from 0
  snr_axis axis = snr_axis::ebn0_db;

  /// Random numbers of items of which every frame has so many.
  random_range random(std::uint64_t seed, std::uint64_t items_per_frame = 1) const noexcept;
};

/// What a batch of frames came to, one value per frame in order of index.
struct frame_counts {
  std::vector<std::int32_t> bit_errors;  // of k; with massive MIMO of all codewords
  std::vector<std::int32_t> iterations;  // of the decoder; empty when uncoded
  std::vector<std::uint8_t> erased;      // 1 where the decoder erased the word; empty when uncoded
  /// Uses that the detector erased, see detector; of a space-time code two for each codeword that it erased.
  /// Empty without either.
  std::vector<std::int32_t> erased_uses = {};
  /// With massive MIMO codewords with wrong bits; `erased` tells of any of them, iterations add up. Else
  /// empty.
  std::vector<std::int32_t> codeword_errors = {};
  /// Bits of a frame's sent ones that its LLRs do not tell; empty where mutual information is not measured.
  std::vector<float> information_lost = {};
  // With HARQ iterations are those of all code blocks after each of the frame's transmissions. Erased uses
  // are those of its transmissions, bit errors those after the last. Empty without HARQ:
  std::vector<std::uint8_t> transmissions = {};  // of the frame, 1 to those of harq_of(config.code)
  std::vector<std::uint8_t> passed = {};         // 1 where its CRCs held after the last of them
  /// With a receiver in a loop after each outer iteration, of the frames: bit errors, and 1 where the decoder
  /// erased the word, or CRCs of a transport block failed in its last transmission. What stands above is that
  /// of the last, iterations of all, erased uses of the first.
  std::vector<std::vector<std::int32_t>> outer_bit_errors = {};
  std::vector<std::vector<std::uint8_t>> outer_erased = {};
  std::vector<std::vector<std::int32_t>> outer_codeword_errors = {};  // with massive MIMO, else empty
  bool operator==(const frame_counts&) const = default;
};

/// Sizes of a frame of a completed link. Coded bits and LLRs lie in rows of `padded`, one for each codeword.
struct frame_sizes {
  explicit frame_sizes(const link_config& config);
  std::size_t k, sent;    // bits of a codeword into the encoder and out of it
  std::size_t padded;     // and with the zeros that fill its uses
  std::size_t codewords;  // 1 but with massive MIMO
  std::size_t uses;       // of the channel, of all codewords
  std::size_t symbols;    // of these uses
};

/// Adds `count` frames of another batch, from its frame `first` on.
void append(frame_counts& counts, const frame_counts& more, std::size_t first, std::size_t count);
/// Adds all of them.
inline void append(frame_counts& counts, const frame_counts& more) {
  append(counts, more, 0, more.bit_errors.size());
}

/// Noise on what is received.
/// Threads: one at a time.
class noise_of_link {
 public:
  explicit noise_of_link(const link_config& config) : config_(config) {}
  noise_of_link(const noise_of_link&) = delete;
  noise_of_link& operator=(const noise_of_link&) = delete;
  void allocate(executor& exec) { on_device_ = exec.make<float>(1, 1); }
  /// Queues N0 of a point.
  void set(executor& exec, double point_db);
  float n0() const noexcept { return n0_; }
  /// The same N0 for so many items.
  view<const float> variances(std::size_t items) const noexcept {
    return {on_device_.data(), 1, items, 1, 0};
  }
  /// Adds it to samples of which every frame has so many.
  void add(executor& exec, std::complex<float>* samples, std::size_t per_frame,
           const frame_batch& batch) const;

 private:
  link_config config_;
  array<float> on_device_;
  float n0_ = 0;  // lives here because uploads are queued
};

/// What is received of a batch: items y = H x + n side by side, frame after frame. An item is what one call
/// of the detector takes: a symbol, a use of the channel, a codeword of a space-time code, a vector.
struct samples {
  view<const std::complex<float>> channel = {};  // no data: 1
  std::size_t items_per_channel = 1;             // neighbours with the same H
  view<const std::complex<float>> received = {};
  view<const float> noise_var = {};  // N0 of each item
  /// Of each use, status_erased where the antennas sent nothing that can be detected; no data: the receiver's
  /// count.
  view<const std::uint8_t> status = {};
  /// Of a channel of bits: what is received, and its LLRs. Then the other views have no data.
  view<const std::uint8_t> bits = {};
  bit_llrs llr_of_bit = {};
};

/// Of the first `count` of so many frames.
inline samples first_frames(samples s, std::size_t count, std::size_t frames) {
  for (std::size_t* items :
       {&s.received.items, &s.channel.items, &s.noise_var.items, &s.status.items, &s.bits.items})
    *items = *items / frames * count;
  return s;
}
/// As a receiver takes it.
inline heard heard_of(const samples& s) {
  return {s.channel, s.items_per_channel, s.received, s.noise_var, {}, s.bits, s.llr_of_bit};
}

/// How coded bits travel.
/// Threads: one at a time.
class antenna_system {
 public:
  virtual ~antenna_system() = default;
  virtual std::size_t bytes_per_frame() const noexcept = 0;
  /// Items of the kernels that have the fewest of them.
  virtual std::size_t items_per_frame() const noexcept { return 1; }
  /// Buffers for so many frames. Throws memory_error.
  virtual void allocate(executor& exec, std::size_t frames) = 0;
  /// Queues: sends bits [frames * codewords, padded], side by side. The samples stay valid until the next
  /// call.
  virtual samples send(executor& exec, const std::uint8_t* bits, const frame_batch& batch) = 0;
};

// Of completed links.
std::unique_ptr<antenna_system> make_antennas(const link_config& config);
std::unique_ptr<receiver> make_receiver(const link_config& config);

}  // namespace wb
