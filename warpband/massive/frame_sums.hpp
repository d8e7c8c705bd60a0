#pragma once
// H^H H and H^H y of a frame of 16 or 32 users in float32, by single warps on a CUDA device.
//
// Lane l of a warp has run l % 8 of the antennas and one of four parts of the tile that the warp sums. The
// sums of a part stay in registers, so that H is read from shared memory little more than once.
//
// Who calls: one whole warp for each tile; warps do not meet. `triangle(b)` sums the 16 x 16 block b on the
// diagonal, `rectangle(r)` rows r to r + 7 and columns 0 to 15 for 32 users, `filters` H^H y.
//
// Needs: H and y in shared memory as `frame_samples::of_samples` lays them out, and with
// `detector_sums` of 32 users `run_scratch` floats of shared memory for each warp. Up to 255 registers a
// thread.
//
// Barriers: none inside but `__syncwarp`. The caller waits until H and y are there; `Ready` runs before
// results are written; the caller tells the solvers.
//
// Order of sums: as linalg/gram. Each run adds its antennas in order, by one fma each for re re, re im, im re
// and im im. The 8 runs then add as ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)).
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/async_copies.hpp>
#include <warpband/massive/frame_layout.hpp>
#include <warpband/massive/frame_matrix.hpp>
#include <warpband/massive/massive_op.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)

// How the lower triangle of a 16 x 16 block is divided among the four parts. Columns are grouped by four.
// Part t has the columns P and Q, all four of two groups, and R and S, two columns each of two others. It
// sums P with P, P with Q, the first half of P with R, and the second half of Q with S. First columns of
// each:
inline constexpr int triangle_p[4] = {0, 12, 8, 4}, triangle_q[4] = {8, 0, 4, 12},
                     triangle_r[4] = {4, 10, 12, 2}, triangle_s[4] = {14, 6, 0, 8};
constexpr std::uint32_t packed_columns(const int (&c)[4]) {
  return static_cast<std::uint32_t>(c[0] | c[1] << 8 | c[2] << 16 | c[3] << 24);
}
inline constexpr std::uint32_t packed_p = packed_columns(triangle_p), packed_q = packed_columns(triangle_q),
                               packed_r = packed_columns(triangle_r), packed_s = packed_columns(triangle_s);
inline constexpr int triangle_values = 64;

/// Offsets of the sums of a triangle in a slot, in the order of the lanes' values. If the highest bit is set
/// the value is stored negated: that of an entry's conjugate.
template <int U>
struct triangle_table {
  alignas(16) std::uint16_t to[U / 16][4][triangle_values];
};
template <int U>
constexpr triangle_table<U> make_triangle_table() {
  using Matrix = lower_triangle<U>;
  triangle_table<U> t{};
  for (int block = 0; block < U / 16; block++)
    for (int k = 0; k < 4; k++) {
      int n = 0;
      const auto add = [&](int x, int h) {
        x += 16 * block, h += 16 * block;
        for (int part = 0; part < 2; part++) {
          const int place = x > h ? Matrix::place(x, h) : Matrix::place(h, x);
          t.to[block][k][n++] =
              static_cast<std::uint16_t>((place + part) | (x < h && part == 1 ? 0x8000 : 0));
        }
      };
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) add(triangle_p[k] + i, triangle_q[k] + j);
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) add(triangle_p[k] + i, triangle_r[k] + j);
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) add(triangle_q[k] + 2 + i, triangle_s[k] + j);
      for (int i = 1; i < 4; i++)
        for (int j = 0; j < i; j++) add(triangle_p[k] + i, triangle_p[k] + j);
      for (int i = 0; i < 4; i++)
        t.to[block][k][n++] = static_cast<std::uint16_t>(Matrix::floats + 16 * block + triangle_p[k] + i);
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
};
WB_HD void load_two(const float* p, float2* x) {
  float four[4];
  load4(p, four);
  x[0] = {four[0], four[1]};
  x[1] = {four[2], four[3]};
}
template <int N>
WB_HD void load_pairs(const float* p, float2 (&x)[N]) {
  WB_UNROLL for (int i = 0; i < N; i += 2) load_two(p + 2 * i, x + i);
}

