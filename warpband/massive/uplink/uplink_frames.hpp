#pragma once
// The detector on a CUDA device for 16 and 32 users: the arithmetic of uplink_op.hpp with other movements of
// data, and with float32 sums the same bits.
//
// A block takes one frame after the other. A frame's H and its first vectors are copied while the
// frame before it is solved. Sums over antennas are made by warps that do not meet: eight lanes have a run of
// antennas each, and four such groups a part of the matrix each that fits into registers, so that H is read
// from shared memory little more than once. massive/frame_matrix.hpp decomposes the matrix: one warp that of
// 16 users, while others still sum filters, and four that of 32. Where frames have several vectors, groups of
// lanes then have four of them each, a user a lane, so that a factor's entry is read once for four.
#include <warpband/exec/async_copies.hpp>
#include <warpband/massive/frame_matrix.hpp>
#include <warpband/massive/uplink/mapping.hpp>
#include <warpband/massive/uplink/tensor_sums.hpp>
#include <warpband/massive/uplink/uplink_op.hpp>

namespace wb {
inline namespace WB_ISA {

static_assert(frame_runs == antenna_runs);

// A triangle of 16 x 16 in blocks of four columns a..d = 0..3. Group t of lanes has columns P and Q, all of
// two blocks, and R and S, halves of two others: P with P, P with Q, the first half of P with R and the
// second of Q with S. First columns:
inline constexpr int triangle_p[4] = {0, 12, 8, 4}, triangle_q[4] = {8, 0, 4, 12},
                     triangle_r[4] = {4, 10, 12, 2}, triangle_s[4] = {14, 6, 0, 8};
constexpr std::uint32_t packed_columns(const int (&c)[4]) {
  return static_cast<std::uint32_t>(c[0] | c[1] << 8 | c[2] << 16 | c[3] << 24);
}
inline constexpr std::uint32_t packed_p = packed_columns(triangle_p), packed_q = packed_columns(triangle_q),
                               packed_r = packed_columns(triangle_r), packed_s = packed_columns(triangle_s);
inline constexpr int triangle_values = 64;

/// Where the sums of a triangle go, in the order in which lanes have them; the highest bit: negated.
template <int U>
struct triangle_table {
  std::uint16_t to[U / 16][4][triangle_values];
};
template <int U>
constexpr triangle_table<U> make_triangle_table() {
  triangle_table<U> t{};
  for (int block = 0; block < U / 16; block++)
    for (int k = 0; k < 4; k++) {
      int n = 0;
      const auto add = [&](int x, int h) {
        x += 16 * block, h += 16 * block;
        for (int part = 0; part < 2; part++) {
          const int place = x > h ? matrix_place<U>(x, h) : matrix_place<U>(h, x);
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
        t.to[block][k][n++] = static_cast<std::uint16_t>(2 * U * U + 16 * block + triangle_p[k] + i);
    }
  return t;
}
template <int U>
__device__ const triangle_table<U> triangle_places = make_triangle_table<U>();

/// The sums of x conj(h) as `run_sums` has them: re re, re im, im re, im im.
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
template <int N>
WB_HD void load_pairs(const float* p, float2 (&x)[N]) {
  WB_UNROLL for (int i = 0; i < N; i += 2) {
    float four[4];
    load4(p + 2 * i, four);
    x[i] = {four[0], four[1]};
    x[i + 1] = {four[2], four[3]};
  }
}

template <int U, bool Many, bool Tensor>
struct frame_worker {
  using Shape = frame_shape<U, Many, Tensor>;
  static constexpr int halves = Shape::halves;
  const massive_args& a;
  const frame_plan& p;
  float *h, *y, *results, *raw;
  int warp, lane, run, part;  // within sums: eight runs, four groups of lanes

  WB_HD frame_worker(const massive_args& args, const frame_plan& plan, float* shared)
      : a(args),
        p(plan),
        h(shared),
        y(shared + plan.y),
        results(shared + plan.results),
        raw(shared + plan.raw) {
    warp = static_cast<int>(threadIdx.x) / 32;
    lane = static_cast<int>(threadIdx.x) % 32;
    run = lane % antenna_runs;
    part = lane / antenna_runs;
  }
  WB_HD static void meet() {
    if constexpr (Shape::warps == 1)
      __syncwarp();
    else
      __syncthreads();
  }
  WB_HD int antennas_of(int r) const {
    const int first = r << p.run_log2, left = a.antennas - first, most = 1 << p.run_log2;
    return left < 0 ? 0 : left < most ? left : most;
  }
  WB_HD int count_from(int symbol) const {
    if constexpr (!Many) return 1;
    return a.symbols - symbol < frame_sides ? a.symbols - symbol : frame_sides;
  }
  WB_HD const cx_pair* channel_of(std::size_t frame) const {
    return a.channel.data + frame * a.channel.item_stride;
  }
  WB_HD const cx_pair* vector_of(std::size_t frame, int symbol) const {
    return a.in.data + (frame * static_cast<std::size_t>(a.symbols) + static_cast<std::size_t>(symbol)) *
                           a.in.item_stride;
  }

  // Halves are staged as they are and become floats, where the sums read them, before they are needed.
  WB_HD bool half_in() const { return a.half_channel.data != nullptr; }
  WB_HD float* raw_vector(int side) const { return raw + a.antennas * (U + side); }
  template <int Threads>
  WB_HD void stage_halves(std::size_t frame, int symbol, int rank) const {
    const auto copy = [&](float* to, const half_complex* from, int fours) {
      WB_ROLL for (int i = rank; i < fours; i += Threads)
          async_copies::copy16(async_copies::address(to + 4 * i), from + 4 * i);
    };
    const int count = count_from(symbol);
    if (symbol == 0)
      copy(raw, a.half_channel.data + frame * a.half_channel.item_stride, a.antennas * (U / 4));
    const half_complex* from = a.half_in.data + vector_number(frame, symbol) * a.half_in.item_stride;
    if (a.half_in.item_stride == static_cast<std::size_t>(a.antennas)) {
      copy(raw_vector(0), from, count * (a.antennas / 4));
    } else {
      WB_ROLL for (int side = 0; side < count; side++, from += a.half_in.item_stride)
          copy(raw_vector(side), from, a.antennas / 4);
    }
  }
  WB_HD static void put_two(float* to, std::uint32_t first, std::uint32_t second) {
    const float2 x = to_floats(first), z = to_floats(second);
    *reinterpret_cast<float4*>(to) = {x.x, x.y, z.x, z.y};
  }
  /// By all threads.
  WB_HD void unpack(int symbol) const {
    if (symbol == 0) {
      const auto* from = reinterpret_cast<const uint4*>(raw);
      WB_ROLL for (int i = static_cast<int>(threadIdx.x); i < a.antennas * (U / 4); i += Shape::threads) {
        const uint4 x = from[i];
        float* to = h + 8 * i + 4 * (i / (U / 4) >> p.run_log2);
        put_two(to, x.x, x.y);
        put_two(to + 4, x.z, x.w);
      }
    }
    WB_ROLL for (int side = warp; side < count_from(symbol); side += Shape::warps) {
      const auto* from = reinterpret_cast<const uint4*>(raw_vector(side));
      float* to = y + side * p.y_side;
      WB_ROLL for (int i = lane; 4 * i < a.antennas; i += 32) {
        const uint4 x = from[i];
        put_two(to + 8 * i + 4 * (4 * i >> p.run_log2), x.x, x.y);
        put_two(to + 8 * i + 4 + 4 * ((4 * i + 2) >> p.run_log2), x.z, x.w);  // a run may have two antennas
      }
    }
  }

  /// Starts to stage H: thread `rank` of `Threads`.
  template <int Threads>
  WB_HD void stage_channel(std::size_t frame, int rank) const {
    const auto* from = reinterpret_cast<const float4*>(channel_of(frame)) + rank;
    std::uint32_t to = async_copies::address(h) + 16 * static_cast<std::uint32_t>(rank);
    constexpr std::uint32_t stride = 16 * Threads;
    WB_ROLL for (int r = 0; r < antenna_runs; r++) {
      const auto* at = from;
      std::uint32_t at_to = to;
      int left = antennas_of(r) * (U / 2) - rank;
      WB_ROLL for (; left > 3 * Threads; left -= 4 * Threads, at += 4 * Threads, at_to += 4 * stride) {
        WB_UNROLL for (int e = 0; e < 4; e++) async_copies::copy16(at_to + e * stride, at + e * Threads);
      }
      WB_ROLL for (; left > 0; left -= Threads, at += Threads, at_to += stride)
          async_copies::copy16(at_to, at);
      from += U / 2 << p.run_log2;
      to += 4 * static_cast<std::uint32_t>(p.h_run);
    }
  }
  /// Starts to stage vectors from `symbol` on, and H with the first.
  template <int Threads>
  WB_HD void stage(std::size_t frame, int symbol, int rank) const {
    if (half_in()) return stage_halves<Threads>(frame, symbol, rank);
    const int count = count_from(symbol);
    if (symbol == 0) stage_channel<Threads>(frame, rank);
    const std::uint32_t vector = 4 * static_cast<std::uint32_t>(p.y_side);
    WB_ROLL for (int i = rank; 2 * i < a.antennas; i += Threads) {
      const cx_pair* from = vector_of(frame, symbol) + 2 * i;
      std::uint32_t to = async_copies::address(y + 4 * i + 4 * (2 * i >> p.run_log2));
      WB_ROLL for (int side = 0; side < count; side++, from += a.in.item_stride, to += vector)
          async_copies::copy16(to, from);
    }
  }

  // -------------------------------------------------------------------------------- sums over antennas

  /// Where they are `joined`, with the filter of a single vector for the same columns.
  WB_HD void triangle(int block) const {
    const float* row = h + run * p.h_run + 32 * block;
    const auto first = [&](std::uint32_t packed) { return 2 * static_cast<int>(packed >> (8 * part) & 255); };
    const float *at_p = row + first(packed_p), *at_q = row + first(packed_q), *at_r = row + first(packed_r),
                *at_s = row + first(packed_s), *at_y = y + run * p.y_run;
    four_sums pq[4][4], pr[2][2], qs[2][2], pp[6], filter[4];
    float squares[4][2] = {};
    const int antennas = antennas_of(run);
    const auto add = [&](int offset, float2 v) {
      float2 x[4], z[4], r[2], s[2];
      load_pairs(at_p + offset, x);
      load_pairs(at_q + offset, z);
      load_pairs(at_r + offset, r);
      load_pairs(at_s + offset, s);
      WB_UNROLL for (int i = 0; i < 4; i++) {
        WB_UNROLL for (int j = 0; j < 4; j++) pq[i][j].add(x[i], z[j]);
      }
      WB_UNROLL for (int i = 0; i < 4; i++) {
        WB_UNROLL for (int j = 0; j < i; j++) pp[i * (i - 1) / 2 + j].add(x[i], x[j]);
        squares[i][0] = fma(x[i].x, x[i].x, squares[i][0]);
        squares[i][1] = fma(x[i].y, x[i].y, squares[i][1]);
      }
      WB_UNROLL for (int i = 0; i < 2; i++) {
        WB_UNROLL for (int j = 0; j < 2; j++) pr[i][j].add(x[i], r[j]);
      }
      WB_UNROLL for (int i = 0; i < 2; i++) {
        WB_UNROLL for (int j = 0; j < 2; j++) qs[i][j].add(z[2 + i], s[j]);
      }
      if constexpr (Shape::joined) {
        WB_UNROLL for (int j = 0; j < 4; j++) filter[j].add(v, x[j]);
      }
    };
    WB_ROLL for (int b = 0; b < antennas; b += 2) {
      float2 v[2] = {};
      if constexpr (Shape::joined) load_pairs(at_y + 2 * b, v);
      if constexpr (U == 16) {  // for want of registers one antenna after the other
        WB_ROLL for (int e = 0; e < 2; e++) {
          add(0, e == 0 ? v[0] : v[1]);
          at_p += 2 * U, at_q += 2 * U, at_r += 2 * U, at_s += 2 * U;
        }
      } else {
        add(0, v[0]);
        add(2 * U, v[1]);
        at_p += 4 * U, at_q += 4 * U, at_r += 4 * U, at_s += 4 * U;
      }
    }
    float sum[triangle_values];
    WB_UNROLL for (int i = 0; i < 16; i++) pq[i / 4][i % 4].join(sum + 2 * i);
    WB_UNROLL for (int i = 0; i < 4; i++) {
      pr[i / 2][i % 2].join(sum + 32 + 2 * i);
      qs[i / 2][i % 2].join(sum + 40 + 2 * i);
      sum[60 + i] = squares[i][0] + squares[i][1];
    }
    WB_UNROLL for (int i = 0; i < 6; i++) pp[i].join(sum + 48 + 2 * i);
    sum_over_runs(tile<antenna_runs>(), sum);
    const std::uint16_t* to = triangle_places<U>.to[block][part] + run * (triangle_values / antenna_runs);
    WB_UNROLL for (int i = 0; i < triangle_values / antenna_runs; i++) {
      const int place = to[i];
      results[place & 0x7fff] = (place & 0x8000) != 0 ? -sum[i] : sum[i];
    }
    if constexpr (Shape::joined) {
      float filtered[8];
      WB_UNROLL for (int i = 0; i < 4; i++) filter[i].join(filtered + 2 * i);
      sum_over_runs(tile<antenna_runs>(), filtered);
      results[Shape::right + 32 * block + first(packed_p) + run] = filtered[0];
    }
  }

  /// Eight rows from r0 on and the first 16 columns.
  WB_HD void rectangle(int r0) const {
    const float *row = h + run * p.h_run, *at_x = row + 2 * r0, *at_z = row + 8 * part;
    four_sums sums[8][4];
    const int antennas = antennas_of(run);
    WB_ROLL for (int b = 0; b < antennas; b += 2) {
      WB_UNROLL for (int e = 0; e < 2; e++) {
        float2 x[8], z[4];
        load_pairs(at_x + 2 * U * e, x);
        load_pairs(at_z + 2 * U * e, z);
        WB_UNROLL for (int i = 0; i < 8; i++) {
          WB_UNROLL for (int j = 0; j < 4; j++) sums[i][j].add(x[i], z[j]);
        }
      }
      at_x += 4 * U, at_z += 4 * U;
    }
    float sum[64];
    WB_UNROLL for (int i = 0; i < 32; i++) sums[i / 4][i % 4].join(sum + 2 * i);
    sum_over_runs(tile<antenna_runs>(), sum);
    WB_UNROLL for (int i = 0; i < 2; i++) {
      const float four[4] = {sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]};
      store4(results + matrix_place<U>(r0 + run, 4 * part + 2 * i), four);
    }
  }

  /// Matched filters of N sides, the first of them `side`, for the 16 columns from c0 on.
  template <int N>
  WB_HD void filters(int c0, int side, int count) const {
    const int c = c0 + 4 * part, y_side = p.y_side;
    // Sides past `count` are summed from what lies there, and not kept.
    const float *at_h = h + run * p.h_run + 2 * c, *at_y = y + side * y_side + run * p.y_run;
    four_sums sums[N][4];
    const int antennas = antennas_of(run);
    // Two antennas at a time read y in fewer steps, but the loop of many sides is longer than a cache of
    // instructions holds beside the triangle's.
    if constexpr (U == 16 && N > 1) {
      WB_ROLL for (int b = 0; b < antennas; b++) {
        float2 z[4];
        load_pairs(at_h, z);
        WB_UNROLL for (int i = 0; i < N; i++) {
          const float2 v = *reinterpret_cast<const float2*>(at_y + i * y_side);
          WB_UNROLL for (int j = 0; j < 4; j++) sums[i][j].add(v, z[j]);
        }
        at_h += 2 * U, at_y += 2;
      }
    } else {
      WB_ROLL for (int b = 0; b < antennas; b += 2) {
        float2 z[2][4];
        load_pairs(at_h, z[0]);
        load_pairs(at_h + 2 * U, z[1]);
        WB_UNROLL for (int i = 0; i < N; i++) {
          float2 v[2];
          load_pairs(at_y + i * y_side, v);
          WB_UNROLL for (int e = 0; e < 2; e++) {
            WB_UNROLL for (int j = 0; j < 4; j++) sums[i][j].add(v[e], z[e][j]);
          }
        }
        at_h += 4 * U, at_y += 4;
      }
    }
    float sum[8 * N];
    WB_UNROLL for (int i = 0; i < 4 * N; i++) sums[i / 4][i % 4].join(sum + 2 * i);
    sum_over_runs(tile<antenna_runs>(), sum);
    WB_UNROLL for (int i = 0; i < N; i++) {
      const int at = N * run + i, k = side + at / 8;
      if (k < count) results[Shape::right + k * Shape::side_floats + 2 * c + at % 8] = sum[i];
    }
  }

  /// The filters of a group that are this warp's as number `from` of `warps`.
  WB_HD void filters_of(int from, int warps, int count) const {
    WB_ROLL for (int i = from; i < Shape::filters; i += warps) {
      const int side = Shape::sides_at_once * (i / Shape::blocks);
      if (side < count) filters<Shape::sides_at_once>(16 * (i % Shape::blocks), side, count);
    }
  }
  /// f(the sums).
  template <class F>
  WB_HD void on_tensor_cores(F f) const {
    if (half_in())
      f(tensor_sums<U, Shape, true>(h, y, results, p, lane));
    else
      f(tensor_sums<U, Shape, false>(h, y, results, p, lane));
  }
  /// By all warps.
  WB_HD void products(int symbol, int count) const {
    if constexpr (Tensor) {
      on_tensor_cores([&](const auto& sums) {
        if (symbol == 0) {
          if (warp < Shape::blocks)
            sums.template square<Shape::joined>(warp);
          else if constexpr (U == 32)
            sums.beside(warp - Shape::blocks);
        }
        const int side = 8 * (warp / Shape::blocks);
        if (Many && side < count) sums.template filters<1>(warp % Shape::blocks, side, count);
      });
      return;
    }
    if (symbol == 0) {
      WB_ROLL for (int i = warp; i < Shape::rectangles + Shape::triangles; i += Shape::warps) {
        if (i < Shape::rectangles)
          rectangle(16 + 8 * i);
        else
          triangle(i - Shape::rectangles);
      }
    }
    filters_of(warp, Shape::warps, count);
  }

  // ------------------------------------------------------------------------------------- the small matrix

  WB_HD float2 entry(int r, int c) const {
    return *reinterpret_cast<const float2*>(results + matrix_place<U>(r, c));
  }
  WB_HD int row() const { return lane % U; }
  WB_HD int half() const { return lane / U; }
  /// What a warp knows of a frame; of its lane's user.
  struct user {
    float n0, diagonal, own, inverse, gain, sinr;  // diagonal: of H^H H; own: of A
    bool good;
  };
  WB_HD bool decomposed() const { return a.mode == massive_mode::cholesky || a.mode == massive_mode::zf; }
  /// What `massive_engine::prepare` does; the matrix becomes W as `invert_factor` has it, or A but for its
  /// diagonal, which stays apart. By all warps that `matrix_rows` takes.
  WB_HD user prepare(std::size_t frame, float least_n0) const {
    user s;
    float* diagonal = results + Shape::diagonal;
    s.n0 = a.noise_var.data[frame * a.noise_var.item_stride];
    s.good = (s.n0 >= least_n0) & (s.n0 <= 1e12f);
    float trace = 0.f;
    WB_UNROLL for (int u = 0; u < U; u += 4) {
      float four[4];
      load4(diagonal + u, four);
      trace = (((trace + four[0]) + four[1]) + four[2]) + four[3];
    }
    s.good = s.good & (trace >= 1e-12f) & (trace <= 1e12f);
    s.n0 = select(s.good, s.n0, 1.f);
    const float added =
        a.mode == massive_mode::zf || a.mode == massive_mode::mf ? 0.f : s.n0 * (1.f / a.symbol_energy);
    s.diagonal = diagonal[row()];
    s.own = select(s.good, s.diagonal, 1.f) + select(s.good, added, 0.f);
    if (!decomposed()) return s;
    matrix_rows<U> rows(results, warp, lane);
    rows.load(s.good, s.own);
    s.good = s.good & rows.invert_factor(s.own);
    s.inverse = rows.inverse;
    if ((warp == 0 || U == 16) && half() == 0) results[Shape::inverse + row()] = s.inverse;
    return s;
  }

  /// What `uplink_op::weigh` does for the lane's user.
  WB_HD void weigh(user& s) const {
    const float least = 1e-37f, one = 1.f, most = 3e38f, power = max(s.diagonal, 1e-30f);
    const int u = row();
    s.gain = one;
    if (!a.exact_sinr) {
      s.sinr = min(s.diagonal / max(s.n0, least), most);
      if (a.mode == massive_mode::mf)
        s.gain = one / power;
      else if (a.mode != massive_mode::zf)
        s.gain = (power + s.n0) / power;
    } else if (a.mode == massive_mode::mf) {
      s.gain = one / power;
      float others = s.n0;
      WB_UNROLL for (int j = 0; j < U; j++) {
        const float2 z = j < u ? entry(u, j) : entry(j, u);
        const cx<float> hj = {z.x, z.y}, weighed = s.gain * hj;
        if (j != u) others = fma(weighed.im, hj.im, fma(weighed.re, hj.re, others));
      }
      s.sinr = min(power / max(others, least), most);
    } else {
      float sum = s.inverse;
      WB_UNROLL for (int k = 0; k < U; k += 4) {
        float inverse[4];
        load4(results + Shape::inverse + k, inverse);
        float2 z[4];
        load_pairs(results + matrix_place<U>(u, k), *reinterpret_cast<float2(*)[2]>(&z[0]));
        load_pairs(results + matrix_place<U>(u, k + 2), *reinterpret_cast<float2(*)[2]>(&z[2]));
        WB_UNROLL for (int e = 0; e < 4; e++) {
          const float more = fma(inverse[e] * z[e].y, z[e].y, fma(inverse[e] * z[e].x, z[e].x, sum));
          if (k + e < u) sum = more;
        }
      }
      const float error = s.n0 * sum;
      if (a.mode == massive_mode::zf) {
        s.sinr = one / max(error, least);
      } else {
        const float left = max(one - error, 1e-7f);
        s.gain = one / left;
        s.sinr = left / max(error, least);
      }
    }
  }

  /// Energy of the U values at b.
  WB_HD static float energy(const float* b) {
    float sum = 0.f;
    WB_UNROLL for (int i = 0; i < U; i += 2) {
      float four[4];
      load4(b + 2 * i, four);
      sum = norm_fma(cx<float>{four[2], four[3]}, norm_fma(cx<float>{four[0], four[1]}, sum));
    }
    return sum;
  }

  // One right side by one warp, a user a lane; of 16 users a lane has one part, real or imaginary. Vectors
  // that all lanes read are stored for each part so that the same two steps serve both.
  struct value {
    float part[2 / halves];
  };
  WB_HD void spread(float* to, value x, float sign_of_real, float sign_of_imaginary) const {
    if constexpr (halves == 1) {
      *reinterpret_cast<float2*>(to + 2 * row()) = {x.part[0], x.part[1]};
    } else {
      // For the real part: re and s im; for the imaginary part: im and s re.
      const float other = __shfl_xor_sync(0xffffffffu, x.part[0], 16);
      *reinterpret_cast<float2*>(to + 2 * U * half() + 2 * row()) = {
          x.part[0], half() == 0 ? sign_of_imaginary * other : sign_of_real * other};
    }
  }
  /// Two entries as `spread` stored them for this lane's part.
  WB_HD void spread_pair(const float* from, int i, float2 (&x)[2]) const {
    load_pairs(from + (halves == 1 ? 0 : 2 * U * half()) + 2 * i, x);
  }
  /// s - z b, s - conj(z) b and s + z b with b from where `spread` put it.
  template <int Kind>
  WB_HD static void step(float2 z, float2 b, value& s) {
    if constexpr (halves == 1) {
      const cx<float> zc = {z.x, z.y}, bc = {b.x, b.y}, sc = {s.part[0], s.part[1]},
                      r = Kind == 0   ? fnma(zc, bc, sc)
                          : Kind == 1 ? conj_fnma(zc, bc, sc)
                                      : fma(zc, bc, sc);
      s.part[0] = r.re, s.part[1] = r.im;
    } else if constexpr (Kind == 2) {
      s.part[0] = fma(z.y, b.y, fma(z.x, b.x, s.part[0]));
    } else {
      s.part[0] = fma(z.y, b.y, fnma(z.x, b.x, s.part[0]));
    }
  }
  WB_HD value own_of(const float* b) const {
    value x;
    if constexpr (halves == 1)
      x.part[0] = b[2 * row()], x.part[1] = b[2 * row() + 1];
    else
      x.part[0] = b[2 * row() + half()];
    return x;
  }

  /// A^-1 b by V^-1, one side by a warp.
  WB_HD value substitute(const user& w, value b, float* memory) const {
    float *right = memory, *between = memory + 2 * U * halves;
    const int u = row();
    spread(right, b, -1.f, 1.f);
    __syncwarp();
    value s = b;
    WB_UNROLL for (int i = 0; i < U; i += 2) {
      float2 x[2];
      spread_pair(right, i, x);
      WB_UNROLL for (int e = 0; e < 2; e++) {
        if (i + e > 0 && i + e > u) step<0>(entry(i + e, u), x[e], s);
      }
    }
    WB_UNROLL for (int i = 0; i < 2 / halves; i++) s.part[i] = w.inverse * s.part[i];
    spread(between, s, 1.f, -1.f);
    __syncwarp();
    WB_UNROLL for (int i = 0; i < U; i += 2) {
      float2 x[2];
      spread_pair(between, i, x);
      float four[4];
      load4(results + matrix_place<U>(u, i), four);
      WB_UNROLL for (int e = 0; e < 2; e++) {
        if (i + e < u) step<1>({four[2 * e], four[2 * e + 1]}, x[e], s);
      }
    }
    return s;
  }

  /// `conjugate_gradients` for one side by a warp. `columns`: column u of A. `memory` for 8 U floats with 16
  /// users, 6 U with 32.
  WB_HD value gradients(const float2 (&column)[U], value r, float* memory) const {
    float *of_t = memory, *of_s = memory + 2 * U * halves, *of_r = of_s + 2 * U;
    const auto put = [&](float* to, value v) {
      if constexpr (halves == 1)
        *reinterpret_cast<float2*>(to + 2 * row()) = {v.part[0], v.part[1]};
      else
        to[2 * row() + half()] = v.part[0];
    };
    value x, t = r;
    WB_UNROLL for (int i = 0; i < 2 / halves; i++) x.part[i] = 0.f;
    put(of_r, r);
    spread(of_t, t, 1.f, -1.f);
    __syncwarp();
    float now = energy(of_r), least = cg_eps_squared * now;
    WB_ROLL for (int iteration = 0; iteration < a.iterations; iteration++) {
      value s;
      WB_UNROLL for (int i = 0; i < 2 / halves; i++) s.part[i] = 0.f;
      WB_UNROLL for (int c = 0; c < U; c += 2) {
        float2 v[2];
        spread_pair(of_t, c, v);
        step<2>(column[c], v[0], s);
        step<2>(column[c + 1], v[1], s);
      }
      put(of_s, s);
      __syncwarp();
      float curvature = 0.f;
      WB_UNROLL for (int i = 0; i < U; i += 2) {
        float2 tv[2], sv[2];
        load_pairs(of_t + 2 * i, tv);
        load_pairs(of_s + 2 * i, sv);
        WB_UNROLL for (int e = 0; e < 2; e++) {
          // Stored for real parts, t has its imaginary part negated.
          const float im = halves == 1 ? tv[e].y : -tv[e].y;
          curvature = fma(im, sv[e].y, fma(tv[e].x, sv[e].x, curvature));
        }
      }
      const bool convex = curvature > 0.f;
      least = select(convex, least, 3e38f);
      const bool goes_on = convex & (now > least);
      const float alpha = select(goes_on, now, 0.f) / select(goes_on, curvature, 1.f);
      WB_UNROLL for (int i = 0; i < 2 / halves; i++) {
        x.part[i] = fma(alpha, t.part[i], x.part[i]);
        r.part[i] = fnma(alpha, s.part[i], r.part[i]);
      }
      if (iteration + 1 == a.iterations) break;
      put(of_r, r);
      __syncwarp();
      const float before = now;
      now = energy(of_r);
      const float beta = now / select(before > 0.f, before, 1.f);
      WB_UNROLL for (int i = 0; i < 2 / halves; i++) t.part[i] = fma(beta, t.part[i], r.part[i]);
      spread(of_t, t, 1.f, -1.f);
      __syncwarp();
    }
    return x;
  }
  /// Column u of A from the matrix in shared memory, whose diagonal stands apart.
  WB_HD void column_of(float2 (&column)[U]) const {
    const int u = row();
    WB_UNROLL for (int c = 0; c < U; c++) {
      float2 z = c < u ? entry(u, c) : entry(c, u);
      if (c < u) z.y = 0.f - z.y;
      if (c == u) z = {results[Shape::inverse + u], 0.f};
      column[c] = z;
    }
  }

  // ----------------------------------------------------------------------------------------------- outputs

  WB_HD std::size_t vector_number(std::size_t frame, int symbol) const {
    return frame * static_cast<std::size_t>(a.symbols) + static_cast<std::size_t>(symbol);
  }
  /// LLRs of one real dimension.
  template <int B>
  WB_HD void demap(float x, float sinr, bool good, float (&llr)[B]) const {
    constexpr float scale = qam_scale<B>();
    const float limit = a.clip < 3e38f ? a.clip : 3e38f;
    pam_demap<B, false>(saturate(x, 1e15f) * (1.f / scale), scale * scale, llr);
    WB_UNROLL for (int j = 0; j < B; j++) llr[j] = select(good, saturate(llr[j] * sinr, limit), 0.f);
  }
  /// Outputs of a user by one thread.
  template <int B>
  WB_HD void finish(std::size_t vector, int u, cx<float> z, float gain, float sinr, bool good) const {
    const std::size_t n = static_cast<std::size_t>(u);
    const item<float> at{vector, 1};
    z = gain * z;
    if (a.out.data) store_cx(a.out, n, at, cx<float>{select(good, z.re, 0.f), select(good, z.im, 0.f)});
    if (a.sinr.data) store(a.sinr, n, at, select(good, sinr, 0.f));
    if (!a.llr.data && !a.llr8.data) return;
    float re[B], im[B], both[2 * B];
    demap<B>(z.re, sinr, good, re);
    demap<B>(z.im, sinr, good, im);
    WB_UNROLL for (int j = 0; j < B; j++) both[2 * j] = re[j], both[2 * j + 1] = im[j];
    if (a.llr.data) store_row(a.llr, 2 * B * n, at, both);
    if (a.llr8.data) store_steps_row(a.llr8, 2 * B * n, at, both, a.steps);
  }
  /// The same where two lanes have a part each.
  template <int B>
  WB_HD void finish_parts(std::size_t vector, int u, float z, float gain, float sinr, bool good) const {
    const std::size_t n = static_cast<std::size_t>(u);
    const item<float> at{vector, 1};
    z = gain * z;
    if (a.out.data) store(parts(a.out, static_cast<std::size_t>(half())), n, at, select(good, z, 0.f));
    if (a.sinr.data && half() == 0) store(a.sinr, n, at, select(good, sinr, 0.f));
    if (!a.llr.data && !a.llr8.data) return;
    float mine[B];
    demap<B>(z, sinr, good, mine);
    if (a.llr8.data) {
      float both[2 * B];
      WB_UNROLL for (int j = 0; j < B; j++) {
        both[2 * j] = mine[j];
        both[2 * j + 1] = __shfl_xor_sync(0xffffffffu, mine[j], 16);
      }
      if (half() == 0) store_steps_row(a.llr8, 2 * B * n, at, both, a.steps);
    }
    if (!a.llr.data) return;
    float* llr = a.llr.data + vector * a.llr.item_stride + 2 * B * n;
    WB_UNROLL for (int j = 0; j < B; j++) mine[j] = mine[j] + 0.f;
    // Lanes of real parts write the LLRs of even bits of both parts, the others those of odd ones.
    WB_UNROLL for (int j = 0; j + 1 < B; j += 2) {
      const float other = __shfl_xor_sync(0xffffffffu, half() == 0 ? mine[j + 1] : mine[j], 16);
      *reinterpret_cast<float2*>(llr + 2 * j + 2 * half()) =
          half() == 0 ? float2{mine[j], other} : float2{other, mine[j + 1]};
    }
    if constexpr (B % 2 == 1) llr[2 * (B - 1) + half()] = mine[B - 1];
  }
  /// f(bits of a real dimension), known when compiled.
  template <class F>
  WB_HD void with_pam_bits(F f) const {
    switch (a.pam_bits) {
      case 1:
        return f.template operator()<1>();
      case 2:
        return f.template operator()<2>();
      case 3:
        return f.template operator()<3>();
      default:
        return f.template operator()<4>();
    }
  }
  WB_HD void finish_value(std::size_t vector, value z, float gain, float sinr, bool good) const {
    with_pam_bits([&]<int B>() {
      if constexpr (halves == 2)
        finish_parts<B>(vector, row(), z.part[0], gain, sinr, good);
      else
        finish<B>(vector, row(), {z.part[0], z.part[1]}, gain, sinr, good);
    });
  }

  /// A frame of one vector, by all warps.
  WB_HD void solve_one(std::size_t frame) const {
    const bool several = Shape::warps > 1;
    if (several && warp != 0 && !decomposed()) return;
    user s = prepare(frame, least_massive_n0);
    float *gain = results + Shape::gain, *flag = results + Shape::flags;
    const float* b = results + Shape::right;
    value z = own_of(b);
    bool fine = true;
    if (several && decomposed()) {
      // Two warps share what is left.
      meet();
      if (warp == 1) {
        weigh(s);
        gain[lane] = s.gain;
        results[Shape::sinr + lane] = s.sinr;
        if (lane == 0) *flag = energy(b) <= 1e24f ? 1.f : 0.f;
      } else if (warp == 0) {
        z = substitute(s, z, results + Shape::work);
      }
      meet();
      if (warp != 0) return;
      fine = *flag > 0.f;
      s.gain = gain[lane];
      s.sinr = results[Shape::sinr + lane];
    } else {
      if (decomposed()) __syncwarp();
      weigh(s);
      fine = energy(b) <= 1e24f;
      WB_UNROLL for (int i = 0; i < 2 / halves; i++) z.part[i] = select(fine, z.part[i], 0.f);
      if (a.mode == massive_mode::cg) {
        // Matrices that are no numbers give what is masked out.
        if (half() == 0) results[Shape::inverse + row()] = s.own;
        __syncwarp();
        float2 column[U];
        column_of(column);
        z = gradients(column, z, results + Shape::work);
      } else if (a.mode != massive_mode::mf) {
        z = substitute(s, z, results + Shape::work);
      }
    }
    const bool good = s.good & fine;
    finish_value(frame, z, s.gain, s.sinr, good);
    if (a.status.data && lane == 0)
      a.status.data[frame * a.status.item_stride] = good ? std::uint8_t{0} : status_erased;
  }

  /// What one warp knows of its users, for all.
  WB_HD void tell(const user& s) const {
    if (half() == 0) {
      results[Shape::gain + row()] = s.gain;
      results[Shape::sinr + row()] = s.sinr;
      if (!decomposed()) results[Shape::inverse + row()] = s.own;
    }
    if (lane == 0) results[Shape::flags] = s.good ? 1.f : 0.f;
  }
  /// Which vectors are numbers; others become zeros. By one warp.
  WB_HD void judge(int count) const {
    if (lane >= count) return;
    float* b = results + Shape::right + lane * Shape::side_floats;
    const bool fine = energy(b) <= 1e24f;
    results[Shape::flags + 2 + lane] = fine ? 1.f : 0.f;
    if (!fine)
      for (int i = 0; i < 2 * U; i++) b[i] = 0.f;
  }
  /// A^-1 b in place of b for every fourth vector from `first` on, a user a lane.
  WB_HD void substitute_four(int first, int count) const {
    constexpr int P = 4;
    const int u = row();
    const float q = results[Shape::inverse + u];
    float* b[P];
    cx<float> s[P];
    WB_UNROLL for (int i = 0; i < P; i++) {
      // Lanes without a vector read what nobody writes meanwhile.
      const int k = first + 4 * i < count ? first + 4 * i : first;
      b[i] = k < count ? results + Shape::right + k * Shape::side_floats : results;
      s[i] = {b[i][2 * u], b[i][2 * u + 1]};
    }
    constexpr int together = U == 16 ? 4 : 8;
    WB_ROLL for (int j0 = 0; j0 < U; j0 += together) {
      WB_UNROLL for (int j = 0; j < together; j += 2) {
        const float2 z[2] = {entry(j0 + j, u), entry(j0 + j + 1, u)};
        WB_UNROLL for (int i = 0; i < P; i++) {
          float2 x[2];
          load_pairs(b[i] + 2 * (j0 + j), x);
          WB_UNROLL for (int e = 0; e < 2; e++) {
            if (j0 + j + e > u) s[i] = fnma(cx<float>{z[e].x, z[e].y}, cx<float>{x[e].x, x[e].y}, s[i]);
          }
        }
      }
    }
    __syncwarp();
    WB_UNROLL for (int i = 0; i < P; i++) {
      s[i] = q * s[i];
      if (first + 4 * i < count) *reinterpret_cast<float2*>(b[i] + 2 * u) = {s[i].re, s[i].im};
    }
    __syncwarp();
    WB_ROLL for (int j0 = 0; j0 < U; j0 += together) {
      WB_UNROLL for (int j = 0; j < together; j += 2) {
        float2 z[2];
        load_pairs(results + matrix_place<U>(u, j0 + j), z);
        WB_UNROLL for (int i = 0; i < P; i++) {
          float2 x[2];
          load_pairs(b[i] + 2 * (j0 + j), x);
          WB_UNROLL for (int e = 0; e < 2; e++) {
            if (j0 + j + e < u) s[i] = conj_fnma(cx<float>{z[e].x, z[e].y}, cx<float>{x[e].x, x[e].y}, s[i]);
          }
        }
      }
    }
    __syncwarp();
    WB_UNROLL for (int i = 0; i < P; i++) {
      if (first + 4 * i < count) *reinterpret_cast<float2*>(b[i] + 2 * u) = {s[i].re, s[i].im};
    }
  }

  /// The vectors of a group, by all warps, once `tell` and `judge` are done.
  WB_HD void solve_many(std::size_t frame, int symbol, int count) const {
    const float *gain = results + Shape::gain, *sinr = results + Shape::sinr,
                *fine = results + Shape::flags + 2;
    const bool good = results[Shape::flags] > 0.f;
    if (a.mode == massive_mode::cg) {
      float2 column[U];
      column_of(column);
      WB_ROLL for (int k = warp; k < count; k += Shape::warps) {
        const value z = gradients(column, own_of(results + Shape::right + k * Shape::side_floats),
                                  results + Shape::work + warp * Shape::work_of_warp);
        finish_value(vector_number(frame, symbol + k), z, gain[row()], sinr[row()], good & (fine[k] > 0.f));
        __syncwarp();
      }
    } else {
      const int group = halves * warp + half();
      if (decomposed()) {
        substitute_four(group, count);
        __syncwarp();
      }
      with_pam_bits([&]<int B>() {
        WB_ROLL for (int k = group; k < count; k += 4) {
          const float* v = results + Shape::right + k * Shape::side_floats + 2 * row();
          finish<B>(vector_number(frame, symbol + k), row(), {v[0], v[1]}, gain[row()], sinr[row()],
                    good & (fine[k] > 0.f));
        }
      });
    }
    if (a.status.data && static_cast<int>(threadIdx.x) < count)
      a.status.data[vector_number(frame, symbol + static_cast<int>(threadIdx.x)) * a.status.item_stride] =
          good & (fine[threadIdx.x] > 0.f) ? std::uint8_t{0} : status_erased;
  }

  /// What comes after the group from `symbol` on, when no warp reads H and y any more.
  template <int Threads>
  WB_HD void stage_next(std::size_t frame, int symbol, std::size_t last, int rank) const {
    if (Many && symbol + Shape::sides < a.symbols)
      stage<Threads>(frame, symbol + Shape::sides, rank);
    else if (frame + gridDim.x < last)
      stage<Threads>(frame + gridDim.x, 0, rank);
  }
  /// Two warps: one says that it goes on, the other waits for that.
  WB_HD static void let_go() { asm volatile("bar.arrive 1, 64;" ::: "memory"); }
  WB_HD static void wait_for_other() { asm volatile("bar.sync 1, 64;" ::: "memory"); }

  WB_HD void work_on_one(std::size_t frame, std::size_t last) const {
    products(0, 1);
    meet();
    stage_next<Shape::threads>(frame, 0, last, static_cast<int>(threadIdx.x));
    solve_one(frame);
  }
  WB_HD void work_on_many(std::size_t frame, int symbol, int turn, std::size_t last) const {
    const int count = count_from(symbol);
    if (U == 16 && symbol == 0) {
      // One warp has the matrix, the other the filters, which takes longer; they change about.
      if (warp == turn) {
        if constexpr (Tensor)
          on_tensor_cores([&](const auto& sums) { sums.template square<false>(0); });
        else
          triangle(0);
        let_go();
        __syncwarp();
        user s = prepare(frame, least_massive_n0);
        __syncwarp();
        weigh(s);
        tell(s);
      } else {
        if constexpr (Tensor)
          on_tensor_cores([&](const auto& sums) { sums.template filters<2>(0, 0, count); });
        else
          filters_of(0, 1, count);
        wait_for_other();
        stage_next<32>(frame, symbol, last, lane);
        judge(count);
      }
    } else {
      products(symbol, count);
      meet();
      stage_next<Shape::threads>(frame, symbol, last, static_cast<int>(threadIdx.x));
      user s;
      if (symbol == 0 && (warp == 0 || decomposed())) s = prepare(frame, least_massive_n0);
      if (symbol == 0 && decomposed()) meet();
      if (warp == 0 && symbol == 0) {
        weigh(s);
        tell(s);
      } else if (warp == 1) {
        judge(count);
      }
    }
    meet();
    solve_many(frame, symbol, count);
  }

  WB_HD void work(std::size_t first, std::size_t last) const {
    std::size_t frame = first + blockIdx.x;
    if (Tensor && a.antennas < antenna_runs << p.run_log2) {
      WB_ROLL for (int i = static_cast<int>(threadIdx.x); i < p.results; i += Shape::threads) h[i] = 0.f;
      meet();
    }
    stage<Shape::threads>(frame, 0, static_cast<int>(threadIdx.x));
    WB_ROLL for (int turn = 0; frame < last; frame += gridDim.x, turn ^= 1) {
      WB_ROLL for (int symbol = 0; symbol < (Many ? a.symbols : 1); symbol += Shape::sides) {
        async_copies::wait();
        meet();
        if (half_in()) {
          unpack(symbol);
          meet();
        }
        if constexpr (Many)
          work_on_many(frame, symbol, turn, last);
        else
          work_on_one(frame, last);
      }
    }
  }
};

template <int U, bool Many, bool Tensor>
__global__ void __launch_bounds__(frame_shape<U, Many, Tensor>::threads,
                                  frame_shape<U, Many, Tensor>::resident)
    detect_frames(const __grid_constant__ massive_args a, const __grid_constant__ frame_plan p,
                  std::size_t first, std::size_t last) {
  extern __shared__ __align__(128) float shared[];
  frame_worker<U, Many, Tensor>(a, p, shared).work(first, last);
}

template <int U, bool Many, bool Tensor>
int launch_frames(const massive_args& a, const place& where) {
  using Shape = frame_shape<U, Many, Tensor>;
  const frame_plan p = frame_plan::of<Shape>(a);
  const std::size_t bytes = static_cast<std::size_t>(p.floats) * sizeof(float);
  const auto kernel = detect_frames<U, Many, Tensor>;
  cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(where.limits.shared_bytes));
  if (e == cudaSuccess)
    e = cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared);
  int blocks = 0;
  if (e == cudaSuccess)
    e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, Shape::threads, bytes);
  if (e != cudaSuccess) return e;
  const std::size_t most = static_cast<std::size_t>(where.limits.multiprocessors) *
                           static_cast<std::size_t>(blocks > 0 ? blocks : 1),
                    frames = where.last - where.first;
  std::size_t grid = frames < most ? frames : most;
  if constexpr (Shape::frames_of_block > 0) {
    const std::size_t several = (frames + Shape::frames_of_block - 1) / Shape::frames_of_block;
    if (several > grid) grid = several;
  }
  kernel<<<static_cast<unsigned>(grid), Shape::threads, bytes, static_cast<cudaStream_t>(where.stream)>>>(
      a, p, where.first, where.last);
  return cudaGetLastError();
}

/// In files of their own, uplink_*_kernels.cpp.
int launch_frames_of_16(const massive_args& a, const place& where);
int launch_frames_of_32(const massive_args& a, const place& where);
int launch_tensor_frames_of_16(const massive_args& a, const place& where);
int launch_tensor_frames_of_32(const massive_args& a, const place& where);

}  // namespace WB_ISA
}  // namespace wb
