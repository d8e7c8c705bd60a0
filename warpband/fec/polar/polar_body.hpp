#pragma once
// The polar transform, on words of 32 bits.
#include <warpband/core/group.hpp>

namespace wb {
inline namespace WB_ISA {

/// x F^(x)5 for the bits of a word: bit i becomes the sum of the bits whose index has all ones of i.
template <class I>
WB_HD I polar_word(I x) {
  x = x ^ ((x >> 1) & I(0x55555555));
  x = x ^ ((x >> 2) & I(0x33333333));
  x = x ^ ((x >> 4) & I(0x0f0f0f0f));
  x = x ^ ((x >> 8) & I(0x00ff00ff));
  return x ^ ((x >> 16) & I(0x0000ffff));
}

/// The exclusive-or of a word's bits.
template <class I>
WB_HD I polar_parity(I x) {
  x = x ^ (x >> 16);
  x = x ^ (x >> 8);
  x = x ^ (x >> 4);
  x = x ^ (x >> 2);
  return (x ^ (x >> 1)) & I(1);
}

}  // namespace WB_ISA
}  // namespace wb
