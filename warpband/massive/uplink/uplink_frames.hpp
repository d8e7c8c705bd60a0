#pragma once
// The detector on a CUDA device for 16 and 32 users: the arithmetic of uplink_op.hpp with other movements of
// data, and the same bits.
//
// A block takes one frame after the other. A frame's H and its first vectors come by bulk copies while the
// frame before it is solved. Sums over antennas are made by warps that do not meet: eight lanes have a run of
// antennas each, and four such groups a part of the matrix each that fits into registers, so that H is read
// from shared memory little more than once. Then one warp decomposes the matrix, a lane a row in registers;
// for 16 users two lanes have a row's halves.
#include <warpband/massive/uplink/uplink_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Vectors that are worked on at once where frames have several, and those whose filters a warp sums.
inline constexpr int frame_sides = 14, sides_of_warp = 7;

/// `Many`: frames of several vectors.
template <int U, bool Many>
struct frame_shape {
  static_assert(U == 16 || U == 32);
  static constexpr int blocks = U / 16, halves = 32 / U;
  // What warps take in turn: of the Gram matrix its rectangles of 8 x 16 and triangles of 16 x 16; filters.
  static constexpr int rectangles = blocks == 2 ? 2 : 0, triangles = blocks,
                       filters = blocks * (Many ? frame_sides / sides_of_warp : 1);
  static constexpr int warps = Many && U == 16 ? 3 : rectangles + triangles, threads = 32 * warps;
  static constexpr int sides = Many ? frame_sides : 1;
  /// One warp alone takes as long to decompose 32 x 32 as all of the generic kernel's frame.
  static constexpr bool decomposes = Many || U == 16;
  /// Blocks a multiprocessor has registers for: 168 of a thread with 16 users, 255 with 32.
  static constexpr int resident = U == 16 ? (Many ? 4 : 10) : 2;
  // Floats of the results, the matrix first.
  static constexpr int side_floats = 2 * U + (Many ? 4 : 0);
  static constexpr int diagonal = 2 * U * U, right = diagonal + U, between = right + sides * side_floats,
                       inverse = between + (Many ? sides * side_floats : 4 * halves * halves * 16),
                       gain = inverse + U, sinr = gain + (Many ? U : 0), flags = sinr + (Many ? U : 0),
                       floats = (flags + (Many ? 2 + sides : 0) + 3) / 4 * 4;
};

/// Floats between runs of H and of a vector, and of all that is staged; H and vectors that come as halves are
/// staged as they are at `raw`, H first.
struct frame_plan {
  int run_log2, h_run, y_run, y, results, raw, floats;
  template <class Shape>
  static frame_plan of(const massive_args& a) {
    frame_plan p{};
    while (antenna_runs << p.run_log2 < a.antennas) p.run_log2++;
    // 16 bytes more between runs: what eight lanes read lies in all banks.
    p.h_run = (2 * a.users << p.run_log2) + 4;
    p.y_run = (2 << p.run_log2) + 4;
    p.y = antenna_runs * p.h_run;
    p.results = p.y + Shape::sides * antenna_runs * p.y_run;
    p.raw = p.results + Shape::floats;
    p.floats = p.raw + 4;
    if (a.half_channel.data != nullptr) p.floats += a.antennas * (a.users + Shape::sides);
    return p;
  }
};

/// Place of row r and column c among the floats of the matrix: pairs of columns are permuted by the row, so
/// that neither lanes of different rows nor those of different columns meet in a bank.
template <int U>
__host__ __device__ constexpr int matrix_place(int r, int c) {
  return 2 * (r * U + (c ^ ((r & 7) << 1)));
}

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

/// Bulk copies into shared memory, counted in bytes by a barrier there; on older devices all threads copy.
struct bulk_copies {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  static constexpr bool ahead = true;
#else
  static constexpr bool ahead = false;
#endif
  std::uint64_t* barrier;
  WB_HD std::uint32_t address(const void* p) const {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
  }
  WB_HD void begin() const {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(barrier)) : "memory");
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }
  WB_HD void expect([[maybe_unused]] int bytes) const {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(barrier)), "r"(bytes)
                 : "memory");
