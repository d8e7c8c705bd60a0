#pragma once
// Products of small matrices of halves on the tensor cores of a CUDA device.
#include <cstdint>

#include <warpband/core/lane.hpp>
#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// The nearest halves of both, the first in the lower half.
WB_HD std::uint32_t to_half_pair(float a, float b) {
  const __half2 both = __floats2half2_rn(a, b);
  return *reinterpret_cast<const std::uint32_t*>(&both);
}
/// Halves of four 8 x 8 matrices in shared memory (ldmatrix), each by 8 rows of 16 bytes. Lanes 8 m to 8 m +
/// 7 have the addresses of matrix m, as `async_copies` has them. Lane 4 g + q has columns 2 q and 2 q
/// + 1 of row g of each.
WB_HD uint4 load_matrices(std::uint32_t row) {
  uint4 x;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "r"(row)
               : "memory");
  return x;
}
/// 16 x 8 float32 sums of a warp, to which it adds products of 16 x 16 and 16 x 8 halves (mma.m16n8k16). The
/// halves are 8 x 8 matrices as `load_matrices` gives them. Of lane 4 g + q: [0] and [1] row g, columns 2 q
/// and 2 q + 1; [2] and [3] row g + 8.
struct tensor_tile {
  float c[4] = {};
  /// `rows`: the first 8 rows, the others, and both for the last 8 terms; columns of the first and the last
  /// terms.
  WB_HD void add(const uint4& rows, std::uint32_t first, std::uint32_t last) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(rows.x), "r"(rows.y), "r"(rows.z), "r"(rows.w), "r"(first), "r"(last));
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
