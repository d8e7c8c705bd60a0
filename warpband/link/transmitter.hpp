#pragma once
// The transmitter of a link: bits of frames, and their coded bits in the order in which they are sent.
#include <memory>
#include <optional>

#include <warpband/fec/crc/crc.hpp>
#include <warpband/link/stages.hpp>
#include <warpband/receive/interleaver.hpp>

namespace wb {

/// Draws the bits of frames and attaches their CRC.
/// Threads: one at a time.
class frame_source {
 public:
  explicit frame_source(const link_config& config);
  /// Queues bits [frames * codewords, k].
  void run(executor& exec, view<std::uint8_t> bits, const frame_batch& batch) const;

 private:
  std::uint64_t seed_;
  std::size_t codewords_;
  int drawn_;
  std::optional<crc_attacher> crc_;
};

/// The bits of a batch, and what is sent of them.
/// Threads: one at a time.
class transmitter {
 public:
  /// Of a completed link.
  explicit transmitter(const link_config& config);
  transmitter(const transmitter&) = delete;
  transmitter& operator=(const transmitter&) = delete;
  /// With those of the transport decoder.
  std::size_t bytes_per_frame() const noexcept { return bytes_; }
  /// The most of a frame.
  int transmissions() const noexcept { return harq_.transmissions; }
  /// Buffers for so many frames. Throws memory_error.
  void allocate(executor& exec, std::size_t frames);
  /// Queues the bits of a batch.
  void draw(executor& exec, const frame_batch& batch);
  /// Queues its transmission: bits [frames * codewords, padded].
  const std::uint8_t* send(executor& exec, const frame_batch& batch);
  /// What was drawn of so many frames: [frames * codewords, k].
  view<std::uint8_t> bits(std::size_t frames);

 private:
  frame_sizes size_;
  frame_source source_;
  std::unique_ptr<codec> code_;              // of codewords that are sent once
  bit_interleaver order_;                    // of a codeword
  std::unique_ptr<transport_coder> blocks_;  // of transport blocks
  harq_rule harq_;
  std::size_t bytes_ = 0;
  array<std::uint8_t> bits_, coded_, sent_;
};

/// The redundancy version of each transmission that a transport block may have.
std::vector<int> versions_of(const harq_rule& rule);

}  // namespace wb
