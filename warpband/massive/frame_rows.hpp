#pragma once
// Decomposition of the matrices of 32 / U frames by one warp on a CUDA device, for the
// detector. A lane has one row of one matrix in its registers.
//
// A = V D V^H and W = -V^-1 as in linalg/ldl: the same operations in the same order, so the same bits.
//
// Step k, from the last pivot to the first: the lane of row k writes its row to shared memory, and the other
// lanes read it. They need the pivot's column too: rows below the pivot have it in registers, and rows above
// read its conjugate from the row, as A is Hermitian.
//
// Who calls: one whole warp, `load` and then `invert_factor`.
//
// Needs: each matrix as a `lower_triangle`, 4 U floats of shared memory for each matrix, and the diagonal of
// A in a register of each lane. 2 U registers a lane for the row.
//
// Barriers: `__syncwarp` inside, and all lanes have met at the end.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/linalg/ldl/ldl_body.hpp>
#include <warpband/massive/frame_matrix.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// Whether a lane stores what it has of its row: with 24 users the last lanes repeat what the first ones do.
template <int U>
WB_HD bool stores_row() {
  return 32 % U == 0 || threadIdx.x % 32 < U;
}
/// A lane's row of the `lower_triangle` at `matrix`. Row r, column c < r holds A[c][r] (ldl_body.hpp).
/// `lines`: 4 U floats of the matrix. x[c] is used for c < row only.
template <int U>
struct frame_rows {
  static constexpr int lanes = 32 / (32 / U);  // of a frame
  static constexpr int group = 4;              // pivots that share one rolled loop
  float *matrix, *lines;
  int row;
  float2 x[U];
  float inverse = 0.f;  // 1 / D of this row

  WB_HD frame_rows(float* m, float* l, int r) : matrix(m), lines(l), row(r) {}
  WB_HD float* pair_of(int c) const { return matrix + lower_triangle<U>::place(row, c); }

  /// Loads this row of A; zeros if not `good`. From the diagonal on it loads other entries, which are not
  /// used.
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
  /// Replaces A by W in the triangle, as `invert_factor` defines it. `diagonal` is the entry of A on the
  /// diagonal in this row. False where a pivot of the lane's matrix was too small. By a whole warp.
  WB_HD bool invert_factor(float diagonal) {
    float pivot = diagonal;
    const float least = least_ldl_pivot * diagonal;
    bool regular = true;
    all_steps<U / group - 1>(pivot, least, regular);
    __syncwarp();
    WB_UNROLL for (int c = 0; c < U; c += 2) {
      const float four[4] = {inverse * x[c].x, inverse * x[c].y, inverse * x[c + 1].x, inverse * x[c + 1].y};
      if (c < row && stores_row<U>()) store4(pair_of(c), four);
    }
    const unsigned regular_lanes = __ballot_sync(0xffffffffu, regular);
    __syncwarp();
    constexpr unsigned lane_mask = 0xffffffffu >> (32 - lanes);
    return (regular_lanes >> (threadIdx.x & (32 - lanes)) & lane_mask) == lane_mask;
  }

 private:
  template <int G>
  WB_HD void all_steps(float& pivot, float least, bool& regular) {
    steps<G>(pivot, least, regular);
    if constexpr (G > 0) all_steps<G - 1>(pivot, least, regular);
  }
  /// The four columns from c on move by one, and the last one to the front.
  WB_HD void rotate(int c) {
    const float2 last = x[c + group - 1];
    WB_UNROLL for (int i = group - 1; i > 0; i--) x[c + i] = x[c + i - 1];
    x[c] = last;
  }
  /// The steps of pivots 4 G to 4 G + 3, the last one first. The loop is rolled because of the instruction
  /// cache. So that the pivot's column is always in the same register, the four columns rotate by one each
  /// step.
  template <int G>
  WB_HD void steps(float& pivot, float least, bool& regular) {
    constexpr int base = group * G;
    WB_ROLL for (int i = group - 1; i >= 0; i--) {
      const int k = base + i, moved = group - 1 - i;
      float* const line = lines + (i & 1) * 2 * U;
      const bool is_pivot = row == k;
      if (is_pivot && stores_row<U>()) {
        WB_UNROLL for (int c = 0; c < base + group; c += 2) {
          const float four[4] = {x[c].x, x[c].y, x[c + 1].x, x[c + 1].y};
          store4(line + 2 * c, four);
        }
      }
      const bool enough = pivot > least;
      const float q = 1.f / __shfl_sync(0xffffffffu, enough ? pivot : 1.f, k, lanes);
      if (is_pivot) {
        inverse = q;
        regular = enough;
      }
      if (k == 0) break;
      __syncwarp();
      const int position = row < k ? row + (row >= base ? moved : 0) : 0;
      float2 z = *reinterpret_cast<const float2*>(line + 2 * position);
      if (row > k) z = x[base + group - 1];
      if (base == 0 && is_pivot) z = {0.f, 0.f};  // not of this row: it may be no number
      // Rows above the pivot use the conjugate; the pivot's own row does not change.
      const float q_re = is_pivot ? 0.f : q, q_im = row < k ? 0.f - q : q_re;
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
      rotate(base);
    }
    if constexpr (G == 0) rotate(base);  // the step of pivot 0 ended before its rotation
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
