#pragma once
// Small Hermitian matrices in shared memory on a CUDA device: how they are stored, and the decomposition of
// one 16 x 16 matrix by one warp, for the precoder. The detector's is in frame_rows.hpp.
//
// A = V D V^H and W = -V^-1 as in linalg/ldl: the same operations in the same order, so the same bits.
//
// Two layouts, both by `place(r, c)`, the offset in floats of row r, column c:
//
//   whole_matrix     2 (r U + c'), c' = c ^ 2 (r & 7)         2 U^2 floats
//   lower_triangle   2 (line U + shift + c'), c < r only      U^2 floats
//                    rows r and U - 1 - r share line |r - U / 2 + 1/2| - 1/2; the row of the first half is
//                    shifted by U - 16
//
// The exclusive or permutes pairs of columns by the row. So neither lanes with different rows nor lanes with
// different columns have bank conflicts.
//
// `matrix_rows`: called by one whole warp. Two lanes share a row, of which each has every other chunk of two
// columns in registers. In each step the pivot's row and column go through shared memory. The pivot itself
// goes by a shuffle, so that little more than a division is on the critical path.
//
// Barriers: `__syncwarp` inside, and all lanes have met at the end.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/linalg/ldl/ldl_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// All entries of a matrix. `floats`: its size.
template <int U>
struct whole_matrix {
  static constexpr int users = U, floats = 2 * U * U;
  __host__ __device__ static constexpr int place(int r, int c) { return 2 * (r * U + (c ^ ((r & 7) << 1))); }
};
/// The entries below the diagonal. Row r and row U - 1 - r share one line. For c >= r the offset is that of
/// another entry, or one of the 2 U floats that follow the triangle: it may be read, not written.
template <int U>
struct lower_triangle {
  static constexpr int users = U, floats = U * U;
  __host__ __device__ static constexpr int place(int r, int c) {
    const bool first = r < U / 2;
    const int line = first ? U / 2 - 1 - r : r - U / 2;
    return 2 * (line * U + (first ? U - 16 : 0) + (c ^ ((r & 7) << 1)));
  }
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

/// A lane's part of the `whole_matrix` at `matrix`. Row r, column c <= r holds A[c][r] (ldl_body.hpp). What
/// is above the diagonal is overwritten.
template <int U>
struct matrix_rows {
  static_assert(U == 16);
  static constexpr int parts = 2, chunks = 4;
  float* matrix;
  int row, part;
  float x[chunks][4];   // columns 2 (parts j + part) and the next, two parts each
  float inverse = 0.f;  // 1 / D of this row

  WB_HD matrix_rows(float* m, int lane) : matrix(m), row(lane % U), part(lane / U) {}

  WB_HD float* chunk_of(int j) const { return matrix + whole_matrix<U>::place(row, 2 * (parts * j + part)); }

  /// Loads this row of A, with `own` on its diagonal. If not `good`, the row is zero but for `own`.
  WB_HD void load(bool good, float own) {
    if (row / 2 % parts == part)
      *reinterpret_cast<float2*>(matrix + whole_matrix<U>::place(row, row)) = {own, 0.f};
    WB_UNROLL for (int j = 0; j < chunks; j++) load4(chunk_of(j), x[j]);
    if (good) return;
    WB_UNROLL for (int j = 0; j < chunks; j++) {
      WB_UNROLL for (int i = 0; i < 4; i++) x[j][i] =
          2 * (parts * j + part) + i / 2 == row && i % 2 == 0 ? own : 0.f;
    }
  }
  /// Replaces A by W, as `invert_factor` defines it, in x and in the matrix. False where a pivot was too
  /// small. Ends with all lanes having met.
  WB_HD bool invert_factor(float own) {
    float pivot = own;
    const float least = least_ldl_pivot * own;
    bool regular = true;
    steps<3>(pivot, least, regular);
    steps<2>(pivot, least, regular);
    steps<1>(pivot, least, regular);
    steps<0>(pivot, least, regular);
    take_pivot(0, pivot, least, regular);
    __syncwarp();
    WB_UNROLL for (int j = 0; j < chunks; j++) {
      WB_UNROLL for (int i = 0; i < 4; i++) x[j][i] = inverse * x[j][i];
      store4(chunk_of(j), x[j]);
    }
    regular = __all_sync(0xffffffffu, regular);
    __syncwarp();
    return regular;
  }

 private:
  /// 1 / pivot of step k, for all lanes.
  WB_HD float take_pivot(int k, float pivot, float least, bool& regular) {
    const bool enough = pivot > least;
    const float q = 1.f / __shfl_sync(0xffffffffu, enough ? pivot : 1.f, k);
    if (row == k) {
      inverse = q;
      regular = enough;
    }
    return q;
  }
  /// The steps of the pivots in chunk J of each part. Rolled, because of the instruction cache.
  template <int J>
  WB_HD void steps(float& pivot, float least, bool& regular) {
    WB_ROLL for (int owner = parts - 1; owner >= 0; owner--) {
      step<J, true>(owner, pivot, least, regular);
      if (J > 0 || owner > 0) step<J, false>(owner, pivot, least, regular);
    }
  }
  /// `pivot` is this row's diagonal entry.
  template <int J, bool Odd>
  WB_HD void step(int owner, float& pivot, float least, bool& regular) {
    const int k = 2 * (parts * J + owner) + Odd;
    constexpr int high = (2 * parts * J & 7) / parts * parts;
    const int low = (2 * owner + Odd) % parts, moved = 2 * owner >= parts ? 4 * parts : 0;
    float* const of_row = matrix + 2 * U * k;
    float *const even_chunks = of_row + 4 * (part ^ low) + moved, *const odd_chunks =
                                                                      of_row + 4 * (part ^ low) - moved;
    const auto chunk_of_k = [&](int j) {
      const int at = (parts * j) ^ high;
      return (at / parts % 2 == 0 ? even_chunks : odd_chunks) + 4 * at;
    };
    const bool own = row == k;
    // The column of the pivot then overwrites what this writes above the diagonal.
    WB_UNROLL for (int j = 0; j <= J; j++) {
      if (own) store4(chunk_of_k(j), x[j]);
    }
    __syncwarp();
    float* const mine = of_row + 2 * (row ^ ((k & 7) << 1));
    if (row > k && part == owner) *reinterpret_cast<float2*>(mine) = {x[J][Odd ? 2 : 0], x[J][Odd ? 3 : 1]};
    const float q = take_pivot(k, pivot, least, regular);
    __syncwarp();
    const float2 z = *reinterpret_cast<const float2*>(mine);
    // Rows above the pivot use the conjugate; the pivot's own row does not change.
    const float q_re = own ? 0.f : q, q_im = row < k ? 0.f - q : q_re;
    const cx<float> factor = {q_re * z.x, q_im * z.y};
    pivot = fma(factor.im, z.y, fnma(factor.re, z.x, pivot));
    WB_UNROLL for (int j = 0; j <= J; j++) {
      float four[4];
      load4(chunk_of_k(j), four);
      WB_UNROLL for (int e = 0; e < 2; e++) {
        const cx<float> old = {x[j][2 * e], x[j][2 * e + 1]},
                        left = fnma(factor, cx<float>{four[2 * e], four[2 * e + 1]}, old);
        const bool before = j < J || part < owner || (e == 0 && Odd && part == owner);
        x[j][2 * e] = before ? left.re : old.re;
        x[j][2 * e + 1] = before ? left.im : old.im;
      }
    }
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
