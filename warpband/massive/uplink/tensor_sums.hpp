#pragma once
// A frame's sums over antennas on the tensor cores of a CUDA device, in split TF32
// (massive_sums::split_tf32): each factor is x = high + low, both of 11 significant bits, and of a product
// high high, high low and low high are summed, in float32; of users with themselves low high is the adjoint
// of high low. Parts are cut, not rounded, so up to 2^-20 of |x||y| is left out. A tensor core cuts its sums
// too: those of high high are no longer than 128 antennas.
//
// An operand of mma.m16n8k4 has its rows and its terms spread over a warp: lane 4 g + q has rows g and g + 8,
// or column g, and term q. Here rows g and g + 8 are the real and the imaginary part of a user, and the terms
// are antennas at the same place of four runs, the even ones or the odd ones. So a lane reads two users of an
// antenna's row at a time, lanes meet in no bank (of 16 users, whose runs lie side by side, two lanes do),
// and the registers that it reads are the operands, on the left and on the right: to copy them into others
// would take as long as the products.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/massive/frame_matrix.hpp>
#include <warpband/massive/uplink/frame_sums.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
struct tf32_pair {
  std::uint32_t high, low;  // of both the core takes the upper 19 bits
  WB_HD explicit tf32_pair(float x) {
    high = __float_as_uint(x) & 0xffffe000u;
    low = __float_as_uint(x - __uint_as_float(high));
  }
};
struct tf32_value {
  tf32_pair re, im;
  WB_HD tf32_value(float real, float imaginary) : re(real), im(imaginary) {}
};
/// 16 x 8 sums: [0] and [1] row g, columns 2 q and 2 q + 1; [2] and [3] row g + 8.
struct tensor_tile {
  float c[4] = {};
  WB_HD void add(std::uint32_t row_g, std::uint32_t row_g8, std::uint32_t column_g) {
    asm("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(row_g), "r"(row_g8), "r"(column_g));
  }
};
/// 8 x 8 sums of a conj(b): row g, columns 2 q and 2 q + 1. Halves: factors without a low part, which halves
/// do not have. Own: of users with themselves (a is b), whose low high is the adjoint of high low.
template <bool Halves, bool Own>
struct tensor_products {
  tensor_tile by_re, by_im, low_by_re, low_by_im;
  float2 sum[2] = {};
  WB_HD void add(const tf32_value& a, const tf32_value& b) {
    by_re.add(a.re.high, a.im.high, b.re.high);
    by_im.add(a.re.high, a.im.high, b.im.high);
    if constexpr (!Halves) {
      low_by_re.add(a.re.high, a.im.high, b.re.low);
      low_by_im.add(a.re.high, a.im.high, b.im.low);
      if constexpr (!Own) {
        low_by_re.add(a.re.low, a.im.low, b.re.high);
        low_by_im.add(a.re.low, a.im.low, b.im.high);
      }
    }
  }
  /// Sums with low parts, some 2^-11 of the others, may be as long as the frame.
  WB_HD void settle() { take(by_re, by_im); }
  /// After the last `settle`, by the lane of g and q.
  WB_HD void finish(int g, int q) {
    if constexpr (!Halves) {
      if constexpr (Own) add_adjoint(g, q);
      take(low_by_re, low_by_im);
    }
  }

