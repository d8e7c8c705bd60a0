#pragma once
// Arguments of the ops of core_kernels.cpp, which bring the functions of core/ and the group primitives
// before the tests on every build.
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// What `core` evaluates per item. Inputs are the bits of floats or unsigned integers, outputs are bits too,
/// so that zeros and NaNs arrive as they are.
enum class core_function {
  fma,
  max,
  min,
  sqrt,
  abs,
  exp,
  log,
  exp_of_moderate,
  log_of_ratio,
  sincos,             // out: sine, cosine
  sincos_turn,        // in: unsigned; out: sine, cosine
  unsigned_to_float,  // in: unsigned
  mulhi,              // in: 2 unsigned
  complex_normal,     // in: 2 unsigned; out: real, imaginary part
  complex_product,    // in: a.re, a.im, b; out: (a (b + ib)).re, .im
  compare,            // out: bits of a < b, >, <=, >=, ==, != ; select(a < b, a, b)
  is_finite,          // out: 0 or 1
  decide,             // out: 0 or 1
  saturate,           // in: llr; the limit is 8
  whole_vector,       // out: any(a > 0), all(a > 0), in every lane
};
struct core_args {
  core_function function = core_function::fma;
  view<const float> in;    // 3
  view<std::int32_t> out;  // 2
};

/// Philox of counters from memory, or of the library's counters of consecutive items.
struct philox_test_args {
  view<const std::int32_t> counters;  // 4; null data: the indices first, first + 1, ...
  std::uint64_t first = 0;
  std::uint32_t stream = 0, point = 0;
  std::uint32_t key0 = 0, key1 = 0;
  view<std::int32_t> out;  // 4
};

/// Copies rows of any length between strided views, floats and bytes; where there is a mask, only items whose
/// mask is not zero.
struct copy_args {
  view<const float> in;
  view<float> out;
  view<const std::uint8_t> bytes_in;
  view<std::uint8_t> bytes_out;
  view<const std::int32_t> mask;  // 1; null data: all
};

/// Reverses each row by way of scratch memory and reduces the bits of its values over the group.
struct group_args {
  view<const float> in;    // n
  view<float> out;         // n
  view<std::int32_t> sum;  // 3: sum of (bits >> 9), exclusive-or of bits, any > 1000
  int threads = 32;        // wanted for an item
};

}  // namespace wb
