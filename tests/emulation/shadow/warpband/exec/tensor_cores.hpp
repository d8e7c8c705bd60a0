#pragma once
// In the place of warpband/exec/tensor_cores.hpp for kernels that run in an emulated block. Sums are exact
// but for their last rounding.
#include <cstdint>

#include <tests/emulation/emulated_block.hpp>
#include <warpband/core/half.hpp>
#include <warpband/core/half_lane.hpp>

namespace wb {
inline namespace WB_ISA {

inline std::uint32_t to_half_pair(float a, float b) {
  const auto bits = [](float x) { return static_cast<std::uint32_t>(to_half_bits(x)); };
  return bits(a) | bits(b) << 16;
}
inline uint4 load_matrices(std::uint32_t row) {
  const std::uint64_t* rows = emulation::exchange(0xffffffffu, row);
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t words[4];
  for (unsigned matrix = 0; matrix < 4; matrix++)
    std::memcpy(
        &words[matrix],
        reinterpret_cast<const char*>(emulation::shared) + rows[8 * matrix + lane / 4] + 4 * (lane % 4),
        sizeof words[matrix]);
  return {words[0], words[1], words[2], words[3]};
}
struct tensor_tile {
  float c[4] = {};
  void add(const uint4& rows, std::uint32_t first, std::uint32_t last) {
    const std::uint32_t lane_words[6] = {rows.x, rows.y, rows.z, rows.w, first, last};
    std::uint32_t words[6][32];
    for (int i = 0; i < 6; i += 2) {
      const std::uint64_t* two = emulation::exchange(
          0xffffffffu, lane_words[i] | static_cast<std::uint64_t>(lane_words[i + 1]) << 32);
      for (int lane = 0; lane < 32; lane++) {
        words[i][lane] = static_cast<std::uint32_t>(two[lane]);
        words[i + 1][lane] = static_cast<std::uint32_t>(two[lane] >> 32);
      }
    }
    const unsigned lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    for (unsigned i = 0; i < 4; i++) {
      const unsigned of_row = i / 2, n = 2 * q + i % 2;
      double sum = c[i];
      for (unsigned eights = 0; eights < 2; eights++)
        for (unsigned two = 0; two < 4; two++) {
          const float2 x = to_floats(words[2 * eights + of_row][4 * g + two]),
                       z = to_floats(words[4 + eights][4 * n + two]);
          sum += static_cast<double>(x.x) * z.x + static_cast<double>(x.y) * z.y;
        }
      c[i] = static_cast<float>(sum);
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
