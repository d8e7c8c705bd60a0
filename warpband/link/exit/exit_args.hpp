#pragma once
// Arguments of the kernels that measure EXIT charts. Plain data.
#include <cstdint>

#include <warpband/channel/random.hpp>
#include <warpband/core/view.hpp>

namespace wb {

/// The stream of random numbers (channel/random.hpp) of Gaussian LLRs.
inline constexpr std::uint32_t stream_exit = 32u << 24;

/// Gaussian LLRs of bits: mean * (1 - 2 b) + deviation * g, limited to +-limit.
struct exit_llrs_args {
  view<const std::uint8_t> bits;  // no data: zeros
  view<float> llr;
  float mean = 0, deviation = 0, limit = 0;
  random_range range;  // `first`: of the first item
};

/// Of each item the sum over its bits of log2(1 + exp(-(1 - 2 b) L)), L = factor * llr within +-limit.
struct exit_loss_args {
  view<const std::uint8_t> bits;  // no data: zeros
  view<const float> llr;
  float factor = 1, limit = 0;
  view<float> loss;
};

}  // namespace wb
