#pragma once
// What the tiles of frame_sums.hpp are made of: the division of a triangle among the lanes of a warp, and the
// sums of the runs. Also the reading of H and y as `frame_samples` lays them out.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/async_copies.hpp>
#include <warpband/linalg/gram/gram_body.hpp>
#include <warpband/massive/frame_layout.hpp>
#include <warpband/massive/frame_matrix.hpp>
#include <warpband/massive/massive_args.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
static_assert(frame_runs == antenna_runs);

// How the lower triangle of a 16 x 16 block is divided among the four parts. Columns are grouped by four.
// Part t has the columns P and Q, all four of two groups, and R and S, two columns each of two others. It
// sums P with P, P with Q, the first half of P with R, and the second half of Q with S. An 8 x 8 block is
// divided in the same way, with half of all numbers. First columns of each:
inline constexpr int triangle_p[4] = {0, 12, 8, 4}, triangle_q[4] = {8, 0, 4, 12},
                     triangle_r[4] = {4, 10, 12, 2}, triangle_s[4] = {14, 6, 0, 8};
constexpr std::uint32_t packed_columns(const int (&c)[4]) {
  return static_cast<std::uint32_t>(c[0] | c[1] << 8 | c[2] << 16 | c[3] << 24);
}
inline constexpr std::uint32_t packed_p = packed_columns(triangle_p), packed_q = packed_columns(triangle_q),
                               packed_r = packed_columns(triangle_r), packed_s = packed_columns(triangle_s);
template <int U>
inline constexpr int group_columns = U == 8 ? 2 : 4;
template <int U>
inline constexpr int triangle_values = U == 8 ? 16 : 64;
/// Blocks on the diagonal, and the users from one to the next. For 24 users two blocks overlap. What they
/// share is stored by the first one.
template <int U>
inline constexpr int diagonal_blocks = (U + 15) / 16;
template <int U>
inline constexpr int block_step = U == 24 ? 8 : 16;

/// In the table below: a value that another warp stores.
inline constexpr std::uint16_t stored_elsewhere = 0x7fff;
/// Whether user u of block `block` is in the block before it too.
template <int U>
__host__ __device__ constexpr bool is_shared_user(int block, int u) {
  return block > 0 && u < block_step<U> * (block - 1) + 16;
}

/// Offsets of the sums of a triangle in a slot, in the order of the lanes' values. If the highest bit is set
/// the value is stored negated: that of an entry's conjugate.
template <int U>
struct triangle_table {
  alignas(16) std::uint16_t to[diagonal_blocks<U>][4][triangle_values<U>];
};
template <int U>
constexpr triangle_table<U> make_triangle_table() {
  using Matrix = lower_triangle<U>;
  constexpr int columns = group_columns<U>, half = columns / 2;
  triangle_table<U> t{};
  for (int block = 0; block < diagonal_blocks<U>; block++)
    for (int k = 0; k < 4; k++) {
      const int first = block_step<U> * block, p = first + triangle_p[k] * columns / 4,
                q = first + triangle_q[k] * columns / 4, r = first + triangle_r[k] * columns / 4,
                s = first + triangle_s[k] * columns / 4;
      int n = 0;
      const auto add = [&](int x, int h) {
        for (int part = 0; part < 2; part++) {
          const int place = x > h ? Matrix::place(x, h) : Matrix::place(h, x);
          // 24 users: rows below a shared column are those of the rectangle.
          t.to[block][k][n++] =
              is_shared_user<U>(block, x < h ? x : h)
                  ? stored_elsewhere
                  : static_cast<std::uint16_t>((place + part) | (x < h && part == 1 ? 0x8000 : 0));
        }
      };
      for (int i = 0; i < columns; i++)
        for (int j = 0; j < columns; j++) add(p + i, q + j);
      for (int i = 0; i < half; i++)
        for (int j = 0; j < half; j++) add(p + i, r + j);
      for (int i = 0; i < half; i++)
        for (int j = 0; j < half; j++) add(q + half + i, s + j);
      for (int i = 1; i < columns; i++)
        for (int j = 0; j < i; j++) add(p + i, p + j);
      for (int i = 0; i < columns; i++)
        t.to[block][k][n++] = is_shared_user<U>(block, p + i)
                                  ? stored_elsewhere
                                  : static_cast<std::uint16_t>(Matrix::diagonal(p + i));
    }
  return t;
}
template <int U>
__device__ const triangle_table<U> triangle_places = make_triangle_table<U>();

