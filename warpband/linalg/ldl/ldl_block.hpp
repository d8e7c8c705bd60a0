#pragma once
// `invert_factor` (ldl_body.hpp) of a 64 x 64 matrix by a CUDA thread block of 256 threads: the same
// operations in the same order, so the same bits.
//
// Thread (x, y) of 16 x 16 has rows y, y + 16, .. and columns x, x + 16, .. in registers. A step takes two
// pivots: k, which is odd, and k - 1. Rows and columns of both go through shared memory as they are before
// the step, and each thread makes those of pivot k - 1 from them. So the block meets once for two pivots.
#include <warpband/core/memory.hpp>
#include <warpband/linalg/ldl/ldl_body.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// A block of 256 threads with memory for `invert_factor`: `floats`, on a multiple of 16 bytes.
struct factor_block {
  static constexpr int size = 256, floats = 2 * 2 * 4 * 64;
  int rank = static_cast<int>(threadIdx.x);
  float* memory;
  WB_HD explicit factor_block(float* storage) : memory(storage) {}
  WB_HD void sync() const { __syncthreads(); }
};

/// The decomposition by one thread.
struct block_factor {
  static constexpr int side = 16, per_thread = 4;  // threads across; rows and columns of a thread
  packed_matrix<float> m;
  const float* diagonal;  // of A
  float* inverse;
  const factor_block& g;
  int x, y;
  cx<float> e[per_thread][per_thread];  // row y + 16 i, column x + 16 j <= row
  bool regular = true;

  WB_HD block_factor(const packed_matrix<float>& matrix, const float* of_a, float* to,
                     const factor_block& block)
      : m(matrix), diagonal(of_a), inverse(to), g(block), x(block.rank % side), y(block.rank / side) {}
  /// Calls f(i, j) for the entries of a thread that may be below the diagonal or on it.
  template <class F>
  WB_HD static void each(F f) {
    WB_UNROLL for (int i = 0; i < per_thread; i++) { WB_UNROLL for (int j = 0; j <= i; j++) f(i, j); }
  }
  WB_HD int row(int i) const { return y + side * i; }
  WB_HD int column(int j) const { return x + side * j; }

  WB_HD bool run() {
    each([&](int i, int j) {
      e[i][j] = column(j) <= row(i) ? m.get(row(i), column(j)) : cx<float>{0.f, 0.f};
    });
    steps<per_thread - 1>();
    g.sync();
    each([&](int i, int j) {
      if (column(j) < row(i)) m.put(row(i), column(j), inverse[row(i)] * e[i][j]);
    });
    g.sync();
    return regular;
  }

 private:
  /// Pivots 16 J to 16 J + 15, the last one first.
  template <int J>
  WB_HD void steps() {
    WB_ROLL for (int k = side * J + side - 1; k > side * J; k -= 2) step<J>(k);
    if constexpr (J > 0) steps<J - 1>();
  }
  struct two {
    cx<float> z[2];
  };
  WB_HD static two load(const float* p) {
    float four[4];
    load4(p, four);
    return {{{four[0], four[1]}, {four[2], four[3]}}};
  }
  WB_HD static void put(float* p, cx<float> z) { *reinterpret_cast<float2*>(p) = {z.re, z.im}; }
  WB_HD float pivot_inverse(int k, float pivot) {
    const bool enough = pivot > least_ldl_pivot * diagonal[k];
    regular = regular & enough;
    const float q = 1.f / (enough ? pivot : 1.f);
    if (g.rank == 0) inverse[k] = q;
    return q;
  }
  template <int J>
  WB_HD void step(int k) {
    // Of each column of rows k and k - 1, and of each row of columns k and k - 1: both entries.
    float *const rows = g.memory + (k & 2) * 256, *const columns = rows + 256;
    const int line = k % side;
    if (y == line || y == line - 1) {
      WB_UNROLL for (int j = 0; j <= J; j++) put(rows + 4 * column(j) + 2 * (line - y), e[J][j]);
    }
    if (x == line || x == line - 1) {
      WB_UNROLL for (int i = J; i < per_thread; i++) put(columns + 4 * row(i) + 2 * (line - x), e[i][J]);
    }
    g.sync();
    const two last = load(rows + 4 * k), before = load(rows + 4 * (k - 1));
    const cx<float> corner = before.z[0];  // row k, column k - 1
    const float q0 = pivot_inverse(k, last.z[0].re);
    const cx<float> of_before = q0 * conj(corner);
    const float q1 = pivot_inverse(k - 1, fnma(of_before, corner, before.z[1]).re);
    cx<float> factor[per_thread][2], v[J + 1][2];
    WB_UNROLL for (int i = 0; i < per_thread; i++) {
      const int r = row(i);
      const bool above = i < J || (i == J && r < k);
      const two g = load((above ? rows : columns) + 4 * r);
      factor[i][0] = q0 * (above ? conj(g.z[0]) : g.z[0]);
      cx<float> second = above ? conj(fnma(of_before, g.z[0], g.z[1])) : fnma(factor[i][0], corner, g.z[1]);
      if (i == J && r == k) second = corner;
      factor[i][1] = q1 * second;
    }
    WB_UNROLL for (int j = 0; j <= J; j++) {
      const two g = load(rows + 4 * column(j));
      v[j][0] = g.z[0];
      v[j][1] = fnma(of_before, g.z[0], g.z[1]);
    }
    WB_UNROLL for (int i = 0; i < per_thread; i++) {
      WB_UNROLL for (int j = 0; j <= J; j++) {
        if (j > i) break;
        // Rows and columns of other sixteens than J are on the same side of both pivots.
        const auto changes = [&](int pivot) {
          return (i != J || row(i) != pivot) && (j != J || column(j) < pivot);
        };
        if (changes(k)) e[i][j] = fnma(factor[i][0], v[j][0], e[i][j]);
        if (changes(k - 1)) e[i][j] = fnma(factor[i][1], v[j][1], e[i][j]);
      }
    }
  }
};

/// n is 64. By all threads, which have met; they meet at the end too.
WB_HD bool invert_factor(int, const packed_matrix<float>& m, const float* diagonal, float* inverse,
                         const factor_block& g) {
  return block_factor(m, diagonal, inverse, g).run();
}
#endif

}  // namespace WB_ISA
}  // namespace wb
