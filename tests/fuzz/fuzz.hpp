#pragma once
// What the fuzz targets share: what counts as an answer.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <warpband/core/error.hpp>

/// The bytes of an input as text.
inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Runs a parser. An error of one line is an answer; any other exception, or a line break in it, is a
/// finding.
template <class F>
void answered(F parse) {
  try {
    parse();
  } catch (const wb::error& e) {
    if (std::string(e.what()).find('\n') != std::string::npos) std::abort();
  }
}