 private:
  WB_HD static float2 entry(const tensor_tile& re, const tensor_tile& im, int i) {
    return {re.c[i] + im.c[2 + i], re.c[2 + i] - im.c[i]};
  }
  WB_HD void take(tensor_tile& re, tensor_tile& im) {
    WB_UNROLL for (int i = 0; i < 2; i++) {
      const float2 z = entry(re, im, i);
      sum[i].x += z.x;
      sum[i].y += z.y;
    }
    re = im = {};
  }
  WB_HD void add_adjoint(int g, int q) {
    float2 low[2];
    WB_UNROLL for (int i = 0; i < 2; i++) low[i] = entry(low_by_re, low_by_im, i);
    WB_UNROLL for (int i = 0; i < 2; i++) {
      // Row 2 q + i, column g.
      const int from = 4 * (2 * q + i) + g / 2;
      float of[4];
      WB_UNROLL for (int e = 0; e < 2; e++) {
        of[2 * e] = __shfl_sync(0xffffffffu, low[e].x, from);
        of[2 * e + 1] = __shfl_sync(0xffffffffu, low[e].y, from);
      }
      sum[i].x += g % 2 == 0 ? of[0] : of[2];
      sum[i].y -= g % 2 == 0 ? of[1] : of[3];
    }
  }
};

/// By warps that do not meet. Runs are filled up with zeros. `Shape`: frame_shape. `Ready`: called before
/// results are written.
template <int U, class Shape, bool Halves, class Ready>
struct tensor_sums {
  static constexpr int steps_of_sum = 16;
  float* results;
  const frame_plan& p;
  int g, q, steps, next_run;  // antennas of a run; to that of odd number
  const float *h, *y;         // as staged: run 2 q; users 2 g and 2 g + 1
  Ready ready;
  using sums = tensor_products<Halves, false>;
  using own_sums = tensor_products<Halves, true>;

  WB_HD tensor_sums(const float* channel, const float* vectors, float* to, const frame_plan& plan, int lane,
                    Ready before)
      : results(to), p(plan), g(lane / 4), q(lane % 4), steps(1 << p.run_log2), ready(before) {
    h = channel + at_run(p, 2 * q) + 4 * g;
    next_run = at_run(p, 1);
    y = vectors + 2 * q * p.y_run;
  }

