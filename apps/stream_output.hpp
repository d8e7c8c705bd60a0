#pragma once
// The results of `warpband stream` in an HDF5 file: rows of its arrays in the order of the frames.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include <warpband/receive/frame_receiver.hpp>
#include <warpband/stream/pipeline.hpp>

/// What a file of results says about itself.
struct stream_output_config {
  std::string path, scenario;  // `scenario`: its text
  std::size_t items = 0, frames = 0;
  std::optional<double> llr_steps = {};  // of LLRs in 8 bits
};

/// Threads: one at a time.
class stream_output {
 public:
  /// Throws wb::file_error, and wb::argument_error for results that files do not hold.
  stream_output(const wb::frame_receiver& chain, const stream_output_config& config);
  ~stream_output();
  /// Writes the next frame. One that was dropped or failed leaves zeros, and says so in `frame_status`.
  /// Never throws: commit() does.
  void take(const wb::frame_result& result) noexcept;
  /// Gives the file its name. Throws wb::file_error, also what went wrong before.
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};
