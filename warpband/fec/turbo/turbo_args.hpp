#pragma once
// Arguments of the turbo kernels. Plain data.
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>
#include <warpband/fec/quantise/quantise_args.hpp>

namespace wb {

/// When a codeword leaves the iterations early.
enum class turbo_early_stop : int {
  none,
  crc,             // the decisions are divisible by the configured CRC polynomial
  sign_agreement,  // both constituent decoders decide every bit alike
};

struct turbo_decode_args {
  int k = 0, windows = 1, overlap = 0, iterations = 1, pad = 0;
  bool log_map = true, by_table = false;  // neither: max-log-MAP
  turbo_early_stop early_stop = turbo_early_stop::none;
  float scale = 1.f;
  float least = 0.f;            // an LLR up to this magnitude is not told from 0
  bool doubts_zeros = true;     // stop by CRC: an all-zero word needs the systematic LLRs' support
  int least_iterations = 1;     // before a stop rule holds
  view<const float> llr;        // 3 (k + 4): d0, d1, d2
  view<std::uint8_t> bits;      // k; null data: not wanted, here and below
  view<float> soft, extrinsic;  // k
  view<float> coded;            // 3 (k + 4)
  view<std::int32_t> iterations_used;
  view<std::uint8_t> status;
  const std::int32_t* interleaved = nullptr;  // [step][window]: where in scratch step j of window w reads
  const std::int32_t* crc_weights = nullptr;  // k remainders
};

/// How the windows of a codeword lie in vectors of so many lanes (turbo_windows_op.hpp).
struct turbo_lanes {
  int stride = 0;     // values of a step
  int vectors = 1;    // of a step
  int codewords = 1;  // that share a vector
  // Where step j of window w reads in interleaved order. One lane: [step][window], the value. More lanes:
  // [step][vector], the vector's first value; `from` is the lane that each lane reads and `to` the inverse.
  const std::uint16_t* places = nullptr;
  const std::int32_t* rows = nullptr;
  const std::int16_t *from = nullptr, *to = nullptr;
  // Remainders of each value's bit, bits 0..15 and from 16 on; with stop by CRC.
  const std::int16_t *crc_low = nullptr, *crc_high = nullptr;
};

struct turbo_windows_args {
  int k = 0, windows = 1, overlap = 0, iterations = 1;
  bool log_map = false;
  float scale = 1.f;  // factor on extrinsics
  int eighths = 8;    // the same of 16-bit integers
  bool stop_by_crc = false;
  float least = 0.f;  // as above
  bool doubts_zeros = true;
  int least_iterations = 1;
  llr_quanta quanta;             // 8-bit channel values: so many in an LLR of 1
  float step = 0.125f;           // an LLR of llr8
  int groups = 1;                // CUDA: codewords, or pairs of them, in a block
  view<const float> llr;         // 3 (k + 4): d0, d1, d2; or:
  view<const std::int8_t> llr8;  // the same in units of `step`
  view<std::uint8_t> bits;       // k; null data: not wanted, here and below
  view<std::int32_t> iterations_used;
  view<std::uint8_t> status;
  turbo_lanes lanes;
};

struct turbo_encode_args {
  int k = 0;
  view<const std::uint8_t> bits;  // k
  view<std::uint8_t> coded;       // >= 3 (k + 4): d0, d1, d2, then zeros
  const std::int32_t* permutation = nullptr;
};

}  // namespace wb