/// Offset of run r of H; offset of antenna i of a vector.
WB_HD int at_run(const frame_samples& p, int r) { return r * p.h_run + p.pad * (r >> p.pad_log2); }
WB_HD int at_antenna(const frame_samples& p, int i) {
  return 2 * i + (p.y_run - (2 << p.run_log2)) * (i >> p.run_log2);
}
/// Antennas of run r. Trailing runs may have fewer or none.
WB_HD int antennas_of_run(const frame_samples& p, int antennas, int r) {
  const int first = r << p.run_log2, left = antennas - first, most = 1 << p.run_log2;
  return left < 0 ? 0 : left < most ? left : most;
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
    const auto* at = from;
    std::uint32_t at_to = to;
    int left = antennas_of_run(p, a.antennas, r) * row - rank;
    WB_ROLL for (; left > 3 * Threads; left -= 4 * Threads, at += 4 * Threads, at_to += 4 * stride) {
      WB_UNROLL for (int e = 0; e < 4; e++) async_copies::copy16(at_to + e * stride, at + e * Threads);
    }
    WB_ROLL for (; left > 0; left -= Threads, at += Threads, at_to += stride) async_copies::copy16(at_to, at);
    from += row << p.run_log2;
    to += 4 * static_cast<std::uint32_t>(at_run(p, r + 1) - at_run(p, r));
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
  float* const mine = scratch + 32 * part;
  const auto turned = [&](int k) { return 4 * (run ^ k); };  // no bank conflicts within a part
  WB_UNROLL for (int from = 0; from < fours; from += antenna_runs) {
    WB_UNROLL for (int k = 0; k < antenna_runs; k++) {
      if (from + k >= fours) break;
      const float four[4] = {x[4 * (from + k)], x[4 * (from + k) + 1], x[4 * (from + k) + 2],
                             x[4 * (from + k) + 3]};
      store4(mine + lanes * k + turned(k), four);
    }
    __syncwarp();
    if (from + antenna_runs <= fours || from + run < fours) {
      float of[antenna_runs][4];
      WB_UNROLL for (int k = 0; k < antenna_runs; k++) load4(mine + lanes * run + turned(k), of[k]);
      WB_UNROLL for (int i = 0; i < 4; i++) {
        x[from / 2 + i] =
            ((of[0][i] + of[4][i]) + (of[2][i] + of[6][i])) + ((of[1][i] + of[5][i]) + (of[3][i] + of[7][i]));
      }
    }
    __syncwarp();
  }
}
/// Policy of the precoder: only H^H H.
struct gram_sums {
  /// Whether `triangle` also sums H^H y of a single vector.
  static constexpr bool joined = false;
  /// Whether the lanes of a part shift by eight from run to run, which avoids nearly all bank conflicts
  /// without gaps between runs.
  static constexpr bool turned = false;
  /// Whether runs are added through `run_scratch` floats of each warp, with half the instructions.
  static constexpr bool in_scratch = false;
};
/// Policy of the detector.
template <int U, bool Many>
struct detector_sums {
  static constexpr bool joined = !Many, turned = U == 16, in_scratch = U == 32;
};

