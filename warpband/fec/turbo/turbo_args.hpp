#pragma once
// Arguments of the turbo kernels. Plain data.
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>

namespace wb {

/// When a codeword leaves the iterations early.
enum class early_stop : int {
  none,
  crc,             // the decisions are divisible by the configured CRC polynomial
  sign_agreement,  // both constituent decoders decide every bit alike
};

struct turbo_decode_args {
  int k = 0, windows = 1, overlap = 0, iterations = 1, pad = 0;
  bool log_map = true;
  early_stop stop = early_stop::none;
  float scale = 1.f;
  view<const float> llr;        // 3 (k + 4): d0, d1, d2
  view<std::uint8_t> bits;      // k; null data: not wanted, here and below
  view<float> soft, extrinsic;  // k
  view<std::int32_t> iterations_used;
  view<std::uint8_t> status;
  const std::int32_t* interleaved = nullptr;  // [step][window]: where in scratch step j of window w reads
  const std::int32_t* crc_weights = nullptr;  // k remainders
};

struct turbo_encode_args {
  int k = 0;
  view<const std::uint8_t> bits;  // k
  view<std::uint8_t> coded;       // >= 3 (k + 4): d0, d1, d2, then zeros
  const std::int32_t* permutation = nullptr;
};

}  // namespace wb