/// Sums of x conj(h) in the order of `run_sums`: re re, re im, im re, im im.
struct four_sums {
  float rr = 0.f, ri = 0.f, ir = 0.f, ii = 0.f;
  WB_HD void add(float2 x, float2 h) {
    rr = fma(x.x, h.x, rr);
    ri = fma(x.x, h.y, ri);
    ir = fma(x.y, h.x, ir);
    ii = fma(x.y, h.y, ii);
  }
  WB_HD void join(float* z) const {
    z[0] = rr + ii;
    z[1] = ir - ri;
  }
  /// The same of h conj(x).
  WB_HD void join_conjugate(float* z) const {
    z[0] = rr + ii;
    z[1] = ri - ir;
  }
};
WB_HD void load_two(const float* p, float2* x) {
  float four[4];
  load4(p, four);
  x[0] = {four[0], four[1]};
  x[1] = {four[2], four[3]};
}
WB_HD void store_two(float* p, const float (&x)[4]) {
  *reinterpret_cast<float2*>(p) = {x[0], x[1]};
  *reinterpret_cast<float2*>(p + 2) = {x[2], x[3]};
}
WB_HD float2 load_one(const float* p) { return *reinterpret_cast<const float2*>(p); }
template <int N>
WB_HD void load_pairs(const float* p, float2 (&x)[N]) {
  WB_UNROLL for (int i = 0; i < N; i += 2) load_two(p + 2 * i, x + i);
}

/// Sums of a part of a block of 16 x 16. `Joined`: with those of H^H y.
template <int U, bool Joined>
struct large_sums {
  four_sums pq[4][4], pr[2][2], qs[2][2], pp[6], filter[4];
  float squares[4][2] = {};
  /// Columns i and i + 1 of P with themselves, and with y.
  WB_HD void add_own(int i, const float2 (&x)[4], float2 v) {
    pp[(i + 1) * i / 2 + i].add(x[i + 1], x[i]);
    WB_UNROLL for (int j = i; j < i + 2; j++) {
      squares[j][0] = fma(x[j].x, x[j].x, squares[j][0]);
      squares[j][1] = fma(x[j].y, x[j].y, squares[j][1]);
      if constexpr (Joined) filter[j].add(v, x[j]);
    }
  }
  /// In the order of `triangle_table`.
  WB_HD void join(float (&sum)[triangle_values<U>]) const {
    WB_UNROLL for (int i = 0; i < 16; i++) pq[i / 4][i % 4].join(sum + 2 * i);
    WB_UNROLL for (int i = 0; i < 4; i++) {
      pr[i / 2][i % 2].join(sum + 32 + 2 * i);
      qs[i / 2][i % 2].join(sum + 40 + 2 * i);
      sum[60 + i] = squares[i][0] + squares[i][1];
    }
    WB_UNROLL for (int i = 0; i < 6; i++) pp[i].join(sum + 48 + 2 * i);
  }
};

/// Offset of run r of H; offset of antenna i of a vector.
WB_HD int at_run(const frame_samples& p, int r) { return r * p.h_run + p.pad * (r >> p.pad_log2); }
WB_HD int at_antenna(const frame_samples& p, int i) {
  return 2 * i + (p.y_run - (2 << p.run_log2)) * (i >> p.run_log2);
}
/// Antennas of run r. Trailing runs may have fewer or none.
WB_HD int antennas_of_run(const frame_samples& p, int antennas, int r) {
  const int first = r << p.run_log2, left = antennas - first, run_length = 1 << p.run_log2;
  return left < 0 ? 0 : left < run_length ? left : run_length;
}

