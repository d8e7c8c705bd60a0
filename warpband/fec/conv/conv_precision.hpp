#pragma once
// The numbers that decoders of convolutional codes compute with, as settings.
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/fec/quantise/quantise.hpp>

namespace wb {

enum class conv_precision : int {
  float32,
  int16,  // 8-bit LLRs and 16-bit metrics
};

/// Of an automatic scale (llr_scale).
inline constexpr float conv_fineness = 18.f;

/// precision, with what int16 means, llr_steps and windows: chosen how where it is absent.
template <class C>
std::vector<setting_of<C>> conv_precision_settings(conv_precision C::*precision,
                                                   std::optional<float> C::*steps,
                                                   std::optional<int> C::*windows, std::string meant,
                                                   const std::string& chosen) {
  return {words<C, conv_precision>("precision", precision,
                                   {{"float32", conv_precision::float32}, {"int16", conv_precision::int16}},
                                   std::move(meant))
              .left_out_by_default(),
          llr_steps_setting("llr_steps", steps,
                            "Channel LLRs are rounded to steps, this many for an LLR of 1, and limited to "
                            "+-127 steps.")
              .only_with("precision", {"int16"}),
          integer_or_auto("windows", windows, 1, 65536,
                          "Windows of a codeword that are decoded in parallel. \"auto\": " + chosen,
                          "an integer from 1 to as many as are no shorter than the overlap")
              .only_with("precision", {"int16"})};
}

}  // namespace wb
