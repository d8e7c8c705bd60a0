#include <warpband/detect/words.hpp>

#include <algorithm>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/detect/detector_kind.hpp>

namespace wb {

const std::vector<setting_of<word_settings>>& word_length_settings() {
  using s = word_settings;
  static const std::vector<setting_of<s>> settings{
      integer("word_length", &s::word_length, 4, 16,
              "Detect in fixed point: bits of a word, with the sign. Left out: float32."),
      integer("fraction_bits", &s::fraction_bits, 0, 15,
              "With word_length: bits after the binary point. Neighbouring points of the constellation are 1 "
              "apart. Left out: as many as leave a range of three standard deviations of the received "
              "samples, and 8 at least.",
              "an integer from 0 to word_length - 1")};
  return settings;
}

word_settings completed(const word_settings& s, const detector_config& c) {
  if (!s.word_length) {
    if (s.fraction_bits)
      throw argument_error("fraction_bits", std::to_string(*s.fraction_bits), "unset without word_length");
    return s;
  }
  check_range("word_length", *s.word_length, 4, 16);
  if (s.fraction_bits) check_range("fraction_bits", *s.fraction_bits, 0, *s.word_length - 1);
  int reach = 3;  // 2^reach >= 3 deviations
  while (4 << 2 * reach < 3 * c.streams * (c.qam - 1)) reach++;
  return {s.word_length, s.fraction_bits.value_or(std::max(*s.word_length - 1 - reach, 0))};
}

word_format format_of(const word_settings& s) { return {*s.word_length, *s.fraction_bits}; }

std::string text_of(const word_settings& s) {
  return s.word_length ? ", " + std::to_string(*s.word_length) + " bits" : "";
}

}  // namespace wb
