#pragma once
// Settings of decoders as words.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <warpband/core/error.hpp>
#include <warpband/fec/turbo/turbo.hpp>

#include "rooms.hpp"

namespace wb::python {

using crc_words = std::pair<std::uint32_t, int>;  // polynomial, degree

map_algorithm map_algorithm_named(const std::string& word);
/// Throws argument_error for words that name nothing; the decoder checks the rest.
turbo_decoder_config turbo_config(int k, const std::string& algorithm, int iterations, int windows,
                                  int overlap, float extrinsic_scale, const std::string& stop,
                                  std::optional<crc_words> crc, const std::string& precision, float llr_steps,
                                  float code_rate);

/// Runs f, which makes a code with this CRC. What it blames has Python's names.
template <class F>
void with_names_of_codes(const std::optional<crc_words>& crc, F&& f) {
  try {
    with_names({{"stop", "early_stop"}}, std::forward<F>(f));
  } catch (const argument_error& e) {
    const bool degree = e.argument() == "crc_degree";
    if (!crc || !(degree || e.argument() == "crc_polynomial")) throw;
    throw argument_error("crc", "(" + std::to_string(crc->first) + ", " + std::to_string(crc->second) + ")",
                         (degree ? "a degree that is " : "a polynomial that is ") + e.allowed());
  }
}

}  // namespace wb::python
