#pragma once
// A frame's sums over antennas on the tensor cores of a CUDA device, in split TF32
// (massive_sums::split_tf32): each factor is x = high + low, both of 11 significant bits, and of a product
// high high, high low and low high are summed, in float32. What is left out is 2^-22 of |x||y|; a tensor
// core's sums are cut, not rounded.
//
// An operand of mma.m16n8k8 has its rows and its sums spread over a warp: lane 4 g + q has rows g and g + 8
// and terms q and q + 4. Here rows g and g + 8 are users 2 g and 2 g + 1, and the terms are antennas at the
// same place in all eight runs: q and q + 4 are runs 2 q and 2 q + 1. So a lane reads 16 bytes of an
// antenna's row at a time, lanes meet in no bank, and what it reads are the values of the left operand (16
// users) and of both right ones (8 users each) alike.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/massive/frame_matrix.hpp>
#include <warpband/massive/uplink/mapping.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// Of one real part: [0] and [1] users 2 g and 2 g + 1 in run 2 q, [2] and [3] in run 2 q + 1.
struct left_operand {
  std::uint32_t high[4], low[4];
};
/// [0] run 2 q, [1] run 2 q + 1.
struct right_operand {
  std::uint32_t high[2], low[2];
};
WB_HD void split_tf32(float x, std::uint32_t& high, std::uint32_t& low) {
  high = __float_as_uint(x) & 0xffffe000u;
  low = __float_as_uint(x - __uint_as_float(high));  // of which the core takes as many bits
}
/// 16 users, or 8 of them: even or odd ones.
struct left_users {
  left_operand re, im;
  WB_HD void take(const float4 (&x)[2]) {
    WB_UNROLL for (int run = 0; run < 2; run++) {
      split_tf32(x[run].x, re.high[2 * run], re.low[2 * run]);
      split_tf32(x[run].y, im.high[2 * run], im.low[2 * run]);
      split_tf32(x[run].z, re.high[2 * run + 1], re.low[2 * run + 1]);
      split_tf32(x[run].w, im.high[2 * run + 1], im.low[2 * run + 1]);
    }
  }
};
struct right_columns {
  right_operand re, im;
  WB_HD void take(float2 of_even_run, float2 of_odd_run) {
    split_tf32(of_even_run.x, re.high[0], re.low[0]);
    split_tf32(of_even_run.y, im.high[0], im.low[0]);
    split_tf32(of_odd_run.x, re.high[1], re.low[1]);
    split_tf32(of_odd_run.y, im.high[1], im.low[1]);
  }
  /// Of the same users as `x` has on the left: the even or the odd ones.
  WB_HD void take(const left_users& x, int odd) {
    WB_UNROLL for (int run = 0; run < 2; run++) {
      re.high[run] = x.re.high[2 * run + odd], re.low[run] = x.re.low[2 * run + odd];
      im.high[run] = x.im.high[2 * run + odd], im.low[run] = x.im.low[2 * run + odd];
    }
  }
};

