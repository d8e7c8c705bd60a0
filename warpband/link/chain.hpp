#pragma once
// One link (link/link.hpp), from random bits to counted errors, made of the stages of link/stages.hpp.
//
// Random numbers depend on the seed, on the point of the sweep, on the number of the transmission and on the
// index of the frame (bits, block fading), of the block (delay lines) or of the use (noise; fast fading, with
// a space-time code of the codeword) alone: not on the batch, the threads or the backend. Links that differ
// only in their detector and decoder therefore see the same noise.
#include <cstdint>
#include <memory>

#include <warpband/exec/executor.hpp>
#include <warpband/link/frame_counter.hpp>
#include <warpband/link/frame_runner.hpp>
#include <warpband/link/transmitter.hpp>

namespace wb {

/// A link on an executor. Buffers are allocated once, for the largest batch; only a punctured code takes
/// memory again in each run, and HARQ its soft buffers in one with another number of frames. Holds on to the
/// executor.
/// Threads: one at a time.
class link_chain final : public frame_runner {
 public:
  /// For at most `max_batch` frames in one run, and no more than about 64 MiB (CPU) or 1 GiB (CUDA) hold, but
  /// what keeps the executor busy up to 1 GiB, and at least one. Throws argument_error, memory_error.
  /// `antennas`: in the place of those of the configuration.
  link_chain(const link_config& config, executor& exec, std::size_t max_batch = SIZE_MAX,
             std::unique_ptr<antenna_system> antennas = nullptr);

  const frame_counts& run(std::uint64_t first_frame, std::size_t frames, double point_db) override;
  const link_config& config() const noexcept override { return config_; }
  executor& where() const noexcept { return exec_; }
  bool coded() const noexcept { return !is_uncoded(config_.code); }
  std::size_t max_batch() const noexcept override { return max_batch_; }
  std::size_t preferred_frames() const override;

 private:
  void allocate(std::size_t batch);

  link_config config_;
  executor& exec_;
  std::unique_ptr<antenna_system> antennas_;
  transmitter transmitter_;
  std::unique_ptr<receiver> receiver_;
  frame_counter counter_;
  std::size_t max_batch_ = 0;
};

}  // namespace wb
