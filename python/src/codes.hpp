#pragma once
// Settings of decoders as words.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <warpband/fec/turbo/turbo.hpp>

namespace wb::python {

using crc_words = std::pair<std::uint32_t, int>;  // polynomial, degree

map_algorithm map_algorithm_named(const std::string& word);
/// Throws argument_error for words that name nothing; the decoder checks the rest.
turbo_decoder_config turbo_config(int k, const std::string& algorithm, int iterations, int windows,
                                  int overlap, float extrinsic_scale, const std::string& stop,
                                  std::optional<crc_words> crc, const std::string& precision,
                                  float llr_steps);

}  // namespace wb::python
