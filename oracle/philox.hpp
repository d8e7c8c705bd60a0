#pragma once

#include <array>
#include <cstdint>

/// Philox4x32-10, for checking the library's generator.
namespace oracle {

/// The block of four random words that belongs to a counter and a key: J. Salmon, M. Moraes, R. Dror, D.
/// Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11, §4.3 (Philox-4x32, 10 rounds). Element 0 is
/// the first word of the paper.
std::array<std::uint32_t, 4> philox4x32_10(const std::array<std::uint32_t, 4>& counter,
                                           const std::array<std::uint32_t, 2>& key);

}  // namespace oracle
