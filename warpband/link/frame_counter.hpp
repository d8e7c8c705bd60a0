#pragma once
// The counter of a link: the arrays for the results of its receiver, and the errors in them.
#include <warpband/link/stages.hpp>
#include <warpband/receive/receiver.hpp>

namespace wb {

/// Counts what a receiver decides of the frames of a batch.
/// Threads: one at a time.
class frame_counter {
 public:
  /// Of a completed link.
  explicit frame_counter(const link_config& config);
  frame_counter(const frame_counter&) = delete;
  frame_counter& operator=(const frame_counter&) = delete;
  std::size_t bytes_per_frame() const noexcept;
  /// Buffers for so many frames. Throws memory_error.
  void allocate(executor& exec, std::size_t frames);
  /// Forgets what was counted.
  void begin(std::size_t frames);
  /// Where a receiver puts the results of so many frames.
  decided wanted(std::size_t frames);
  /// Counts a transmission, and waits. `bits`: what the transmitter drew of the batch; `coded`: what it sent;
  /// `sent`: what the antennas gave. Transport blocks whose CRCs held after an earlier transmission keep
  /// their counts. Returns whether any is left whose CRCs fail; false of other codes.
  bool count(executor& exec, view<const std::uint8_t> bits, const std::uint8_t* coded, const samples& sent,
             const frame_batch& batch);
  const frame_counts& counts() const noexcept { return counts_; }

 private:
  /// Rows for each frame of the results of an outer iteration.
  std::size_t status_rows() const noexcept { return looped_ ? 1 : size_.codewords; }
  std::size_t iteration_rows() const noexcept { return transport_ && !looped_ ? blocks_ : status_rows(); }
  void download(executor& exec, std::size_t frames);
  bool fold(std::size_t frames);

  frame_sizes size_;
  std::size_t rounds_;      // outer iterations
  std::size_t blocks_ = 1;  // code blocks of a transport block
  std::size_t uses_;        // of the detector, of a frame
  int weight_;              // uses of the channel in each of them
  bool coded_, looped_, transport_, many_, erases_uses_, informed_;
  bool sent_erases_;  // the antennas say which uses are erased, not the receiver
  bool soft_;         // LLRs are wanted, not bits alone
  array<std::uint8_t> bits_, status_, ok_, use_status_;
  array<std::int32_t> iterations_, errors_, erased_uses_;
  array<float> llr_, lost_;
  frame_counts now_;  // of a transmission: a row for each outer iteration, frame and codeword
  frame_counts counts_;
};

}  // namespace wb