/// The sums of one warp; the first comment of this file has the contract.
///
/// `Policy`: `gram_sums` or `detector_sums`. `Ready`: called before results are written. A thread needs about
/// 230 registers.
///
/// The loops over antennas are short, because a multiprocessor's instruction cache has 32 KiB for all warps:
/// beyond that, four warps get instructions at less than half the rate. So each loop loads the operands of
/// the next antenna into the registers whose values it has just used for the last time. The compiler would
/// move these loads down to their use, but not across the end of a basic block. `left == p.never` is such an
/// end: the branch is never taken.
template <int U, bool Many, class Policy, class Ready>
struct frame_sums {
  static constexpr bool Joined = Policy::joined, Turned = Policy::turned, in_scratch = Policy::in_scratch;
  using Matrix = lower_triangle<U>;
  using Shape = frame_shape<U, Many>;
  static_assert(Shape::diagonal == Matrix::floats);
  static constexpr int filter_sides = Many ? sides_of_warp : 1;
  int antennas;
  const frame_samples& p;
  const float *h, *y;  // as staged
  float* results;
  int lane, run, part;  // the lane's run of eight and part of four
  float* scratch;       // of the warp, for the sums over runs
  Ready ready;

  WB_HD frame_sums(const float* channel, const float* vectors, float* to, float* own_scratch,
                   int antennas_of_frame, const frame_samples& plan, Ready before = {})
      : antennas(antennas_of_frame),
        p(plan),
        h(channel),
        y(vectors),
        results(to),
        lane(static_cast<int>(threadIdx.x) % 32),
        scratch(own_scratch),
        ready(before) {
    run = lane % antenna_runs;
    part = (lane / antenna_runs + (Turned ? run : 0)) % 4;
  }
  WB_HD int antennas_of(int r) const { return antennas_of_run(p, antennas, r); }

  WB_HD auto lanes() const {
    if constexpr (Turned)
      return turned_lanes{run, part};
    else
      return tile<antenna_runs>();
  }

  /// Sums the values of a part over all runs. Afterwards x[i] is value `number_of<N>(i)`, if that is below N.
  template <int N>
  WB_HD void sum(float (&x)[N]) const {
    if constexpr (in_scratch)
      sum_over_runs_in(scratch, run, part, x);
    else
      sum_over_runs(lanes(), x);
  }
  template <int N>
  WB_HD int number_of(int i) const {
    return in_scratch ? 4 * antenna_runs * (i / 4) + 4 * run + i % 4 : N / antenna_runs * run + i;
  }

