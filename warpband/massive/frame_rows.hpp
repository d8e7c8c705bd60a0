#pragma once
// The small matrices of frames of 16 or 32 users on a CUDA device, a warp's at once, of each lane a row in
// its registers: what linalg/ldl does to them, the same operations in the same order and so the same bits.
//
// In each step the lane of the pivot writes its row to shared memory, where the others read it; what they
// need of the pivot's column they have or find in that row, as the matrix is Hermitian.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/linalg/ldl/ldl_body.hpp>
#include <warpband/massive/frame_matrix.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// A lane's row of the `lower_triangle` at `matrix`, of which the entry at row r, column c < r is A[c][r]
/// (ldl_body.hpp). `lines`: 4 U floats of each matrix. In x, nothing is read from the diagonal on.
template <int U>
struct frame_rows {
  static_assert(U == 16 || U == 32);
  static constexpr int group = 4;  // pivots whose steps are one piece of code
  float *matrix, *lines;
  int row;
  float2 x[U];
  float inverse = 0.f;  // 1 / D of this row

  WB_HD frame_rows(float* m, float* l, int r) : matrix(m), lines(l), row(r) {}
  WB_HD float* pair_of(int c) const { return matrix + lower_triangle<U>::place(row, c); }

  /// This row of A; zeros where that is not `good`.
  WB_HD void load(bool good) {
    WB_UNROLL for (int c = 0; c < U; c += 2) {
      float four[4];
      load4(pair_of(c), four);
      x[c] = {four[0], four[1]};
      x[c + 1] = {four[2], four[3]};
    }
    if (good) return;
    WB_UNROLL for (int c = 0; c < U; c++) x[c] = {0.f, 0.f};
  }
  /// A, `own` on its diagonal, to W as `invert_factor` has it, in the triangle. False where a pivot of the
  /// lane's matrix was too small. By whole warps.
  WB_HD bool invert_factor(float own) {
    float pivot = own;
    const float least = least_ldl_pivot * own;
    bool regular = true;
    all_steps<U / group - 1>(pivot, least, regular);
    __syncwarp();
    WB_UNROLL for (int c = 0; c < U; c += 2) {
      const float four[4] = {inverse * x[c].x, inverse * x[c].y, inverse * x[c + 1].x, inverse * x[c + 1].y};
      if (c < row) store4(pair_of(c), four);
    }
    const unsigned all = __ballot_sync(0xffffffffu, regular);
    __syncwarp();
    if constexpr (U == 32)
      return all == 0xffffffffu;
    else
      return (all >> (threadIdx.x & 16) & 0xffffu) == 0xffffu;
  }

 private:
  template <int G>
  WB_HD void all_steps(float& pivot, float least, bool& regular) {
    steps<G>(pivot, least, regular);
    if constexpr (G > 0) all_steps<G - 1>(pivot, least, regular);
  }
  /// The steps of pivots 4 G to 4 G + 3, the last one first. Rolled, for a cache of instructions: the columns
  /// of the group move on by one place with each step, the last of them becoming the first.
  template <int G>
  WB_HD void steps(float& pivot, float least, bool& regular) {
    constexpr int base = group * G;
    WB_ROLL for (int i = group - 1; i >= 0; i--) {
      const int k = base + i, moved = group - 1 - i;
      float* const line = lines + (i & 1) * 2 * U;
      const bool own = row == k;
      if (own) {
        WB_UNROLL for (int c = 0; c < base + group; c += 2) {
          const float four[4] = {x[c].x, x[c].y, x[c + 1].x, x[c + 1].y};
          store4(line + 2 * c, four);
        }
      }
      const bool enough = pivot > least;
      const float q = 1.f / __shfl_sync(0xffffffffu, enough ? pivot : 1.f, k, U);
      if (own) {
        inverse = q;
        regular = enough;
      }
      if (k == 0) break;
      __syncwarp();
      const int at = row < k ? row + (row >= base ? moved : 0) : 0;
      float2 z = *reinterpret_cast<const float2*>(line + 2 * at);
      if (row > k) z = x[base + group - 1];
      // Rows above the pivot's take the conjugate; the pivot's own stays.
      const float q_re = own ? 0.f : q, q_im = row < k ? 0.f - q : q_re;
      const cx<float> factor = {q_re * z.x, q_im * z.y};
      pivot = fma(factor.im, z.y, fnma(factor.re, z.x, pivot));
      const auto update = [&](int c, float re, float im) {
        const cx<float> left = fnma(factor, cx<float>{re, im}, cx<float>{x[c].x, x[c].y});
        x[c] = {left.re, left.im};
      };
      WB_UNROLL for (int c = 0; c < base; c += 2) {
        float four[4];
        load4(line + 2 * c, four);
        update(c, four[0], four[1]);
        update(c + 1, four[2], four[3]);
      }
      {
        float four[4];
        load4(line + 2 * base, four);
        if (moved < 1) update(base, four[0], four[1]);
        if (moved < 2) update(base + 1, four[2], four[3]);
        load4(line + 2 * base + 4, four);
        if (moved < 3) update(base + 2, four[0], four[1]);
      }
      const float2 last = x[base + group - 1];
      WB_UNROLL for (int c = group - 1; c > 0; c--) x[base + c] = x[base + c - 1];
      x[base] = last;
    }
    if constexpr (G == 0) {
      // The last step did not move them.
      const float2 last = x[base + group - 1];
      WB_UNROLL for (int c = group - 1; c > 0; c--) x[base + c] = x[base + c - 1];
      x[base] = last;
    }
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
