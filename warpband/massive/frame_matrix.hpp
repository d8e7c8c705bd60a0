#pragma once
// How small Hermitian matrices lie in the shared memory of a CUDA device, and sums over their users.
//
// `place(r, c)` is the offset in floats of row r, column c < r: 2 (line U + shift + c ^ 2 (r & 7)). Rows r
// and U - 1 - r share line |r - U / 2 + 1/2| - 1/2; the row of the first half is shifted by U - 16 (8 users:
// by nothing, and r & 3). The exclusive or permutes pairs of columns by the row. So neither lanes with
// different rows nor lanes with different columns have bank conflicts.
#include <warpband/core/cx.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/massive/frame_layout.hpp>

namespace wb {
inline namespace WB_ISA {

/// The entries below the diagonal. Row r and row U - 1 - r share one line. For c >= r the offset is that of
/// another entry, or one of the 2 U floats that follow the triangle: it may be read, not written.
template <int U>
struct lower_triangle {
  static constexpr int wide = padded_users<U>, floats = wide * wide, span = wide < 16 ? wide : 16;
  __host__ __device__ static constexpr int place(int r, int c) {
    const bool first = r < wide / 2;
    const int line = first ? wide / 2 - 1 - r : r - wide / 2;
    return 2 * (line * wide + (first ? wide - span : 0) + (c ^ ((r & (span / 2 - 1)) << 1)));
  }
  /// Where entry u of the diagonal is: after the triangle.
  __host__ __device__ static constexpr int diagonal(int u) { return floats + u; }
};
/// Of 64 users: the `packed_matrix` of the generic solver, with its diagonal.
template <>
struct lower_triangle<64> {
  static constexpr int wide = 65, floats = 2 * 64 * wide;
  __host__ __device__ static constexpr int place(int r, int c) { return 2 * (r * wide + c); }
  __host__ __device__ static constexpr int diagonal(int u) { return place(u, u); }
};

#if defined(__CUDACC__)
/// The sum of U floats, added in order.
template <int U>
WB_HD float trace_of(const float* diagonal) {
  float sum = 0.f;
  WB_UNROLL for (int u = 0; u < U; u += 4) {
    float four[4];
    load4(diagonal + u, four);
    sum = (((sum + four[0]) + four[1]) + four[2]) + four[3];
  }
  return sum;
}
/// Energy of the U complex values at b, added in order.
template <int U>
WB_HD float energy_of(const float* b) {
  float sum = 0.f;
  WB_UNROLL for (int i = 0; i < U; i += 2) {
    float four[4];
    load4(b + 2 * i, four);
    sum = norm_fma(cx<float>{four[2], four[3]}, norm_fma(cx<float>{four[0], four[1]}, sum));
  }
  return sum;
}
#endif

}  // namespace WB_ISA
}  // namespace wb
