#pragma once
// Frames for `warpband stream`: generated, or read from an HDF5 file. A few different ones are made before
// the run; slots are filled with them, as a radio would fill them, before they are pushed.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/stream/pipeline.hpp>

#include "stream_runs.hpp"

namespace wb {
class hdf5_reader;
}

/// A signal came before the first frame of a run was sent: the run has no result.
struct interrupted_before_frames : wb::error {
  interrupted_before_frames() : wb::error("interrupted before the first frame was sent: nothing was run") {}
};

class stream_source {
 public:
  /// Throws wb::argument_error for frames that the chain does not have, wb::file_error for a file that does
  /// not hold the arrays, interrupted_before_frames after a signal.
  stream_source(const stream_run& run, const stream_work& work);
  /// How many different frames there are.
  std::size_t frames() const noexcept { return frames_.size(); }
  std::vector<const void*> arrays(std::size_t frame) const;
  /// Writes frame `frame`, or as much of it as the slot has items.
  void fill(const wb::frame_slot& slot, std::size_t frame) const;
  /// How many frames the file holds; of `frames()` they are the first.
  std::size_t stored() const noexcept { return stored_; }
  /// Writes frame `frame` of the file; reads it where it is none of `frames()`. Throws wb::file_error.
  void fill_stored(const wb::frame_slot& slot, std::size_t frame) const;
  /// The bits that were encoded, [blocks, k]; empty where nothing is decoded or a file was read. Those of
  /// WiMAX frames are burst after burst.
  const std::vector<std::uint8_t>& sent(std::size_t frame) const { return sent_[frame]; }

 private:
  void generate(const stream_run& run, const stream_work& work, std::uint64_t seed);
  void generate_slots(const stream_run& run, std::uint64_t seed);
  void generate_wimax(const stream_run& run, std::uint64_t seed);
  void open(const stream_run& run);
  using frame_bytes = std::vector<std::vector<std::byte>>;
  frame_bytes read(std::size_t frame) const;
  /// Rounds arrays that the chain takes as halves, which were made as complex64.
  void round_to_halves(frame_bytes& frame) const;
  void copy(const wb::frame_slot& slot, const frame_bytes& frame) const;
  std::shared_ptr<const wb::frame_receiver> chain_;
  std::size_t items_, stored_ = 0;
  std::shared_ptr<const wb::hdf5_reader> file_;
  std::vector<frame_bytes> frames_;
  std::vector<std::vector<std::uint8_t>> sent_;
};