#endif
  }
  WB_HD void copy([[maybe_unused]] float* to, [[maybe_unused]] const void* from,
                  [[maybe_unused]] int bytes) const {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            address(to)),
        "l"(from), "r"(bytes), "r"(address(barrier))
        : "memory");
#endif
  }
  WB_HD void wait([[maybe_unused]] std::uint32_t phase) const {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n .reg .pred done;\n again:\n mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        " @!done bra again;\n}" ::"r"(address(barrier)),
        "r"(phase)
        : "memory");
#endif
  }
};

template <int U, bool Many>
struct frame_worker {
  using Shape = frame_shape<U, Many>;
  static constexpr int halves = Shape::halves, chunks = U / 2 / halves;
  const massive_args& a;
  const frame_plan& p;
  float *h, *y, *results, *raw;
  bulk_copies copies;
  int warp, lane, run, part;  // within sums: eight runs, four groups of lanes

  WB_HD frame_worker(const massive_args& args, const frame_plan& plan, float* shared)
      : a(args),
        p(plan),
        h(shared),
        y(shared + plan.y),
        results(shared + plan.results),
        raw(shared + plan.raw),
        copies{reinterpret_cast<std::uint64_t*>(shared + plan.floats - 4)} {
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

  WB_HD bool half_in() const { return a.half_channel.data != nullptr; }
  WB_HD const half_complex* half_vector_of(std::size_t frame, int symbol) const {
    return a.half_in.data + vector_number(frame, symbol) * a.half_in.item_stride;
  }
  WB_HD float* raw_vector(int side) const { return raw + a.antennas * (U + side); }
  WB_HD static void put_two(float* to, std::uint32_t first, std::uint32_t second) {
    const float2 x = to_floats(first), z = to_floats(second);
    *reinterpret_cast<float4*>(to) = {x.x, x.y, z.x, z.y};
  }
  /// Halves to floats where the sums read them; by all threads. `channel` and `vector(side)`: where they lie.
  template <class Vector>
  WB_HD void unpack(const void* channel, Vector vector, int symbol, int count) const {
    const int me = static_cast<int>(threadIdx.x);
    if (symbol == 0) {
      const auto* from = static_cast<const uint4*>(channel);
      for (int i = me; i < a.antennas * (U / 4); i += Shape::threads) {
        const uint4 x = from[i];
        float* to = h + 8 * i + 4 * (i / (U / 4) >> p.run_log2);
        put_two(to, x.x, x.y);
        put_two(to + 4, x.z, x.w);
      }
    }
    const int fours = a.antennas / 4;
    for (int side = me / 32; side < count; side += Shape::warps) {
      const auto* from = static_cast<const uint4*>(vector(side));
      float* to = y + side * antenna_runs * p.y_run;
      for (int i = lane; i < fours; i += 32) {
        const uint4 x = from[i];
        put_two(to + 8 * i + 4 * (4 * i >> p.run_log2), x.x, x.y);
        put_two(to + 8 * i + 4 + 4 * ((4 * i + 2) >> p.run_log2), x.z, x.w);  // a run may have two antennas
      }
    }
  }
  WB_HD void unpack_staged(int symbol, int count) const {
    unpack(raw, [&](int side) -> const void* { return raw_vector(side); }, symbol, count);
  }

  /// Starts to stage vectors from `symbol` on, and H with the first. By the first warp.
  WB_HD void stage(std::size_t frame, int symbol) const {
    if (warp != 0) return;
    const int count = count_from(symbol);
    if (half_in()) {
      if (lane == 0) copies.expect(4 * a.antennas * ((symbol == 0 ? U : 0) + count));
      __syncwarp();
      if (symbol == 0 && lane == 31)
        copies.copy(raw, a.half_channel.data + frame * a.half_channel.item_stride, 4 * U * a.antennas);
      if (lane < count) copies.copy(raw_vector(lane), half_vector_of(frame, symbol + lane), 4 * a.antennas);
      return;
    }
    if (lane == 0) copies.expect(8 * a.antennas * ((symbol == 0 ? U : 0) + count));
    __syncwarp();
    if (symbol == 0 && lane < antenna_runs && antennas_of(lane) > 0)
      copies.copy(h + lane * p.h_run, channel_of(frame) + (lane << p.run_log2) * U,
                  8 * U * antennas_of(lane));
    for (int i = (lane + 32 - antenna_runs) % 32; i < antenna_runs * count; i += 32) {
      const int side = i / antenna_runs, r = i % antenna_runs;
      if (antennas_of(r) > 0)
        copies.copy(y + i * p.y_run, vector_of(frame, symbol + side) + (r << p.run_log2), 8 * antennas_of(r));
    }
  }
  /// The same where a device has no bulk copies: by all threads, at once.
  WB_HD void stage_now(std::size_t frame, int symbol) const {
    const int count = count_from(symbol);
    if (half_in()) {
      unpack(
          a.half_channel.data + frame * a.half_channel.item_stride,
          [&](int side) -> const void* { return half_vector_of(frame, symbol + side); }, symbol, count);
      return meet();
    }
    if (symbol == 0) {
      const auto* from = reinterpret_cast<const float4*>(channel_of(frame));
      for (int i = static_cast<int>(threadIdx.x); i < a.antennas * (U / 2); i += Shape::threads)
        *reinterpret_cast<float4*>(h + 4 * i + 4 * (i / (U / 2) >> p.run_log2)) = from[i];
    }
    for (int side = 0; side < count; side++) {
      const auto* from = reinterpret_cast<const float4*>(vector_of(frame, symbol + side));
      for (int i = static_cast<int>(threadIdx.x); i < a.antennas / 2; i += Shape::threads)
        *reinterpret_cast<float4*>(y + side * antenna_runs * p.y_run + 4 * i + 4 * (2 * i >> p.run_log2)) =
            from[i];
    }
    meet();
  }

  // -------------------------------------------------------------------------------- sums over antennas

  WB_HD void triangle(int block) const {
    const float* row = h + run * p.h_run + 32 * block;
    const auto first = [&](std::uint32_t packed) { return 2 * static_cast<int>(packed >> (8 * part) & 255); };
    const float *at_p = row + first(packed_p), *at_q = row + first(packed_q), *at_r = row + first(packed_r),
                *at_s = row + first(packed_s);
    four_sums pq[4][4], pr[2][2], qs[2][2], pp[6];
    float squares[4][2] = {};
    const int antennas = antennas_of(run);
    WB_ROLL for (int b = 0; b < antennas; b++) {
      float2 x[4], z[4], r[2], s[2];
      load_pairs(at_p, x);
      load_pairs(at_q, z);
      load_pairs(at_r, r);
      load_pairs(at_s, s);
      at_p += 2 * U, at_q += 2 * U, at_r += 2 * U, at_s += 2 * U;
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
  }

  /// Eight rows from r0 on and the first 16 columns.
  WB_HD void rectangle(int r0) const {
    const float *row = h + run * p.h_run, *at_x = row + 2 * r0, *at_z = row + 8 * part;
    four_sums sums[8][4];
    const int antennas = antennas_of(run);
    WB_ROLL for (int b = 0; b < antennas; b++) {
      float2 x[8], z[4];
      load_pairs(at_x, x);
      load_pairs(at_z, z);
      at_x += 2 * U, at_z += 2 * U;
      WB_UNROLL for (int i = 0; i < 8; i++) {
        WB_UNROLL for (int j = 0; j < 4; j++) sums[i][j].add(x[i], z[j]);
      }
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
    const int c = c0 + 4 * part, y_side = antenna_runs * p.y_run;
    const float *at_h = h + run * p.h_run + 2 * c, *at_y[N];
    WB_UNROLL for (int i = 0; i < N; i++) {
      const int k = side + i < count ? side + i : count - 1;
      at_y[i] = y + k * y_side + run * p.y_run;
    }
    four_sums sums[N][4];
    const int antennas = antennas_of(run);
    WB_ROLL for (int b = 0; b < antennas; b++) {
      float2 z[4];
      load_pairs(at_h, z);
      at_h += 2 * U;
      WB_UNROLL for (int i = 0; i < N; i++) {
        const float2 v = *reinterpret_cast<const float2*>(at_y[i] + 2 * b);
        WB_UNROLL for (int j = 0; j < 4; j++) sums[i][j].add(v, z[j]);
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

  WB_HD void products(int symbol, int count) const {
    constexpr int squares = Shape::rectangles, filter = squares + Shape::triangles,
                  all = filter + Shape::filters;
    WB_ROLL for (int i = warp; i < all; i += Shape::warps) {
      if (i < filter) {
        if (symbol != 0) continue;
        if (i < squares)
          rectangle(16 + 8 * i);
        else
          triangle(i - squares);
      } else {
        const int c0 = 16 * ((i - filter) % Shape::blocks);
        if constexpr (Many) {
          const int side = sides_of_warp * ((i - filter) / Shape::blocks);
          if (side < count) filters<sides_of_warp>(c0, side, count);
        } else {
          filters<1>(c0, 0, 1);
        }
      }
    }
  }

  // ------------------------------------------------------------------------------------- the small matrix

  WB_HD float2 entry(int r, int c) const {
    return *reinterpret_cast<const float2*>(results + matrix_place<U>(r, c));
  }
  WB_HD int row() const { return lane % U; }
  WB_HD int half() const { return lane / U; }
  WB_HD float* chunk_of(int j) const {  // two entries of this lane's row
    return results + matrix_place<U>(row(), 2 * (halves * j + half()));
  }
  WB_HD static float of_four(const float4* x, int i) {
    const float4 v = x[i / 4];
    return i % 4 == 0 ? v.x : i % 4 == 1 ? v.y : i % 4 == 2 ? v.z : v.w;
  }

  /// What a warp knows of a frame; of its lane's user and row.
  struct user {
    float n0, diagonal, inverse, gain, sinr;
    bool good;
    float x[chunks][4];  // of V^-1, or of A
  };

  /// Step K of `invert_factor` and those after it.
  template <int K>
  WB_HD void eliminate(user& s, bool& regular) const {
    constexpr int chunk = K / 2 / halves, owner = K / 2 % halves,
                  chunks_left = (K + 2 * halves - 1) / (2 * halves);
    const int r = row();
    const auto pair_at = [&](int j) {  // of this half's chunk j
      return results + 2 * U * K + ((4 * (halves * j + half())) ^ ((K & 7) << 2));
    };
    if (r == K) {
      WB_UNROLL for (int j = 0; j < chunk; j++) store4(pair_at(j), s.x[j]);
      if (half() < owner || (half() == owner && K % 2 == 1))
        store4(pair_at(chunk), s.x[chunk]);
      else if (half() == owner)
        *reinterpret_cast<float2*>(pair_at(chunk)) = {s.x[chunk][0], s.x[chunk][1]};
    } else if (K > 0 && r > K && half() == owner) {
      *reinterpret_cast<float2*>(results + matrix_place<U>(K, r)) = {s.x[chunk][K % 2 * 2],
                                                                     s.x[chunk][K % 2 * 2 + 1]};
    }
    __syncwarp();
    const float pivot = results[matrix_place<U>(K, K)];
    const bool enough = pivot > results[Shape::diagonal + K];
    regular = regular & enough;
    const float q = 1.f / select(enough, pivot, 1.f);
    if (r == K) s.inverse = q;
    if constexpr (K > 0) {
      const float2 z = entry(K, r);
      cx<float> factor = {z.x, r < K ? 0.f - z.y : z.y};
      factor = q * factor;
      if (r != K) {
        WB_UNROLL for (int j = 0; j < chunks_left; j++) {
          float four[4];
          load4(pair_at(j), four);
          WB_UNROLL for (int e = 0; e < 2; e++) {
            const bool all = 2 * (halves * j + halves - 1) + e < K;
            if (all || 2 * (halves * j + half()) + e < K) {
              const cx<float> left = fnma(factor, cx<float>{four[2 * e], four[2 * e + 1]},
                                          cx<float>{s.x[j][2 * e], s.x[j][2 * e + 1]});
              s.x[j][2 * e] = left.re;
              s.x[j][2 * e + 1] = left.im;
            }
          }
        }
      }
      eliminate<K - 1>(s, regular);
    }
  }

  /// What `massive_engine::prepare` does, by one warp: the lane's row of A, or of W as `invert_factor` has
  /// it.
  WB_HD user prepare(std::size_t frame) const {
    user s;
    const bool decomposed = a.mode == massive_mode::cholesky || a.mode == massive_mode::zf;
    const int r = row();
    float* diagonal = results + Shape::diagonal;
    s.n0 = a.noise_var.data[frame * a.noise_var.item_stride];
    s.good = (s.n0 >= 0.f) & (s.n0 <= 1e12f);
    float trace = 0.f;
    WB_UNROLL for (int u = 0; u < U; u++) trace =
        trace + of_four(reinterpret_cast<const float4*>(diagonal), u);
    s.good = s.good & (trace >= 1e-12f) & (trace <= 1e12f);
    s.n0 = select(s.good, s.n0, 1.f);
    const float added =
        a.mode == massive_mode::zf || a.mode == massive_mode::mf ? 0.f : s.n0 * (1.f / a.symbol_energy);
    s.diagonal = diagonal[r];
    const float own = select(s.good, s.diagonal, 1.f) + select(s.good, added, 0.f);
    if (a.mode == massive_mode::mf) return s;
    WB_UNROLL for (int j = 0; j < chunks; j++) {
      const int c = 2 * (halves * j + half());
      float four[4];
      load4(chunk_of(j), four);
      WB_UNROLL for (int i = 0; i < 4; i++) {
        const int column = c + i / 2;
        const float z = s.good ? four[i] : 0.f;
        s.x[j][i] = column == r ? (i % 2 == 0 ? own : 0.f) : z;
      }
    }
    __syncwarp();
    if (!decomposed) {
      if (half() == 0) diagonal[r] = own;
      return s;
    }
    if (half() == 0) diagonal[r] = least_ldl_pivot * own;
    // Row k of the matrix in shared memory holds what all need in step k: row k up to its diagonal, then
    // column k of the rows below.
    bool regular = true;
    if constexpr (Shape::decomposes) eliminate<U - 1>(s, regular);
    s.good = s.good & regular;
    __syncwarp();
    WB_UNROLL for (int j = 0; j < chunks; j++) {
      WB_UNROLL for (int i = 0; i < 4; i++) s.x[j][i] = s.inverse * s.x[j][i];
      store4(chunk_of(j), s.x[j]);
    }
    if (half() == 0) results[Shape::inverse + r] = s.inverse;
    __syncwarp();
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
      const auto* inverse = reinterpret_cast<const float4*>(results + Shape::inverse);
      WB_UNROLL for (int k = 0; k < U - 1; k++) {
        float re, im;
        if constexpr (halves == 1) {
          re = s.x[k / 2][k % 2 * 2], im = s.x[k / 2][k % 2 * 2 + 1];
        } else {
          const float2 z = entry(u, k);
          re = z.x, im = z.y;
        }
        const float part_of = of_four(inverse, k), more = fma(part_of * im, im, fma(part_of * re, re, sum));
        if (k < u) sum = more;
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
      if constexpr (halves == 1) {
        WB_UNROLL for (int e = 0; e < 4; e++) four[e] = w.x[i / 2][e];
      } else {
        load4(results + matrix_place<U>(u, i), four);
      }
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
      if (c == u) z = {results[Shape::diagonal + u], 0.f};
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
  /// All LLRs of user n of a vector.
  template <int N>
  WB_HD void store_llrs(std::size_t n, item<float> at, const float (&llr)[N]) const {
    if (a.llr.data) store_row(a.llr, N * n, at, llr);
    if (a.llr8.data) store_steps_row(a.llr8, N * n, at, llr, a.steps);
  }
  template <int B>
  WB_HD void finish_as(std::size_t vector, int u, value z, float gain, float sinr, bool good) const {
    const std::size_t n = static_cast<std::size_t>(u);
    const item<float> at{vector, 1};
    WB_UNROLL for (int i = 0; i < 2 / halves; i++) z.part[i] = gain * z.part[i];
    const bool wanted = a.llr.data != nullptr || a.llr8.data != nullptr;
    if constexpr (halves == 1) {
      if (a.out.data)
        store_cx(a.out, n, at, cx<float>{select(good, z.part[0], 0.f), select(good, z.part[1], 0.f)});
      if (a.sinr.data) store(a.sinr, n, at, select(good, sinr, 0.f));
      if (!wanted) return;
      float re[B], im[B], both[2 * B];
      demap<B>(z.part[0], sinr, good, re);
      demap<B>(z.part[1], sinr, good, im);
      WB_UNROLL for (int j = 0; j < B; j++) both[2 * j] = re[j], both[2 * j + 1] = im[j];
      store_llrs(n, at, both);
    } else {
      if (a.out.data)
        store(parts(a.out, static_cast<std::size_t>(half())), n, at, select(good, z.part[0], 0.f));
      if (a.sinr.data && half() == 0) store(a.sinr, n, at, select(good, sinr, 0.f));
      if (!wanted) return;
      float mine[B];
      demap<B>(z.part[0], sinr, good, mine);
      if (a.llr8.data != nullptr) {
        float both[2 * B];
        WB_UNROLL for (int j = 0; j < B; j++) {
          const float other = __shfl_xor_sync(0xffffffffu, mine[j], 16);
          both[2 * j] = mine[j], both[2 * j + 1] = other;
        }
        if (half() == 0) store_steps_row(a.llr8, 2 * B * n, at, both, a.steps);
      }
      if (a.llr.data == nullptr) return;
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
  }
  WB_HD void finish(std::size_t vector, int u, value z, float gain, float sinr, bool good) const {
    switch (a.pam_bits) {
      case 1:
        return finish_as<1>(vector, u, z, gain, sinr, good);
      case 2:
        return finish_as<2>(vector, u, z, gain, sinr, good);
      case 3:
        return finish_as<3>(vector, u, z, gain, sinr, good);
      default:
        return finish_as<4>(vector, u, z, gain, sinr, good);
    }
  }

  /// A frame of one vector, by the first warp.
  WB_HD void solve_one(std::size_t frame) const {
    user s = prepare(frame);
    weigh(s);
    const float* b = results + Shape::right;
    const bool fine = energy(b) <= 1e24f;
    value z = own_of(b);
    WB_UNROLL for (int i = 0; i < 2 / halves; i++) z.part[i] = select(fine, z.part[i], 0.f);
    if (a.mode == massive_mode::cg) {
      // `prepare` has put A's diagonal apart; matrices that are no numbers give what is masked out.
      float2 column[U];
      __syncwarp();
      column_of(column);
      __syncwarp();
      z = gradients(column, z, results);
    } else if (a.mode != massive_mode::mf) {
      z = substitute(s, z, results + Shape::between);
    }
    const bool good = s.good & fine;
    finish(frame, row(), z, s.gain, s.sinr, good);
    if (a.status.data && lane == 0)
      a.status.data[frame * a.status.item_stride] = good ? std::uint8_t{0} : status_erased;
    __syncwarp();
  }

  /// The vectors of a group, by all warps.
  WB_HD void solve_many(std::size_t frame, int symbol, int count) const {
    float *gain = results + Shape::gain, *sinr = results + Shape::sinr, *good_frame = results + Shape::flags,
          *fine = good_frame + 2;
    if (warp == 0) {
      if (symbol == 0) {
        user s = prepare(frame);
        weigh(s);
        if (half() == 0) {
          gain[row()] = s.gain;
          sinr[row()] = s.sinr;
        }
        if (lane == 0) *good_frame = s.good ? 1.f : 0.f;
      }
    } else if (warp == 1 && lane < count) {
      float* b = results + Shape::right + lane * Shape::side_floats;
      const bool is_fine = energy(b) <= 1e24f;
      fine[lane] = is_fine ? 1.f : 0.f;
      if (!is_fine)
        for (int i = 0; i < 2 * U; i++) b[i] = 0.f;
    }
    meet();
    const bool good = *good_frame > 0.f;
    if (a.mode == massive_mode::cg) {
      float2 column[U];
      column_of(column);
      constexpr int each = halves == 1 ? 6 * U : 8 * U;
      static_assert(Shape::warps * each <= Shape::sides * Shape::side_floats);
      WB_ROLL for (int k = warp; k < count; k += Shape::warps) {
        const value z = gradients(column, own_of(results + Shape::right + k * Shape::side_floats),
                                  results + Shape::between + warp * each);
        finish(vector_number(frame, symbol + k), row(), z, gain[row()], sinr[row()], good & (fine[k] > 0.f));
        __syncwarp();
      }
    } else {
      const bool decomposed = a.mode != massive_mode::mf;
      if (decomposed) {
        WB_ROLL for (int i = static_cast<int>(threadIdx.x); i < count * U; i += Shape::threads) {
          const int k = i / U, u = i % U;
          const float* b = results + Shape::right + k * Shape::side_floats;
          cx<float> s = {b[2 * u], b[2 * u + 1]};
          WB_UNROLL for (int j = 0; j < U; j += 2) {
            float2 x[2];
            load_pairs(b + 2 * j, x);
            WB_UNROLL for (int e = 0; e < 2; e++) {
              if (j + e == 0) continue;
              const float2 z = entry(j + e, u);
              if (j + e > u) s = fnma(cx<float>{z.x, z.y}, cx<float>{x[e].x, x[e].y}, s);
            }
          }
          const float q = results[Shape::inverse + u];
          *reinterpret_cast<float2*>(results + Shape::between + k * Shape::side_floats + 2 * u) = {q * s.re,
                                                                                                   q * s.im};
        }
        meet();
      }
      WB_ROLL for (int i = static_cast<int>(threadIdx.x); i < count * U; i += Shape::threads) {
        const int k = i / U, u = i % U;
        const float* v = results + (decomposed ? Shape::between : Shape::right) + k * Shape::side_floats;
        cx<float> s = {v[2 * u], v[2 * u + 1]};
        if (decomposed) {
          WB_UNROLL for (int j = 0; j < U; j += 2) {
            float2 x[2];
            load_pairs(v + 2 * j, x);
            float four[4];
            load4(results + matrix_place<U>(u, j), four);
            WB_UNROLL for (int e = 0; e < 2; e++) {
              if (j + e < u)
                s = conj_fnma(cx<float>{four[2 * e], four[2 * e + 1]}, cx<float>{x[e].x, x[e].y}, s);
            }
          }
        }
        finish_whole(vector_number(frame, symbol + k), u, s, gain[u], sinr[u], good & (fine[k] > 0.f));
      }
    }
    if (a.status.data && static_cast<int>(threadIdx.x) < count)
      a.status.data[vector_number(frame, symbol + static_cast<int>(threadIdx.x)) * a.status.item_stride] =
          good & (fine[threadIdx.x] > 0.f) ? std::uint8_t{0} : status_erased;
  }
  /// Both parts by one thread.
  template <int B>
  WB_HD void finish_whole_as(std::size_t vector, int u, cx<float> z, float gain, float sinr,
                             bool good) const {
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
    store_llrs(n, at, both);
  }
  WB_HD void finish_whole(std::size_t vector, int u, cx<float> z, float gain, float sinr, bool good) const {
    switch (a.pam_bits) {
      case 1:
        return finish_whole_as<1>(vector, u, z, gain, sinr, good);
      case 2:
        return finish_whole_as<2>(vector, u, z, gain, sinr, good);
      case 3:
        return finish_whole_as<3>(vector, u, z, gain, sinr, good);
      default:
        return finish_whole_as<4>(vector, u, z, gain, sinr, good);
    }
  }

  WB_HD void work(std::size_t first, std::size_t last) const {
    std::size_t frame = first + blockIdx.x;
    std::uint32_t phase = 0;
    if constexpr (bulk_copies::ahead) {
      if (threadIdx.x == 0) copies.begin();
      meet();
      stage(frame, 0);
    }
    WB_ROLL for (; frame < last; frame += gridDim.x) {
      WB_ROLL for (int symbol = 0; symbol < (Many ? a.symbols : 1); symbol += Shape::sides) {
        const int count = count_from(symbol);
        const auto stage_next = [&] {
          if (Many && symbol + Shape::sides < a.symbols)
            stage(frame, symbol + Shape::sides);
          else if (frame + gridDim.x < last)
            stage(frame + gridDim.x, 0);
        };
        if constexpr (bulk_copies::ahead) {
          copies.wait(phase);
          phase ^= 1;
          if (half_in()) {
            unpack_staged(symbol, count);
            meet();
            stage_next();
          }
        } else {
          stage_now(frame, symbol);
        }
        products(symbol, count);
        meet();
        if constexpr (bulk_copies::ahead)
          if (!half_in()) stage_next();
        if constexpr (Many)
          solve_many(frame, symbol, count);
        else if (warp == 0)
          solve_one(frame);
        meet();
      }
    }
  }
};

template <int U, bool Many>
__global__ void __launch_bounds__(frame_shape<U, Many>::threads, frame_shape<U, Many>::resident)
    detect_frames(const __grid_constant__ massive_args a, const __grid_constant__ frame_plan p,
                  std::size_t first, std::size_t last) {
  extern __shared__ __align__(128) float shared[];
  frame_worker<U, Many>(a, p, shared).work(first, last);
}

template <int U, bool Many>
int launch_frames(const massive_args& a, const place& where) {
  using Shape = frame_shape<U, Many>;
  const frame_plan p = frame_plan::of<Shape>(a);
  const std::size_t bytes = static_cast<std::size_t>(p.floats) * sizeof(float);
  const auto kernel = detect_frames<U, Many>;
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
  kernel<<<static_cast<unsigned>(frames < most ? frames : most), Shape::threads, bytes,
           static_cast<cudaStream_t>(where.stream)>>>(a, p, where.first, where.last);
  return cudaGetLastError();
}

/// In files of their own, uplink_16_kernels.cpp and uplink_32_kernels.cpp.
int launch_frames_of_16(const massive_args& a, const place& where);
int launch_frames_of_32(const massive_args& a, const place& where);

/// Whether the kernels here can take a call: what they copy in bulk must lie on multiples of 16 bytes.
inline bool fits_frames(const massive_args& a, const device_limits& limits) {
  const auto aligned = [](const void* p, std::size_t to) {
    return reinterpret_cast<std::uintptr_t>(p) % to == 0;
  };
  if ((a.users != 16 && a.users != 32) || a.antennas % 2 != 0 || a.antennas < 16) return false;
  // Only what was measured to gain: groups of vectors that are half full, and of 32 users what one warp does
  // not hold up.
  const bool many = a.symbols > 1;
  if (a.mode == massive_mode::jacobi_cg) return false;
  if (many && a.symbols % frame_sides != 0 && a.symbols % frame_sides < 6) return false;
  const bool cg = a.mode == massive_mode::cg;
  if (a.users == 32 && ((!many && !cg) || (cg && a.antennas < 256))) return false;
  const auto fits = [&](const auto& x, std::size_t multiple) {
    return x.element_stride == 1 && x.item_stride % multiple == 0 && aligned(x.data, 16);
  };
  if (a.half_channel.data != nullptr) {
    if (a.antennas % 4 != 0 || !fits(a.half_channel, 4) || !fits(a.half_in, 4)) return false;
  } else if (!fits(a.channel, 2) || !fits(a.in, 2)) {
    return false;
  }
  if (a.llr.data != nullptr &&
      (a.llr.element_stride != 1 || a.llr.item_stride % 2 != 0 || !aligned(a.llr.data, 8)))
    return false;
  const int floats = a.users == 16 ? (a.symbols > 1 ? frame_plan::of<frame_shape<16, true>>(a).floats
                                                    : frame_plan::of<frame_shape<16, false>>(a).floats)
                                   : (a.symbols > 1 ? frame_plan::of<frame_shape<32, true>>(a).floats
                                                    : frame_plan::of<frame_shape<32, false>>(a).floats);
  return static_cast<std::size_t>(floats) * sizeof(float) <= limits.shared_bytes;
}

}  // namespace WB_ISA
}  // namespace wb
