#pragma once
// CRCs of codes, and the names that Python gives what the library blames.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <warpband/core/error.hpp>
#include <warpband/fec/crc/crc.hpp>

#include "rooms.hpp"

namespace wb::python {

using crc_words = std::pair<std::uint32_t, int>;  // polynomial, degree

inline std::optional<crc_polynomial> polynomial_of(const std::optional<crc_words>& crc) {
  return crc ? std::optional(crc_polynomial{crc->first, crc->second}) : std::nullopt;
}

/// Runs f, which makes a code with this CRC. What it blames has Python's names.
template <class F>
void with_names_of_codes(const std::optional<crc_words>& crc, F&& f) {
  try {
    f();
  } catch (const argument_error& e) {
    const bool degree = e.argument() == "crc_degree";
    if (!crc || !(degree || e.argument() == "crc_polynomial")) throw;
    throw argument_error("crc", "(" + std::to_string(crc->first) + ", " + std::to_string(crc->second) + ")",
                         (degree ? "a degree that is " : "a polynomial that is ") + e.allowed());
  }
}

}  // namespace wb::python
