#pragma once
// What the fuzz targets share: what counts as an answer.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

#include <warpband/core/error.hpp>

/// The bytes of an input as text.
inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// CPU seconds of this thread.
inline double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
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

/// The same on an input of so many bytes, where more time than the size explains is a finding too: a second,
/// and 15 us for each byte, most of which the sanitizers take. What is quadratic takes minutes for 1 MiB.
template <class F>
void answered(std::size_t size, F parse) {
  const double begun = cpu_seconds();
  answered(parse);
  if (cpu_seconds() - begun > 1 + 15e-6 * static_cast<double>(size)) std::abort();
}
