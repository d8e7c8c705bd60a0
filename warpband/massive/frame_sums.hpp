#pragma once
// H^H H and H^H y of a frame of 8, 16, 24, 32 or 64 users in float32, by single warps on a CUDA device.
//
// Lane l of a warp has run l % 8 of the antennas and one of four parts of the tile that the warp sums. The
// sums of a part stay in registers, so that H is read from shared memory little more than once.
//
// Who calls: one whole warp for each tile; warps do not meet. `triangle(b)` sums block b of 16 x 16 (or of
// 8 x 8) on the diagonal, `rectangle(r)` rows r to r + 7 and columns 0 to 15, `filters` H^H y. The two blocks
// of 24 users overlap, and the rectangle overlaps the second one; each value is stored once.
//
// Needs: H and y in shared memory as `frame_samples::of_samples` lays them out, and with
// `detector_sums` of 24 or 32 users `run_scratch` floats of shared memory for each warp. Up to 255 registers
// a thread.
//
// Barriers: none inside but `__syncwarp`. The caller waits until H and y are there; `Ready` runs before
// results are written; the caller tells the solvers.
//
// Order of sums: as linalg/gram. Each run adds its antennas in order, by one fma each for re re, re im, im re
// and im im. The 8 runs then add as ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)).
#include <warpband/massive/frame_tiles.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
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
  static constexpr int filter_sides = !Many ? 1 : U == 8 ? Shape::sides : sides_of_warp;
  static constexpr int values = triangle_values<U>, group = group_columns<U>;
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

  /// Calls add(h, y, antennas) with the lane's run of H and of the first vector, and its antennas. If H comes
  /// in parts, it does so for each part.
  template <class F>
  WB_HD void over_antennas(F add) const {
    if constexpr (requires { Ready::in_parts; })
      ready.over_parts(run, add);
    else
      add(h + at_run(p, run), y + run * p.y_run, antennas_of(run));
  }

  /// Block `block` on the diagonal. If `Joined` also H^H y of the same users.
  WB_HD void triangle(int block) const {
    if constexpr (U == 8)
      small_triangle();
    else
      large_triangle(block);
  }

  WB_HD void large_triangle(int block) const {
    large_sums<U, Joined> sums;
    over_antennas([&](const float* run_of_h, const float* at_y, int run_antennas) {
      add_triangle(sums, run_of_h + 2 * block_step<U> * block, at_y, run_antennas);
    });
    write(block, sums);
  }
  /// Adds `run_antennas` antennas of a run, whose columns of the block begin at `row`.
  WB_HD void add_triangle(large_sums<U, Joined>& sums, const float* row, const float* at_y,
                          int run_antennas) const {
    const auto first = [&](std::uint32_t packed) { return 2 * static_cast<int>(packed >> (8 * part) & 255); };
    const float *at_p = row + first(packed_p), *at_q = row + first(packed_q), *at_r = row + first(packed_r),
                *at_s = row + first(packed_s);
    // Operands of one antenna. Those of columns 2 and 3 of P and of Q, and of S, are loaded in the second
    // half of the iteration before. The others are loaded in the first half of their own iteration.
    float2 x[4], z[4], z_high[2], r[2], s[2], v{};
    const auto low = [&] { load_two(at_p, x), load_two(at_q, z), load_two(at_r, r); };
    const auto high = [&] { load_two(at_p + 4, x + 2), load_two(at_q + 4, z_high), load_two(at_s, s); };
    const auto add_pq = [&](int i0, int j0) {
      WB_UNROLL for (int i = i0; i < i0 + 2; i++) {
        WB_UNROLL for (int j = j0; j < j0 + 2; j++) sums.pq[i][j].add(x[i], z[j]);
      }
    };
    const auto add_two = [](four_sums(&to)[2][2], const float2* a, const float2* b) {
      WB_UNROLL for (int i = 0; i < 2; i++) {
        WB_UNROLL for (int j = 0; j < 2; j++) to[i][j].add(a[i], b[j]);
      }
    };
    if (run_antennas > 0) high();
    WB_ROLL for (int left = run_antennas; left > 0; left--) {
      low();
      if constexpr (Joined) v = *reinterpret_cast<const float2*>(at_y), at_y += 2;
      z[2] = z_high[0], z[3] = z_high[1];
      add_two(sums.qs, z + 2, s);
      add_pq(2, 2);
      sums.add_own(2, x, v);
      add_pq(2, 0);
      WB_UNROLL for (int i = 2; i < 4; i++) {
        WB_UNROLL for (int j = 0; j < 2; j++) sums.pp[i * (i - 1) / 2 + j].add(x[i], x[j]);
      }
      if (left == p.never) break;
      if (left > 1)
        at_p += 2 * U, at_q += 2 * U, at_r += 2 * U, at_s += 2 * U;  // the last ones are read again
      high();
      add_pq(0, 0);
      add_pq(0, 2);
      add_two(sums.pr, x, r);
      sums.add_own(0, x, v);
    }
  }
  /// Adds the runs of a block, and writes it.
  WB_HD void write(int block, const large_sums<U, Joined>& sums) const {
    float sum[values];
    sums.join(sum);
    // Loaded before the sums over runs: the table may be in device memory.
    const std::uint16_t* const to = triangle_places<U>.to[block][part];
    uint2 places[values / antenna_runs / 4];
    WB_UNROLL for (int i = 0; i < values / antenna_runs; i += 4) places[i / 4] =
        *reinterpret_cast<const uint2*>(to + number_of<values>(i));
    this->sum(sum);
    ready();
    WB_UNROLL for (int i = 0; i < values / antenna_runs; i++) {
      const std::uint32_t two = i % 4 < 2 ? places[i / 4].x : places[i / 4].y;
      put(two >> 16 * (i % 2), sum[i]);
    }
    if constexpr (Joined) {
      float filtered[8];
      WB_UNROLL for (int i = 0; i < 4; i++) sums.filter[i].join(filtered + 2 * i);
      sum_over_runs(lanes(), filtered);
      const int first = 2 * static_cast<int>(packed_p >> (8 * part) & 255);
      if (U != 24 || !is_shared_user<U>(block, block_step<U> * block + first / 2))
        results[Shape::right + 2 * block_step<U> * block + first + run] = filtered[0];
    }
  }
  /// Stores a sum of a triangle where an entry of `triangle_table` says.
  WB_HD void put(std::uint32_t place, float sum) const {
    if (U == 24 && (place & 0xffff) == stored_elsewhere) return;
    results[place & 0x7fff] = (place & 0x8000) != 0 ? -sum : sum;
  }

  /// The triangle of 8 users.
  WB_HD void small_triangle() const {
    const float* row = h + at_run(p, run);
    const auto first = [&](std::uint32_t packed) { return static_cast<int>(packed >> (8 * part) & 255); };
    const float *at_p = row + first(packed_p), *at_q = row + first(packed_q), *at_r = row + first(packed_r),
                *at_s = row + first(packed_s), *at_y = y + run * p.y_run;
    four_sums pq[2][2], pr, qs, pp, filter[2];
    float squares[2][2] = {};
    const int run_antennas = antennas_of(run);
#pragma unroll 2
    for (int b = 0; b < run_antennas; b++) {
      float2 x[2], z[2];
      load_two(at_p, x), load_two(at_q, z);
      const float2 r = load_one(at_r), s = load_one(at_s);
      WB_UNROLL for (int i = 0; i < 2; i++) {
        WB_UNROLL for (int j = 0; j < 2; j++) pq[i][j].add(x[i], z[j]);
        squares[i][0] = fma(x[i].x, x[i].x, squares[i][0]);
        squares[i][1] = fma(x[i].y, x[i].y, squares[i][1]);
        if constexpr (Joined) filter[i].add(load_one(at_y), x[i]);
      }
      pr.add(x[0], r), qs.add(z[1], s), pp.add(x[1], x[0]);
      at_p += 2 * U, at_q += 2 * U, at_r += 2 * U, at_s += 2 * U, at_y += 2;
    }
    float sum[values];
    WB_UNROLL for (int i = 0; i < 4; i++) pq[i / 2][i % 2].join(sum + 2 * i);
    pr.join(sum + 8), qs.join(sum + 10), pp.join(sum + 12);
    WB_UNROLL for (int i = 0; i < 2; i++) sum[14 + i] = squares[i][0] + squares[i][1];
    const std::uint32_t places =
        *reinterpret_cast<const std::uint32_t*>(triangle_places<U>.to[0][part] + 2 * run);
    sum_over_runs(lanes(), sum);
    ready();
    put(places, sum[0]), put(places >> 16, sum[1]);
    if constexpr (Joined) {
      float filtered[8] = {};
      filter[0].join(filtered), filter[1].join(filtered + 2);
      sum_over_runs(lanes(), filtered);
      if (run < 4) results[Shape::right + first(packed_p) + run] = filtered[0];
    }
  }

  /// Rows r0 to r0 + 7 and columns c0 to c0 + 15.
  WB_HD void rectangle(int r0, int c0 = 0) const {
    four_sums sums[8][4];
    over_antennas([&](const float* run_of_h, const float*, int run_antennas) {
      const float* at_z = run_of_h + 2 * c0 + 8 * part;
      add_rectangle(
          sums, run_of_h + 2 * r0, run_antennas, [&](int j, float2* z) { load_two(at_z + 2 * j, z); },
          [&] { at_z += 2 * U; });
    });
    float sum[64];
    WB_UNROLL for (int i = 0; i < 32; i++) sums[i / 4][i % 4].join(sum + 2 * i);
    this->sum(sum);
    ready();
    WB_UNROLL for (int i = 0; i < 8; i += 4) {
      const float four[4] = {sum[i], sum[i + 1], sum[i + 2], sum[i + 3]};
      const int index = number_of<64>(i);
      float* const to = results + Matrix::place(r0 + index / 8, c0 + 4 * part + index % 8 / 2);
      if constexpr (U == 64)
        store_two(to, four);
      else
        store4(to, four);
    }
  }
  /// Adds `run_antennas` antennas to a tile of 8 rows, which begin at `at_x`, and 4 columns of each part.
  /// `two(j, z)` loads columns j and j + 1 of an antenna; `next` goes on to the one after it.
  template <class Two, class Next>
  WB_HD void add_rectangle(four_sums (&sums)[8][4], const float* at_x, int run_antennas, Two two,
                           Next next) const {
    float2 x[8], z[4], z_low[2];
    const auto low = [&] { load_two(at_x, x), load_two(at_x + 4, x + 2), two(0, z_low); };
    const auto high = [&] { load_two(at_x + 8, x + 4), load_two(at_x + 12, x + 6), two(2, z + 2); };
    const auto add = [&](int i0, int j0, int columns) {
      WB_UNROLL for (int i = i0; i < i0 + 4; i++) {
        WB_UNROLL for (int j = j0; j < j0 + columns; j++) sums[i][j].add(x[i], z[j]);
      }
    };
    if (run_antennas > 0) low();
    WB_ROLL for (int left = run_antennas; left > 0; left--) {
      high();
      z[0] = z_low[0], z[1] = z_low[1];
      add(0, 0, 4);
      add(4, 2, 1);
      if (left == p.never) break;
      if (left > 1) at_x += 2 * U, next();
      low();
      add(4, 3, 1);
      add(4, 0, 2);
    }
  }
  /// H^H y of N vectors from `side` on, for the 16 users from c0 on, or all 8. Only vectors below `count` are
  /// stored.
  template <int N>
  WB_HD void filters(int c0, int side, int count) const {
    const int c = c0 + group * part, y_side = p.y_side;
    // Vectors past `count` are summed from whatever the memory holds, and not stored.
    const float *at_h = h + at_run(p, run) + 2 * c, *at_y = y + side * y_side + run * p.y_run;
    four_sums sums[N][group];
    const int run_antennas = antennas_of(run);
    // Two antennas an iteration need fewer loads of y. For 16 users the shorter loop is as fast.
    if constexpr (U <= 16 && N > 1) {
      WB_ROLL for (int b = 0; b < run_antennas; b++) {
        float2 z[group];
        load_pairs(at_h, z);
        WB_UNROLL for (int i = 0; i < N; i++) {
          const float2 v = *reinterpret_cast<const float2*>(at_y + i * y_side);
          WB_UNROLL for (int j = 0; j < group; j++) sums[i][j].add(v, z[j]);
        }
        at_h += 2 * U, at_y += 2;
      }
    } else {
      constexpr int half = (N + 1) / 2;
      float2 z[2][group], v[N][2];  // of two antennas
      const auto sides = [&](int first, int last) {
        WB_UNROLL for (int i = first; i < last; i++) load_two(at_y + i * y_side, v[i]);
      };
      const auto add = [&](int e, int first, int last) {
        WB_UNROLL for (int i = first; i < last; i++) {
          WB_UNROLL for (int j = 0; j < group; j++) sums[i][j].add(v[i][e], z[e][j]);
        }
      };
      if (run_antennas > 0) load_pairs(at_h, z[0]), sides(0, half);
      WB_ROLL for (int left = run_antennas; left > 0; left -= 2) {
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
    constexpr int of_side = 2 * group, value_count = of_side * N;
    float sum[value_count];
    WB_UNROLL for (int i = 0; i < group * N; i++) sums[i / group][i % group].join(sum + 2 * i);
    this->sum(sum);
    ready();
    constexpr int values_per_lane = value_count / antenna_runs;
    WB_UNROLL for (int i = 0; i < (in_scratch ? (values_per_lane + 3) / 4 * 4 : values_per_lane); i++) {
      const int index = number_of<value_count>(i), k = side + index / of_side;
      if (index < value_count && k < count && (U != 24 || c0 == 0 || !is_shared_user<U>(1, c)))
        results[Shape::right + k * Shape::side_floats + 2 * c + index % of_side] = sum[i];
    }
  }

  /// H^H y of the `count` vectors of a group: the share of warp `from` of `warps`.
  WB_HD void filters_of(int from, int warps, int count) const {
    constexpr int blocks = diagonal_blocks<U>;
    WB_ROLL for (int i = from; i < blocks * Shape::sides / filter_sides; i += warps) {
      const int side = filter_sides * (i / blocks);
      if (side < count) filters<filter_sides>(block_step<U> * (i % blocks), side, count);
    }
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