  /// Block `block` on the diagonal. If `Joined` also H^H y of the same users.
  WB_HD void triangle(int block) const {
    const float* row = h + at_run(p, run) + 32 * block;
    const auto first = [&](std::uint32_t packed) { return 2 * static_cast<int>(packed >> (8 * part) & 255); };
    const float *at_p = row + first(packed_p), *at_q = row + first(packed_q), *at_r = row + first(packed_r),
                *at_s = row + first(packed_s), *at_y = y + run * p.y_run;
    four_sums pq[4][4], pr[2][2], qs[2][2], pp[6], filter[4];
    float squares[4][2] = {};
    // Operands of one antenna. Those of columns 2 and 3 of P and of Q, and of S, are loaded in the second
    // half of the iteration before. The others are loaded in the first half of their own iteration.
    float2 x[4], z[4], z_high[2], r[2], s[2], v{};
    const auto low = [&] { load_two(at_p, x), load_two(at_q, z), load_two(at_r, r); };
    const auto high = [&] { load_two(at_p + 4, x + 2), load_two(at_q + 4, z_high), load_two(at_s, s); };
    const auto add_pq = [&](int i0, int j0) {
      WB_UNROLL for (int i = i0; i < i0 + 2; i++) {
        WB_UNROLL for (int j = j0; j < j0 + 2; j++) pq[i][j].add(x[i], z[j]);
      }
    };
    const auto add_two = [](four_sums(&sums)[2][2], const float2* a, const float2* b) {
      WB_UNROLL for (int i = 0; i < 2; i++) {
        WB_UNROLL for (int j = 0; j < 2; j++) sums[i][j].add(a[i], b[j]);
      }
    };
    const auto add_own = [&](int i) {  // columns i and i + 1 of P
      pp[(i + 1) * i / 2 + i].add(x[i + 1], x[i]);
      WB_UNROLL for (int j = i; j < i + 2; j++) {
        squares[j][0] = fma(x[j].x, x[j].x, squares[j][0]);
        squares[j][1] = fma(x[j].y, x[j].y, squares[j][1]);
        if constexpr (Joined) filter[j].add(v, x[j]);
      }
    };
    const int mine = antennas_of(run);
    if (mine > 0) high();
    WB_ROLL for (int left = mine; left > 0; left--) {
      low();
      if constexpr (Joined) v = *reinterpret_cast<const float2*>(at_y), at_y += 2;
      z[2] = z_high[0], z[3] = z_high[1];
      add_two(qs, z + 2, s);
      add_pq(2, 2);
      add_own(2);
      add_pq(2, 0);
      WB_UNROLL for (int i = 2; i < 4; i++) {
        WB_UNROLL for (int j = 0; j < 2; j++) pp[i * (i - 1) / 2 + j].add(x[i], x[j]);
      }
      if (left == p.never) break;
      if (left > 1)
        at_p += 2 * U, at_q += 2 * U, at_r += 2 * U, at_s += 2 * U;  // the last ones are read again
      high();
      add_pq(0, 0);
      add_pq(0, 2);
      add_two(pr, x, r);
      add_own(0);
    }
    float sum[triangle_values];
    WB_UNROLL for (int i = 0; i < 16; i++) pq[i / 4][i % 4].join(sum + 2 * i);
    WB_UNROLL for (int i = 0; i < 4; i++) {
      pr[i / 2][i % 2].join(sum + 32 + 2 * i);
      qs[i / 2][i % 2].join(sum + 40 + 2 * i);
      sum[60 + i] = squares[i][0] + squares[i][1];
    }
    WB_UNROLL for (int i = 0; i < 6; i++) pp[i].join(sum + 48 + 2 * i);
    // Loaded before the sums over runs: the table may be in device memory.
    const std::uint16_t* const to = triangle_places<U>.to[block][part];
    uint2 places[triangle_values / antenna_runs / 4];
    WB_UNROLL for (int i = 0; i < triangle_values / antenna_runs; i += 4) places[i / 4] =
        *reinterpret_cast<const uint2*>(to + number_of<triangle_values>(i));
    this->sum(sum);
    ready();
    WB_UNROLL for (int i = 0; i < triangle_values / antenna_runs; i++) {
      const std::uint32_t two = i % 4 < 2 ? places[i / 4].x : places[i / 4].y, place = two >> 16 * (i % 2);
      results[place & 0x7fff] = (place & 0x8000) != 0 ? -sum[i] : sum[i];
    }
    if constexpr (Joined) {
      float filtered[8];
      WB_UNROLL for (int i = 0; i < 4; i++) filter[i].join(filtered + 2 * i);
      sum_over_runs(lanes(), filtered);
      results[Shape::right + 32 * block + first(packed_p) + run] = filtered[0];
    }
  }

  /// Rows r0 to r0 + 7 and columns 0 to 15.
  WB_HD void rectangle(int r0) const {
    const float *row = h + at_run(p, run), *at_x = row + 2 * r0, *at_z = row + 8 * part;
    four_sums sums[8][4];
    float2 x[8], z[4], z_low[2];
    const auto low = [&] { load_two(at_x, x), load_two(at_x + 4, x + 2), load_two(at_z, z_low); };
    const auto high = [&] {
      load_two(at_x + 8, x + 4), load_two(at_x + 12, x + 6), load_two(at_z + 4, z + 2);
    };
    const auto add = [&](int i0, int j0, int columns) {
      WB_UNROLL for (int i = i0; i < i0 + 4; i++) {
        WB_UNROLL for (int j = j0; j < j0 + columns; j++) sums[i][j].add(x[i], z[j]);
      }
    };
    const int mine = antennas_of(run);
    if (mine > 0) low();
    WB_ROLL for (int left = mine; left > 0; left--) {
      high();
      z[0] = z_low[0], z[1] = z_low[1];
      add(0, 0, 4);
      add(4, 2, 1);
      if (left == p.never) break;
      if (left > 1) at_x += 2 * U, at_z += 2 * U;
      low();
      add(4, 3, 1);
      add(4, 0, 2);
    }
    float sum[64];
    WB_UNROLL for (int i = 0; i < 32; i++) sums[i / 4][i % 4].join(sum + 2 * i);
    this->sum(sum);
    ready();
    WB_UNROLL for (int i = 0; i < 8; i += 4) {
      const float four[4] = {sum[i], sum[i + 1], sum[i + 2], sum[i + 3]};
      const int at = number_of<64>(i);
      store4(results + Matrix::place(r0 + at / 8, 4 * part + at % 8 / 2), four);
    }
  }

