#pragma once
// Arguments of the kernels of convolutional turbo codes. Plain data.
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>
#include <warpband/fec/trellis/map_algorithm.hpp>

namespace wb {

/// When a codeword leaves the iterations early.
enum class ctc_early_stop {
  none,
  sign_agreement,  // both constituent decoders decide every bit alike
};

struct ctc_decode_args {
  int couples = 0, windows = 1, overlap = 0, iterations = 1;
  map_algorithm algorithm = map_algorithm::log_map;
  ctc_early_stop early_stop = ctc_early_stop::none;
  float scale = 1.f;        // factor on extrinsics
  float least = 0.f;        // an LLR up to this magnitude is not told from 0
  view<const float> llr;    // of the bits that were sent
  view<std::uint8_t> bits;  // 2 couples; null data: not wanted, here and below
  view<float> soft;         // 2 couples
  view<float> coded;        // as llr; null data only of the builds without
  view<std::int32_t> iterations_used;
  view<std::uint8_t> status;
  const std::int32_t* received = nullptr;  // of each bit of the streams A, B, Y1, Y2, W1, W2 its LLR, or -1
  const std::int32_t* interleaved = nullptr;  // [step][window]: where in scratch step j of window w reads
};

struct ctc_encode_args {
  int couples = 0;
  int circulation[3] = {};                    // ctc_circulation
  view<const std::uint8_t> bits;              // 2 couples
  view<std::uint8_t> coded;                   // >= what is sent, then zeros
  int sent = 0;                               // bits
  const std::int32_t* received = nullptr;     // as above
  const std::int32_t* permutation = nullptr;  // couples
};

}  // namespace wb
