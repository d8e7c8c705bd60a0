#include <oracle/philox.hpp>

namespace oracle {

std::array<std::uint32_t, 4> philox4x32_10(const std::array<std::uint32_t, 4>& counter,
                                           const std::array<std::uint32_t, 2>& key) {
  // Everything in 64 bits and reduced modulo 2^32 by hand, so that no carry or product is lost to a narrow
  // type.
  constexpr std::uint64_t word = 1ULL << 32;
  constexpr std::uint64_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
  constexpr std::uint64_t weyl_0 = 0x9E3779B9, weyl_1 = 0xBB67AE85;  // golden ratio, sqrt(3) - 1
  std::uint64_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
  for (std::uint64_t round = 0; round < 10; ++round) {
    const std::uint64_t key_0 = (key[0] + round * weyl_0) % word;
    const std::uint64_t key_1 = (key[1] + round * weyl_1) % word;
    const std::uint64_t product_0 = multiplier_0 * x0;
    const std::uint64_t product_1 = multiplier_1 * x2;
    x0 = (product_1 / word) ^ x1 ^ key_0;
    x1 = product_1 % word;
    x2 = (product_0 / word) ^ x3 ^ key_1;
    x3 = product_0 % word;
  }
  return {static_cast<std::uint32_t>(x0), static_cast<std::uint32_t>(x1), static_cast<std::uint32_t>(x2),
          static_cast<std::uint32_t>(x3)};
}

}  // namespace oracle
