#pragma once
// A receiver: what is heard of a batch of frames to what is decided of them.
//
//   open loop   detector, then decoder; of transport blocks with HARQ's soft buffers (open_loop.hpp)
//   loop        detector and decoder exchange extrinsic LLRs (iterative.hpp; with HARQ transport_loop.hpp)
//
// A simulated link counts what they decide (link/chain.hpp). A stream runs them, and other receivers, as a
// `frame_receiver` with ports (receive/frame_receiver.hpp).
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/modem/bit_llrs/bit_llrs.hpp>

namespace wb {

/// What is received of a batch: uses of the channel, y = H x + n, frame after frame. A use is what the
/// detector takes at once: a symbol, a vector, a codeword of a space-time code.
struct heard {
  view<const std::complex<float>> channel = {};   // as detector_input has it; no data: 1, if the detector may
  std::size_t uses_per_channel = 1;               // neighbours with the same H
  view<const std::complex<float>> received = {};  // as detector_input has it
  view<const float> noise_var = {};               // N0 of each use
  /// [frames, n] a-priori LLRs of the coded bits for the first outer iteration; no data for none. A use with
  /// one that is NaN or infinite is erased by the detector in this iteration. Of iterative_receiver alone,
  /// with a detector that takes them.
  view<const float> prior = {};
  /// [bits, 1] what a channel of bits gives, in place of all above. Of an open loop alone.
  view<const std::uint8_t> bits = {};
  bit_llrs llr_of_bit = {};
};

/// Where results go. Outputs without data are not computed. An output of `outer` * frames items gets the
/// results of each outer iteration: those of iteration j (from 0) begin at item j * frames. An output of
/// `frames` items gets those of the last iteration.
struct decided {
  view<std::uint8_t> bits = {};        // [.., k] decisions
  view<std::uint8_t> ok = {};          // [.., 1] 1 where all checks hold that there are; in one piece
  view<std::int32_t> iterations = {};  // [.., 1] of the decoder up to here; of blocks in an open loop [.., C]
  view<std::uint8_t> status = {};      // [.., 1] of the decoder
  view<float> detected = {};           // [.., n] LLRs of the detector, as the decoder gets them
  view<float> extrinsic = {};          // [.., n] extrinsic LLRs of the decoder
  view<std::uint8_t> use_status = {};  // [uses, 1] of the detector, in the first outer iteration
};

/// A receiver of batches, with what it keeps on an executor.
/// Threads: one at a time.
class receiver {
 public:
  virtual ~receiver() = default;
  /// What it does one after the other: {"detect", "decode"}, or {"receive"}.
  virtual const std::vector<std::string>& stages() const noexcept = 0;
  /// Memory for each frame.
  virtual std::size_t bytes_per_frame() const noexcept = 0;
  /// Buffers for so many frames. Throws memory_error.
  virtual void allocate(executor& exec, std::size_t frames) = 0;
  /// Queues a stage. Stages of a batch are called in order, with the same arguments. `transmission`: of these
  /// frames, from 0; LLRs of one after another add up. Throws argument_error, shape_error.
  virtual void run_stage(executor& exec, std::size_t stage, const heard& in, const decided& out,
                         int transmission = 0) = 0;
  /// Queues all stages.
  void run(executor& exec, const heard& in, const decided& out, int transmission = 0) {
    for (std::size_t s = 0; s < stages().size(); s++) run_stage(exec, s, in, out, transmission);
  }
};

}  // namespace wb