/// 16 x 8 sums: [0] and [1] row g, columns 2 q and 2 q + 1; [2] and [3] row g + 8.
struct tensor_tile {
  float c[4] = {};
  WB_HD void add(const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
/// The sums of a conj(b): large and small terms apart.
struct tensor_products {
  tensor_tile re_re, im_im, im_re, re_im, low, low_im_re, low_re_im;
  WB_HD void add(const left_users& a, const right_columns& b) {
    re_re.add(a.re.high, b.re.high);
    im_im.add(a.im.high, b.im.high);
    im_re.add(a.im.high, b.re.high);
    re_im.add(a.re.high, b.im.high);
    low.add(a.re.high, b.re.low);
    low_im_re.add(a.im.high, b.re.low);
    low_re_im.add(a.re.high, b.im.low);
    low.add(a.re.low, b.re.high);
    low_im_re.add(a.im.low, b.re.high);
    low_re_im.add(a.re.low, b.im.high);
    low.add(a.im.high, b.im.low);
    low.add(a.im.low, b.im.high);
  }
  WB_HD float re(int i) const { return (re_re.c[i] + im_im.c[i]) + low.c[i]; }
  WB_HD float im(int i) const { return (im_re.c[i] - re_im.c[i]) + (low_im_re.c[i] - low_re_im.c[i]); }
};
/// Of a a^H one tile of M with a a^H = M + M^H.
struct tensor_half_products {
  tensor_tile re_re, im_im, im_re, low, low_im_re;
  WB_HD void add(const left_users& a, const right_columns& b) {
    re_re.add(a.re.high, b.re.high);
    im_im.add(a.im.high, b.im.high);
    im_re.add(a.im.high, b.re.high);
    low.add(a.re.high, b.re.low);
    low_im_re.add(a.im.high, b.re.low);
    low.add(a.im.high, b.im.low);
    low_im_re.add(a.im.low, b.re.high);
  }
  WB_HD float re(int i) const { return fma(0.5f, re_re.c[i] + im_im.c[i], low.c[i]); }
  WB_HD float im(int i) const { return im_re.c[i] + low_im_re.c[i]; }
};

/// By warps that do not meet. `Shape`: frame_shape.
template <int U, class Shape>
struct tensor_sums {
  const float *h, *y;  // as staged
  float* results;
  const frame_plan& p;
  int g, q, steps, left[2];  // antennas of the longest run, and of runs 2 q and 2 q + 1

  WB_HD tensor_sums(const float* channel, const float* vectors, float* to, const frame_plan& plan,
                    int antennas, int lane)
      : h(channel), y(vectors), results(to), p(plan), g(lane / 4), q(lane % 4) {
    steps = 1 << p.run_log2;
    WB_UNROLL for (int i = 0; i < 2; i++) {
      const int from = antennas - ((2 * q + i) << p.run_log2);
      left[i] = from < steps ? from : steps;
    }
  }

  /// M of 16 users' own block, then the block and its diagonal; with Filter also those users' sums with the
  /// one vector.
  template <bool Filter>
  WB_HD void square(int block) const {
    const float* at_h = h + 2 * q * p.h_run + 4 * g + 32 * block;
    const float* at_y = y + 2 * q * p.y_run;
    tensor_half_products sums[2];
    float filter[2][4] = {};
    WB_ROLL for (int j = 0; j < steps; j += 2) {
      WB_UNROLL for (int e = 0; e < 2; e++) {
        const float4 x[2] = {read(at_h + 2 * U * e, j, 0), read(at_h + 2 * U * e + p.h_run, j, 1)};
        left_users a;
        a.take(x);
        WB_UNROLL for (int odd = 0; odd < 2; odd++) {
          right_columns b;
          b.take(a, odd);
          sums[odd].add(a, b);
        }
        if constexpr (Filter) {
          WB_UNROLL for (int run = 0; run < 2; run++) {
            const float2 v = read_pair(at_y + 2 * e + run * p.y_run, j, run);
            add_filter(filter[0], v, x[run].x, x[run].y);
            add_filter(filter[1], v, x[run].z, x[run].w);
          }
        }
      }
      at_h += 4 * U, at_y += 4;
    }
    // Row 2 g + i has its columns 4 q + e in tile e % 2.
    float2 m[2][4];
    WB_UNROLL for (int i = 0; i < 2; i++) {
      WB_UNROLL for (int e = 0; e < 4; e++)
          m[i][e] = {sums[e % 2].re(2 * i + e / 2), sums[e % 2].im(2 * i + e / 2)};
    }
    const int row = 16 * block + 2 * g, column = 16 * block + 4 * q;
    const auto put = [&] {
      WB_UNROLL for (int i = 0; i < 2; i++) {
        WB_UNROLL for (int e = 0; e < 4; e += 2) {
          const float four[4] = {m[i][e].x, m[i][e].y, m[i][e + 1].x, m[i][e + 1].y};
          store4(results + matrix_place<U>(row + i, column + e), four);
        }
      }
    };
    put();
    __syncwarp();
    WB_UNROLL for (int i = 0; i < 2; i++) {
      WB_UNROLL for (int e = 0; e < 4; e++) {
        const float2 z = *reinterpret_cast<const float2*>(results + matrix_place<U>(column + e, row + i));
        m[i][e] = {m[i][e].x + z.x, m[i][e].y - z.y};
      }
    }
    __syncwarp();
    put();
    if (g / 2 == q) {
      const bool second = g % 2 == 1;
      *reinterpret_cast<float2*>(results + Shape::diagonal + row) = {second ? m[0][2].x : m[0][0].x,
                                                                     second ? m[1][3].x : m[1][1].x};
    }
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
      if (q == 0) store4(results + Shape::right + 2 * row, sum);
    }
  }

  /// Of 32 users, rows 16 to 31 and the even or odd ones of columns 0 to 15.
  WB_HD void beside(int odd) const {
    const float* at_h = h + 2 * q * p.h_run + 4 * g;
    tensor_products sums;
    WB_ROLL for (int j = 0; j < steps; j++) {
      left_users a;
      a.take({read(at_h + 32, j, 0), read(at_h + 32 + p.h_run, j, 1)});
      right_columns b;
      b.take(read_pair(at_h + 2 * odd, j, 0), read_pair(at_h + 2 * odd + p.h_run, j, 1));
      sums.add(a, b);
      at_h += 2 * U;
    }
    WB_UNROLL for (int i = 0; i < 4; i++) {
      *reinterpret_cast<float2*>(results + matrix_place<U>(16 + 2 * g + i / 2, 4 * q + 2 * (i % 2) + odd)) = {
          sums.re(i), sums.im(i)};
    }
  }

  /// 16 users' matched filters for 8 N of the `count` vectors, from vector `side` on.
  template <int N>
  WB_HD void filters(int block, int side, int count) const {
    const float *at_h = h + 2 * q * p.h_run + 4 * g + 32 * block, *at_y[N];
    WB_UNROLL for (int n = 0; n < N; n++) {
      const int mine = side + 8 * n + g;  // those past `count`: of any, and not kept
      at_y[n] = y + (mine < count ? mine : 0) * p.y_side + 2 * q * p.y_run;
    }
    tensor_products sums[N];
    WB_ROLL for (int j = 0; j < steps; j += 2) {
      float4 v[N][2];
      WB_UNROLL for (int n = 0; n < N; n++) {
        WB_UNROLL for (int run = 0; run < 2; run++) v[n][run] = read(at_y[n] + run * p.y_run, j, run);
        at_y[n] += 4;
      }
      WB_UNROLL for (int e = 0; e < 2; e++) {
        left_users a;
        a.take({read(at_h, j + e, 0), read(at_h + p.h_run, j + e, 1)});
        at_h += 2 * U;
        WB_UNROLL for (int n = 0; n < N; n++) {
          right_columns b;
          if (e == 0)
            b.take({v[n][0].x, v[n][0].y}, {v[n][1].x, v[n][1].y});
          else
            b.take({v[n][0].z, v[n][0].w}, {v[n][1].z, v[n][1].w});
          sums[n].add(a, b);
        }
      }
    }
    WB_UNROLL for (int n = 0; n < N; n++) {
      WB_UNROLL for (int e = 0; e < 2; e++) {
        const int mine = side + 8 * n + 2 * q + e;
        // y conj(h) is what is summed here, conjugated.
        const float four[4] = {sums[n].re(e), 0.f - sums[n].im(e), sums[n].re(2 + e),
                               0.f - sums[n].im(2 + e)};
        if (mine < count)
          store4(results + Shape::right + mine * Shape::side_floats + 2 * (16 * block + 2 * g), four);
      }
    }
  }

 private:
  WB_HD float4 read(const float* at, int j, int run) const {
    return j < left[run] ? *reinterpret_cast<const float4*>(at) : float4{};
  }
  WB_HD float2 read_pair(const float* at, int j, int run) const {
    return j < left[run] ? *reinterpret_cast<const float2*>(at) : float2{};
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
