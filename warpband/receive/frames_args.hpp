#pragma once
// Arguments of the kernels that move frames between the iterations of a receiver. Plain data.
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// Item b of `out` is item row[b] of `in`, its element e is in's element order[e], for the first `elements`
/// of them; zeros follow.
struct frames_arrange_args {
  std::size_t elements = 0;
  const std::int32_t* row = nullptr;    // no data: b
  const std::int32_t* order = nullptr;  // no data: e
  bool scaled = false;                  // out is clip(factor * in)
  float factor = 1, limit = 0;
  view<const float> in = {};  // one of the pairs has data
  view<float> out = {};
  view<const std::uint8_t> in_bytes = {};
  view<std::uint8_t> out_bytes = {};
};

/// Copies what belongs to some frames: row r of frame b, of `rows`, is row
/// (frame[b] * of_frame + r * step) / shared of `in`, whose elements are `width` floats.
struct frames_gather_args {
  const std::int32_t* frame = nullptr;
  std::size_t elements = 0, rows = 1, of_frame = 1, step = 1, shared = 1;
  int width = 1;
  const float* in = nullptr;
  std::size_t row_stride = 0, element_stride = 1;  // of `in`, in floats
  float* out = nullptr;                            // frames side by side
};

/// Notes the frames that are finished. Where fewer than `enough` are left, it makes a new list of those.
struct frames_list_args {
  std::int32_t listed = 0, enough = 0;     // frames of the list
  const std::uint8_t* finished = nullptr;  // [listed] in this outer iteration
  bool first = false;                      // nothing is in `done` yet
  std::uint8_t* done = nullptr;            // [listed] finished up to here; zeros for a new list
  const std::int32_t* before = nullptr;    // the list before; no data: 0, 1, 2, ...
  std::int32_t* list = nullptr;            // the new list, and of each its place in the one before
  std::int32_t* from = nullptr;
  std::int32_t* place = nullptr;  // of every frame its place in the list, -1 where it is finished
  std::int32_t* count = nullptr;  // frames that are left
};

/// Results of all frames after an outer iteration: those of the decoder for frames in the list, for the
/// others what they were before. Outputs without data are not wanted.
struct frames_keep_args {
  const std::int32_t* place = nullptr;  // of every frame in the list, -1 where it is finished; no data: b
  view<const std::uint8_t> bits, ok, status;
  view<const std::int32_t> iterations;
  view<const float> extrinsic, detected;
  view<const std::uint8_t> bits_before, ok_before, status_before;
  view<const std::int32_t> iterations_before;
  view<const float> extrinsic_before, detected_before;
  view<std::uint8_t> bits_out, ok_out, status_out;
  view<std::int32_t> iterations_out;  // before + now
  view<float> extrinsic_out, detected_out;
};

/// Which frames are finished: those with the bit of `status` and whose bits hold their CRC, where there is
/// one. Also the iterations of a decoder that makes one pass over a frame. Outputs without data are not
/// wanted.
struct frames_check_args {
  std::uint8_t needed = 0;  // 0: no bit is looked at
  view<const std::uint8_t> status;
  view<const std::uint8_t> bits;
  const std::int32_t* weights = nullptr;  // crc_remainders; no data: no CRC
  view<std::uint8_t> finished;
  view<std::int32_t> passes;  // 1, of an erased frame 0
};

/// Joins what a decoder said of the codewords of each frame: a frame is finished, and has status_stopped,
/// where all of them are. It has another bit of the status where one of them has it. Iterations are added up.
/// What has no data is left out.
struct frames_join_args {
  std::size_t codewords = 1;
  const std::uint8_t *finished = nullptr, *status = nullptr;  // [frames * codewords]
  const std::int32_t* iterations = nullptr;
  view<std::uint8_t> finished_out, status_out;  // [frames]
  view<std::int32_t> iterations_out;
};

}  // namespace wb
