#pragma once
// One link (link/link.hpp), from random bits to counted errors, made of the stages of link/stages.hpp.
//
// Random numbers depend only on the seed, the point of the sweep, the transmission and an index. That is the
// index of the frame for bits and block fading, of the block for delay lines, and of the use for noise. For
// fast fading it is that of the use, or of the codeword of a space-time code. Batch, threads and backend have
// no effect. Links that differ only in their detector and decoder therefore see the same noise.
#include <cstdint>
#include <memory>

#include <warpband/exec/executor.hpp>
#include <warpband/link/frame_counter.hpp>
#include <warpband/link/frame_runner.hpp>
#include <warpband/link/transmitter.hpp>

namespace wb {

/// A link on an executor. Buffers are allocated once, for the largest batch. Only a punctured code takes
/// memory again in each run. HARQ takes its soft buffers again in a run with another number of frames. Holds
/// on to the executor.
/// Threads: one at a time.
class link_chain final : public frame_runner {
 public:
  /// A run takes at most `max_batch` frames, and as many as fit into about 64 MiB (CPU) or 1 GiB (CUDA). If
  /// preferred_frames() need more, up to 1 GiB; in any case one frame. `exactly`: it takes max_batch frames,
  /// with up to 8 GiB on a CPU. `antennas` replaces those of the configuration. Throws argument_error,
  /// memory_error.
  link_chain(const link_config& config, executor& exec, std::size_t max_batch = SIZE_MAX,
             std::unique_ptr<antenna_system> antennas = nullptr, bool exactly = false);

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