  /// 16 users' own block and its diagonal; with Filter also those users' sums with the one vector.
  template <bool Filter>
  WB_HD void square(int block) const {
    own_sums even, odd;
    sums both;  // rows 2 g and columns 4 q and 4 q + 2; the same of odd ones; rows 2 g, odd columns
    float filter[2][4] = {};
    over_antennas(
        [&](int j, int run) {
          const float4 x = *reinterpret_cast<const float4*>(h + 2 * U * j + run * next_run + 32 * block);
          const tf32_value first(x.x, x.y), second(x.z, x.w);
          even.add(first, first);
          odd.add(second, second);
          both.add(first, second);
          if constexpr (Filter) {
            const float2 v = vector_at(y, j, run);
            add_filter(filter[0], v, x.x, x.y);
            add_filter(filter[1], v, x.z, x.w);
          }
        },
        [&] { even.settle(), odd.settle(), both.settle(); });
    even.finish(g, q), odd.finish(g, q), both.finish(g, q);
    ready();
    const int first = 16 * block;
    WB_UNROLL for (int i = 0; i < 2; i++) {
      // The first two have each entry and its conjugate, not always with the same bits.
      const int row = first + 2 * g, column = first + 4 * q + 2 * i;
      if (row > column) put(row, column, even.sum[i]), put(row + 1, column + 1, odd.sum[i]);
      put(row, column + 1, both.sum[i]);
    }
    if (g / 2 == q)
      *reinterpret_cast<float2*>(results + Shape::diagonal + first + 2 * g) =
          g % 2 == 0 ? float2{even.sum[0].x, odd.sum[0].x} : float2{even.sum[1].x, odd.sum[1].x};
    if constexpr (Filter) {
      float sum[4];
      WB_UNROLL for (int i = 0; i < 2; i++) {
        sum[2 * i] = filter[i][0] + filter[i][3];
        sum[2 * i + 1] = filter[i][2] - filter[i][1];
      }
      WB_UNROLL for (int i = 0; i < 4; i++) {
        sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], 1);
        sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], 2);
      }
      if (q == 0) store4(results + Shape::right + 2 * (first + 2 * g), sum);
    }
  }

  /// Of 32 users, rows 16 to 31 and the even or odd ones of columns 0 to 15.
  WB_HD void beside(int odd) const {
    sums of_even, of_odd;  // rows
    over_antennas(
        [&](int j, int run) {
          const float* at = h + 2 * U * j + run * next_run;
          const float4 x = *reinterpret_cast<const float4*>(at + 32);
          const float2 z = *reinterpret_cast<const float2*>(at + 2 * odd);
          const tf32_value column(z.x, z.y);
          of_even.add({x.x, x.y}, column);
          of_odd.add({x.z, x.w}, column);
        },
        [&] { of_even.settle(), of_odd.settle(); });
    of_even.finish(g, q), of_odd.finish(g, q);
    ready();
    WB_UNROLL for (int i = 0; i < 2; i++) {
      put(16 + 2 * g, 4 * q + 2 * i + odd, of_even.sum[i]);
      put(16 + 2 * g + 1, 4 * q + 2 * i + odd, of_odd.sum[i]);
    }
  }

  /// 16 users' matched filters for 8 N of the `count` vectors, from vector `side` on.
  template <int N>
  WB_HD void filters(int block, int side, int count) const {
    const float* at_y[N];
    WB_UNROLL for (int n = 0; n < N; n++) {
      const int mine = side + 8 * n + g;  // those past `count`: of any, and not kept
      at_y[n] = y + (mine < count ? mine : 0) * p.y_side;
    }
    sums of_even[N], of_odd[N];  // users
    over_antennas(
        [&](int j, int run) {
          const float4 x = *reinterpret_cast<const float4*>(h + 2 * U * j + run * next_run + 32 * block);
          const tf32_value even(x.x, x.y), odd(x.z, x.w);
          WB_UNROLL for (int n = 0; n < N; n++) {
            const float2 v = vector_at(at_y[n], j, run);
            const tf32_value column(v.x, v.y);
            of_even[n].add(even, column);
            of_odd[n].add(odd, column);
          }
        },
        [&] { WB_UNROLL for (int n = 0; n < N; n++) of_even[n].settle(), of_odd[n].settle(); });
    WB_UNROLL for (int n = 0; n < N; n++) of_even[n].finish(g, q), of_odd[n].finish(g, q);
    ready();
    WB_UNROLL for (int n = 0; n < N; n++) {
      WB_UNROLL for (int i = 0; i < 2; i++) {
        const int mine = side + 8 * n + 2 * q + i;
        // h conj(y) is what was summed.
        const float four[4] = {of_even[n].sum[i].x, 0.f - of_even[n].sum[i].y, of_odd[n].sum[i].x,
                               0.f - of_odd[n].sum[i].y};
        if (mine < count)
          store4(results + Shape::right + mine * Shape::side_floats + 2 * (16 * block + 2 * g), four);
      }
    }
  }

 private:
  /// add(place in the run, 0 or 1 for the even or odd runs); settle() now and then.
  template <class F, class G>
  WB_HD void over_antennas(F add, G settle) const {
    WB_ROLL for (int from = 0; from < steps; from += steps_of_sum) {
      const int to = steps < from + steps_of_sum ? steps : from + steps_of_sum;
      WB_ROLL for (int j = from; j < to; j += 2) {
        WB_UNROLL for (int i = 0; i < 4; i++) add(j + i / 2, i % 2);
      }
      settle();
    }
  }
  WB_HD float2 vector_at(const float* v, int j, int run) const {
    return *reinterpret_cast<const float2*>(v + 2 * j + run * p.y_run);
  }
  /// Row r, column c of the Gram matrix, as its conjugate where that lies above the diagonal.
  WB_HD void put(int r, int c, float2 z) const {
    float* to = results + (r > c ? matrix_place<U>(r, c) : matrix_place<U>(c, r));
    *reinterpret_cast<float2*>(to) = {z.x, r > c ? z.y : 0.f - z.y};
  }
  WB_HD static void add_filter(float (&sum)[4], float2 v, float re, float im) {
    sum[0] = fma(v.x, re, sum[0]);
    sum[1] = fma(v.x, im, sum[1]);
    sum[2] = fma(v.y, re, sum[2]);
    sum[3] = fma(v.y, im, sum[3]);
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