/// Starts to copy H of a frame into shared memory by `cp.async`, run after run, by `Threads` threads of which
/// this is `rank`. The caller waits for the copies.
template <int U, int Threads>
WB_HD void stage_channel(float* h, const massive_args& a, const frame_samples& p, std::size_t frame,
                         int rank) {
  const int row = U / 2;  // pieces of 16 bytes of an antenna
  const auto* from = reinterpret_cast<const float4*>(a.channel.data + frame * a.channel.item_stride) + rank;
  std::uint32_t to = async_copies::address(h) + 16 * static_cast<std::uint32_t>(rank);
  constexpr std::uint32_t stride = 16 * Threads;
  WB_ROLL for (int r = 0; r < antenna_runs; r++) {
    const auto* source = from;
    std::uint32_t at_to = to;
    int left = antennas_of_run(p, a.antennas, r) * row - rank;
    WB_ROLL for (; left > 3 * Threads; left -= 4 * Threads, source += 4 * Threads, at_to += 4 * stride) {
      WB_UNROLL for (int e = 0; e < 4; e++) async_copies::copy16(at_to + e * stride, source + e * Threads);
    }
    WB_ROLL for (; left > 0; left -= Threads, source += Threads, at_to += stride)
        async_copies::copy16(at_to, source);
    from += row << p.run_log2;
    to += 4 * static_cast<std::uint32_t>(at_run(p, r + 1) - at_run(p, r));
  }
}

/// Starts to copy `count` vectors into shared memory, from vector `number` on: pieces of two antennas by
/// `cp.async`, by `threads` threads of which this is `rank`. The caller waits for the copies.
WB_HD void stage_vectors(float* to, const massive_args& a, const frame_samples& p, std::size_t number,
                         int count, int rank, int threads) {
  const std::uint32_t vector = 4 * static_cast<std::uint32_t>(p.y_side);
  const cx_pair* vectors = a.in.data + number * a.in.item_stride;
  WB_ROLL for (int i = rank; 2 * i < a.antennas; i += threads) {
    const cx_pair* from = vectors + 2 * i;
    std::uint32_t target = async_copies::address(to + at_antenna(p, 2 * i));
#pragma unroll 4
    for (int side = 0; side < count; side++, from += a.in.item_stride, target += vector)
      async_copies::copy16(target, from);
  }
}

/// The lanes of one part if `Turned`: those of neighbouring runs are 9 lanes apart.
struct turned_lanes {
  int rank, part;
  template <class X>
  WB_HD X exchange(X x, int step) const {
    const int run = rank ^ step;
    return __shfl_sync(0xffffffffu, x, antenna_runs * ((part - run) & 3) + run);
  }
};
/// `sum_over_runs` through shared memory: the same order of sums with less than half the instructions. By a
/// whole warp. `scratch`: `run_scratch` floats of this warp. N is a multiple of four. Afterwards x[4 i] to
/// x[4 i + 3] are the values from 4 (8 i + run) on.
template <int N>
WB_HD void sum_over_runs_in(float* scratch, int run, int part, float (&x)[N]) {
  static_assert(N % 4 == 0);
  constexpr int fours = N / 4, lanes = 4 * 32;
  float* const part_scratch = scratch + 32 * part;
  const auto turned = [&](int k) { return 4 * (run ^ k); };  // no bank conflicts within a part
  WB_UNROLL for (int from = 0; from < fours; from += antenna_runs) {
    WB_UNROLL for (int k = 0; k < antenna_runs; k++) {
      if (from + k >= fours) break;
      const float four[4] = {x[4 * (from + k)], x[4 * (from + k) + 1], x[4 * (from + k) + 2],
                             x[4 * (from + k) + 3]};
      store4(part_scratch + lanes * k + turned(k), four);
    }
    __syncwarp();
    if (from + antenna_runs <= fours || from + run < fours) {
      float runs[antenna_runs][4];
      WB_UNROLL for (int k = 0; k < antenna_runs; k++) load4(part_scratch + lanes * run + turned(k), runs[k]);
      WB_UNROLL for (int i = 0; i < 4; i++) {
        x[from / 2 + i] = ((runs[0][i] + runs[4][i]) + (runs[2][i] + runs[6][i])) +
                          ((runs[1][i] + runs[5][i]) + (runs[3][i] + runs[7][i]));
      }
    }
    __syncwarp();
  }
}
#endif

}  // namespace WB_ISA
}  // namespace wb
