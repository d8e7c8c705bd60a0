#pragma once
// One link (link/link.hpp), from random bits to counted errors:
//
//   source -> CRC -> encode -> map -> channel -> demap or detect -> decode -> count
//
// Random numbers depend on the seed, on the point of the sweep, on the number of the transmission and on the
// index of the frame (bits, block fading), of the block (delay lines) or of the use (noise; fast fading, with
// a space-time code of the codeword) alone: not on the batch, the threads or the backend. Links that differ
// only in their detector and decoder therefore see the same noise.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/link/link.hpp>
#include <warpband/link/massive_link.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

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
  // With HARQ iterations are those of all code blocks after each of the frame's transmissions, erased uses
  // those of its transmissions, bit errors those after the last; and, empty without it:
  std::vector<std::uint8_t> transmissions = {};  // of the frame, 1 to config.code.transport.transmissions
  std::vector<std::uint8_t> passed = {};         // 1 where its CRCs held after the last of them
};

/// A link on an executor. Buffers are allocated once, for the largest batch; only a punctured code takes
/// memory again in each run, and HARQ its soft buffers in one with another number of frames. Holds on to the
/// executor.
class link_chain {
 public:
  /// For at most `max_batch` frames in one run, and no more than about 64 MiB (CPU) or 1 GiB (CUDA) hold, but
  /// what keeps the executor busy up to 1 GiB, and at least one. Throws argument_error, memory_error.
  link_chain(const link_config& config, executor& exec, std::size_t max_batch = SIZE_MAX);

  /// Sends the frames [first_frame, first_frame + frames) at a point, in config().axis, and waits for the
  /// counts, which stay valid until the next run. Throws argument_error for frames > max_batch() or a point
  /// out of -100..100 dB.
  const frame_counts& run(std::uint64_t first_frame, std::size_t frames, double point_db);

  /// The configuration in force, see `completed`.
  const link_config& config() const noexcept { return config_; }
  executor& where() const noexcept { return exec_; }
  bool coded() const noexcept { return config_.code.type != code_type::none; }
  std::size_t max_batch() const noexcept { return max_batch_; }
  /// Frames that keep the executor busy; a good batch is a multiple.
  std::size_t preferred_frames() const;

 private:
  std::size_t bytes_per_frame() const noexcept;
  void allocate(std::size_t batch);
  /// From the bits that a frame sends, in rows of padded_, to their LLRs. Transmission 0 is the first.
  void transmit(const std::uint8_t* sent, std::uint64_t first_frame, std::size_t frames, double point_db,
                int transmission = 0);
  /// The transmissions of transport blocks, until all have passed or none is left.
  void run_transmissions(view<const std::uint8_t> bits, std::uint64_t first_frame, std::size_t frames,
                         double point_db);
  /// The blocks of a delay line from a frame on.
  random_range blocks_of(std::uint64_t first_frame, std::uint32_t point) const noexcept;
  void transmit_streams(std::uint64_t first_frame, std::size_t frames, std::uint32_t point);
  /// Codewords of the space-time code, from symbols_sent_ to LLRs, or uncoded to decided_.
  void transmit_codewords(std::uint64_t first_frame, std::size_t frames, std::uint32_t point);
  /// Noise on what several antennas receive.
  void add_noise(std::uint64_t first_frame, std::size_t frames, std::uint32_t point);
  /// From counts of codewords to those of frames.
  void count_codewords(std::size_t frames);
  /// Of each frame, where `per_frame` status bytes differ from 0 in the lowest bit.
  void count_erased(std::size_t per_frame, std::size_t frames);

  link_config config_;
  executor& exec_;
  qam_mapper mapper_;
  demapper demapper_;
  std::optional<crc_attacher> crc_;
  std::unique_ptr<codec> code_;  // none when uncoded, and with HARQ
  std::optional<lte_transport_encoder> transport_encoder_;
  std::optional<lte_transport_decoder> transport_decoder_;
  std::unique_ptr<detector> detector_;  // none: the demapper does it
  std::optional<stbc_encoder> space_time_encoder_;
  std::optional<stbc_decoder> space_time_decoder_;
  std::optional<tdl_channel> tdl_;
  std::unique_ptr<massive_link> massive_;
  std::size_t codewords_ = 1;  // of a frame; arrays of bits and LLRs have a row for each
  std::size_t sent_ = 0, uses_ = 0, symbols_ = 0, padded_ = 0, max_batch_ = 0;

  array<std::uint8_t> bits_, coded_, decided_, status_, passed_, use_status_, zero_;
  array<std::complex<float>> symbols_sent_, received_, gain_;  // the symbols in received_ without a detector
  array<float> llr_, noise_var_;
  array<std::int32_t> errors_, iterations_, erased_uses_;
  float n0_ = 0;  // lives here because uploads are queued
  frame_counts counts_;
};

}  // namespace wb
