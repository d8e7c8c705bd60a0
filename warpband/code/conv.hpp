#pragma once
// conv: convolutional codes of K = 3..9, with or without puncturing. n counts all bits that are sent, also
// those of a zero tail.
#include <optional>
#include <string>
#include <vector>

#include <warpband/code/code_kind.hpp>
#include <warpband/fec/conv/conv.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>

namespace wb {

enum class conv_algorithm { viterbi, max_log_map, log_map, log_map_table };
/// Whose generators, where none are given, and whose puncturing.
enum class conv_standard {
  ieee_802_11,  // (133, 171)
  ieee_802_16,  // (171, 133); of a punctured pair the other bit stays
};

struct conv_settings {
  int k = 6144;
  std::optional<crc_polynomial> crc = {};
  /// Absent: what the largest generator needs.
  std::optional<int> constraint_length = {};
  /// Empty: the standard's pair, or of rate 1/3 (133, 171, 165).
  std::vector<int> generators = {};
  /// The feedback polynomial, see conv.hpp. Absent: feed-forward.
  std::optional<int> feedback = {};
  /// Two generators: 1/2, 2/3, 3/4 or 5/6, the last three punctured. More: 1 / their number. Absent: 1 / the
  /// number of generators, which is 1/2 where none are given.
  std::optional<std::string> rate = {};
  conv_ending termination = conv_ending::zero_tail;
  conv_order order = conv_order::serial;
  conv_standard standard = conv_standard::ieee_802_11;
  conv_algorithm algorithm = conv_algorithm::viterbi;
  /// Tail-biting: steps around the circle, see viterbi.hpp and bcjr.hpp.
  std::optional<int> overlap = {};
  tail_biting_search tail_biting = tail_biting_search::overlap;  // viterbi, see viterbi.hpp
  conv_precision precision = conv_precision::float32;            // viterbi and max-log-map
  std::optional<float> llr_steps = {};                           // of int16, see viterbi.hpp and bcjr.hpp
  std::optional<int> windows = {};
  bool operator==(const conv_settings&) const = default;
};

/// The convolutional code of the settings. Throws argument_error.
conv_code conv_code_of(const conv_settings& settings);

code_kind conv_kind();

}  // namespace wb
