#pragma once
// Numbers in messages, and their check.
#include <charconv>
#include <string>

#include <warpband/core/error.hpp>

namespace wb {

/// The shortest text that reads back as the number.
inline std::string decimal(double x) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

/// Throws argument_error unless least <= value <= most; NaN is refused.
inline void check_number(const char* argument, double value, double least, double greatest) {
  if (!(value >= least && value <= greatest))
    throw argument_error(argument, decimal(value),
                         "a number from " + decimal(least) + " to " + decimal(greatest));
}

}  // namespace wb
