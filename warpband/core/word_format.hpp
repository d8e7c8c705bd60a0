#pragma once

namespace wb {

/// Words of fixed point (core/fixed_point.hpp): bits with the sign, 4 to 16, and those after the binary
/// point, fewer than them.
struct word_format {
  int length = 0, fraction = 0;
};

}  // namespace wb