  /// H^H y of N vectors from `side` on, for the 16 users from c0 on. Only vectors below `count` are stored.
  template <int N>
  WB_HD void filters(int c0, int side, int count) const {
    const int c = c0 + 4 * part, y_side = p.y_side;
    // Vectors past `count` are summed from whatever the memory holds, and not stored.
    const float *at_h = h + at_run(p, run) + 2 * c, *at_y = y + side * y_side + run * p.y_run;
    four_sums sums[N][4];
    const int mine = antennas_of(run);
    // Two antennas an iteration need fewer loads of y. For 16 users the shorter loop is as fast.
    if constexpr (U == 16 && N > 1) {
      WB_ROLL for (int b = 0; b < mine; b++) {
        float2 z[4];
        load_pairs(at_h, z);
        WB_UNROLL for (int i = 0; i < N; i++) {
          const float2 v = *reinterpret_cast<const float2*>(at_y + i * y_side);
          WB_UNROLL for (int j = 0; j < 4; j++) sums[i][j].add(v, z[j]);
        }
        at_h += 2 * U, at_y += 2;
      }
    } else {
      constexpr int half = (N + 1) / 2;
      float2 z[2][4], v[N][2];  // of two antennas
      const auto sides = [&](int first, int last) {
        WB_UNROLL for (int i = first; i < last; i++) load_two(at_y + i * y_side, v[i]);
      };
      const auto add = [&](int e, int first, int last) {
        WB_UNROLL for (int i = first; i < last; i++) {
          WB_UNROLL for (int j = 0; j < 4; j++) sums[i][j].add(v[i][e], z[e][j]);
        }
      };
      if (mine > 0) load_pairs(at_h, z[0]), sides(0, half);
      WB_ROLL for (int left = mine; left > 0; left -= 2) {
        sides(half, N);
        load_pairs(at_h + 2 * U, z[1]);
        add(0, 0, N);
        add(1, 0, 1);
        if (left == p.never) break;
        if (left > 2) at_h += 4 * U, at_y += 4;
        load_pairs(at_h, z[0]);
        add(1, 1, half);
        if (left < p.never) break;  // another comparison, or it would be known to be false
        sides(0, half);
        add(1, half, N);
      }
    }
    float sum[8 * N];
    WB_UNROLL for (int i = 0; i < 4 * N; i++) sums[i / 4][i % 4].join(sum + 2 * i);
    this->sum(sum);
    ready();
    WB_UNROLL for (int i = 0; i < (in_scratch ? (N + 3) / 4 * 4 : N); i++) {
      const int at = number_of<8 * N>(i), k = side + at / 8;
      if (at < 8 * N && k < count) results[Shape::right + k * Shape::side_floats + 2 * c + at % 8] = sum[i];
    }
  }

  /// H^H y of the `count` vectors of a group: the share of warp `from` of `warps`.
  WB_HD void filters_of(int from, int warps, int count) const {
    constexpr int blocks = U / 16;
    WB_ROLL for (int i = from; i < blocks * Shape::sides / filter_sides; i += warps) {
      const int side = filter_sides * (i / blocks);
      if (side < count) filters<filter_sides>(16 * (i % blocks), side, count);
    }
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
