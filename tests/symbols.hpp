#pragma once
// Complex samples as tests of channels use them.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace wb::testing {

using symbols = std::vector<std::complex<float>>;

inline bool same_bits(const symbols& a, const symbols& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
}
/// Parts from -1 to 1, the same ones every time.
inline symbols random_symbols(std::size_t n) {
  symbols x(n);
  std::uint32_t state = 1;
  const auto part = [&] {
    return static_cast<float>((state = state * 1664525 + 1013904223) >> 8) / 8388608.f - 1;
  };
  for (auto& s : x) {
    const float re = part();
    s = {re, part()};
  }
  return x;
}

}  // namespace wb::testing
