#pragma once
// H^H H and H^H y of a frame of 16 or 32 users on the tensor cores of a CUDA device, in split halves
// (massive_sums::split_f16).
//
// Each user's column of H, and each y, is scaled by a power of two s into the range of halves. Each scaled
// value is split, s x = high + low, where both are halves rounded to 11 significant bits. Of a product a b
// the terms high high, high low and low high are summed in float32; about 2^-22 |a||b| is left out. For two
// users of the same tile low high is the adjoint of high low, and is not summed. The diagonal of H^H H, and
// H^H y of a single vector, are float32 sums: they would leave most of a tensor core unused.
//
// Step 1, `frame_operands` (tensor_operands.hpp), by all threads that share the frame: the floats become
// operands, in the same memory.
//
// Step 2, `tensor_sums`, by single warps: rows g and g + 8 of a 16 x 8 x 16 product are the real and the
// imaginary part of a user.
//
// Who calls: `sum`, then a barrier, then `split`, then a barrier, then the tiles. The barriers are the
// caller's.
//
// Needs: H and y without gaps (`frame_samples::of_samples`), and `tensor_scratch` floats for each team.
//
// Order of sums: fixed by the number of octets and warps. The bits differ from float32 sums and do not depend
// on the schedule.
#include <warpband/massive/uplink/tensor_operands.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// Operand of 8 users and two octets. As left operand: 8 rows of real parts and 8 of imaginary parts for each
/// octet. As right operand: real parts of both octets, then imaginary parts. Samples that come as halves have
/// no low part.
struct split_operand {
  uint4 high, low;
};
/// 8 x 8 tile of sums of a conj(b). Lane 4 g + q has row g, columns 2 q and 2 q + 1. `Own`: a and b are the
/// same users.
template <bool Halves, bool Own>
struct tensor_products {
  tensor_tile by_re, by_im, low_by_re, low_by_im;
  WB_HD void add(const split_operand& a, const split_operand& b) {
    by_re.add(a.high, b.high.x, b.high.y);
    by_im.add(a.high, b.high.z, b.high.w);
    if constexpr (!Halves) {
      low_by_re.add(a.high, b.low.x, b.low.y);
      low_by_im.add(a.high, b.low.z, b.low.w);
      if constexpr (!Own) {
        low_by_re.add(a.low, b.high.x, b.high.y);
        low_by_im.add(a.low, b.high.z, b.high.w);
      }
    }
  }
  /// The lane's two sums.
  WB_HD void finish(int g, int q, float2 (&sum)[2]) const {
    WB_UNROLL for (int i = 0; i < 2; i++) sum[i] = entry(by_re, by_im, i);
    if constexpr (!Halves) {
      float2 low[2];
      WB_UNROLL for (int i = 0; i < 2; i++) low[i] = entry(low_by_re, low_by_im, i);
      WB_UNROLL for (int i = 0; i < 2; i++) {
        if constexpr (Own) {
          // The adjoint: row 2 q + i, column g.
          const int from = 4 * (2 * q + i) + g / 2;
          float adjoint[4];
          WB_UNROLL for (int e = 0; e < 2; e++) {
            adjoint[2 * e] = __shfl_sync(0xffffffffu, low[e].x, from);
            adjoint[2 * e + 1] = __shfl_sync(0xffffffffu, low[e].y, from);
          }
          sum[i].x += g % 2 == 0 ? adjoint[0] : adjoint[2];
          sum[i].y -= g % 2 == 0 ? adjoint[1] : adjoint[3];
        }
        sum[i].x += low[i].x;
        sum[i].y += low[i].y;
      }
    }
  }

 private:
  WB_HD static float2 entry(const tensor_tile& re, const tensor_tile& im, int i) {
    return {re.c[i] + im.c[2 + i], re.c[2 + i] - im.c[i]};
  }
};

/// The tiles, each by one whole warp; warps do not meet. `Ready`: called before results are written.
template <int U, bool Many, bool Halves, class Ready>
struct tensor_sums {
  using Shape = frame_shape<U, Many>;
  using Scratch = tensor_scratch<U, Many>;
  float* results;
  const frame_samples& p;
  int lane, g, q;
  const float *left, *right, *y;  // first row of the lane: left and right operands of H, operands of vectors
  const float* scratch;
  int gap;  // extra offset of the second part of H
  Ready ready;
  using sums = tensor_products<Halves, false>;
  using own_sums = tensor_products<Halves, true>;

  WB_HD tensor_sums(const float* channel, const float* vectors, float* to, const float* team_scratch,
                    int gap_of_parts, const frame_samples& plan, Ready before)
      : results(to),
        p(plan),
        lane(static_cast<int>(threadIdx.x) % 32),
        g(lane / 4),
        q(lane % 4),
        scratch(team_scratch),
        gap(gap_of_parts),
        ready(before) {
    const int matrix = lane / 8, row = lane % 8;
    left = channel + 2 * U * matrix + 4 * row;
    right = channel + 2 * U * (matrix % 2 * 2 + matrix / 2) + 4 * row;
    y = vectors + 4 * (matrix % 2 + p.octets * (matrix / 2));
  }

  /// Block `block` of 16 users on the diagonal; for a single vector also H^H y of these users.
  WB_HD void square(int block) const {
    own_sums even, odd;
    sums both;
    const operand_at left_even = on_left(block, 0), left_odd = on_left(block, 1),
                     right_even = on_right(block, 0), right_odd = on_right(block, 1);
    over_antennas(
        [&](std::uint32_t octet) {
          return operands<2, 2>{{users(left_even, octet), users<false>(left_odd, octet)},
                                {users(right_even, octet), users(right_odd, octet)}};
        },
        [&](const auto& x) {
          even.add(x.left[0], x.right[0]);
          odd.add(x.left[1], x.right[1]);
          both.add(x.left[0], x.right[1]);
        });
    float2 of_even[2], of_odd[2], of_both[2];
    even.finish(g, q, of_even), odd.finish(g, q, of_odd), both.finish(g, q, of_both);
    ready();
    put_own(block, of_even, of_odd);
    put_corner(block, of_both);
  }

  /// For 32 users: rows 16 to 31 and the even or odd columns of 0 to 15.
  WB_HD void beside(int odd) const {
    const operand_at even_rows = on_left(1, 0), odd_rows = on_left(1, 1), columns = on_right(0, odd);
    sums of_even, of_odd;  // rows
    over_antennas(
        [&](std::uint32_t octet) {
          return operands<2, 1>{{users(even_rows, octet), users(odd_rows, octet)}, {users(columns, octet)}};
        },
        [&](const auto& x) { of_even.add(x.left[0], x.right[0]), of_odd.add(x.left[1], x.right[0]); });
    float2 even[2], odd_sum[2];
    of_even.finish(g, q, even), of_odd.finish(g, q, odd_sum);
    ready();
    WB_UNROLL for (int i = 0; i < 2; i++) {
      put(16 + 2 * g, 4 * q + 2 * i + odd, even[i]);
      put(16 + 2 * g + 1, 4 * q + 2 * i + odd, odd_sum[i]);
    }
  }

  /// H^H y of 16 users for 8 N vectors from `side` on. Only vectors below `count` are stored.
  template <int N>
  WB_HD void filters(int block, int side, int count) const {
    operand_at columns[N];
    WB_UNROLL for (int n = 0; n < N; n++) columns[n] = vectors_from(side + 8 * n, count);
    const operand_at even = on_left(block, 0), odd = on_left(block, 1);
    sums of_even[N], of_odd[N];  // users
    over_antennas(
        [&](std::uint32_t octet) {
          operands<2, N> x{{users(even, octet), users(odd, octet)}, {}};
          WB_UNROLL for (int n = 0; n < N; n++) x.right[n] = vectors(columns[n], octet);
          return x;
        },
        [&](const auto& x) {
          WB_UNROLL for (int n = 0; n < N; n++) {
            of_even[n].add(x.left[0], x.right[n]);
            of_odd[n].add(x.left[1], x.right[n]);
          }
        });
    float2 even_sum[N][2], odd_sum[N][2];
    WB_UNROLL for (int n = 0; n < N; n++) {
      of_even[n].finish(g, q, even_sum[n]);
      of_odd[n].finish(g, q, odd_sum[n]);
    }
    ready();
    WB_UNROLL for (int n = 0; n < N; n++) {
      put_filter(block, 0, side + 8 * n, count, even_sum[n]);
      put_filter(block, 1, side + 8 * n, count, odd_sum[n]);
    }
  }

 private:
  /// Shared-memory addresses of an operand's high and low parts for the first two octets.
  struct operand_at {
    std::uint32_t high, low;
  };
  static constexpr std::uint32_t bytes_of_octet = 16;  // of a vector; U times as many for H
  /// Operands of the even or odd users of a block.
  WB_HD operand_at on_left(int block, int odd) const { return users_at(left, block, odd); }
  WB_HD operand_at on_right(int block, int odd) const { return users_at(right, block, odd); }
  WB_HD operand_at users_at(const float* first, int block, int odd) const {
    const float* source = first + (8 * U * p.octets + gap) * odd + 32 * block;
    return {async_copies::address(source), async_copies::address(source + 4 * U * p.octets)};
  }
  /// Operand of eight vectors from `side` on. Past `count` it is any vector; those sums are not stored.
  WB_HD operand_at vectors_from(int side, int count) const {
    const int vector = side + lane % 8;
    const float* source = y + (vector < count ? vector : 0) * p.y_side;
    return {async_copies::address(source), async_copies::address(source + 8 * p.octets)};
  }
  template <bool Low = true>
  WB_HD static split_operand users(const operand_at& operand, std::uint32_t octet) {
    return load<Low>(operand, octet * (U * bytes_of_octet));
  }
  WB_HD static split_operand vectors(const operand_at& operand, std::uint32_t octet) {
    return load<true>(operand, octet * bytes_of_octet);
  }
  template <bool Low>
  WB_HD static split_operand load(const operand_at& operand, std::uint32_t offset) {
    split_operand x{load_matrices(operand.high + offset), {}};
    if constexpr (Low && !Halves) x.low = load_matrices(operand.low + offset);
    return x;
  }
  /// add(load(octet)) for every other octet. The next operands are loaded before the products of these,
  /// unless a thread has too few registers.
  template <class Load, class Add>
  WB_HD void over_antennas(Load load, Add add) const {
    if constexpr (U == 32 && !Many) {
      WB_ROLL for (std::uint32_t octet = 0; octet < static_cast<std::uint32_t>(p.octets); octet += 2)
          add(load(octet));
      return;
    }
    const std::uint32_t last = static_cast<std::uint32_t>(p.octets) - 2;
    auto x = load(0);
    WB_ROLL for (std::uint32_t octet = 0; octet <= last; octet += 4) {
      const auto z = load(octet < last ? octet + 2 : last);
      add(x);
      if (octet == last) break;
      x = load(octet + 2 < last ? octet + 4 : last);
      add(z);
    }
  }
  template <int A, int B>
  struct operands {
    split_operand left[A], right[B];
  };
  WB_HD void put_own(int block, const float2 (&even)[2], const float2 (&odd)[2]) const {
    const int first = 16 * block;
    WB_UNROLL for (int i = 0; i < 2; i++) {
      // Each tile has every entry and its conjugate, whose bits may differ: store the entry below the
      // diagonal.
      const int row = first + 2 * g, column = first + 4 * q + 2 * i;
      if (row > column) put(row, column, even[i]), put(row + 1, column + 1, odd[i]);
    }
    if (lane < 16) results[Shape::diagonal + first + lane] = scratch[Scratch::energy + first + lane];
  }
  WB_HD void put_corner(int block, const float2 (&both)[2]) const {
    WB_UNROLL for (int i = 0; i < 2; i++) put(16 * block + 2 * g, 16 * block + 4 * q + 2 * i + 1, both[i]);
    if constexpr (!Many) {
      float sum = 0.f;
      WB_UNROLL for (int subset = 0; subset < Scratch::subsets; subset++) sum +=
          scratch[Scratch::filters + 2 * (U * subset + 16 * block) + lane];
      results[Shape::right + 32 * block + lane] = sum;
    }
  }
  /// H^H y of the even or odd users for vectors `side` + 2 q and the next. The tile has h conj(y), its
  /// conjugate.
  WB_HD void put_filter(int block, int odd, int side, int count, const float2 (&sum)[2]) const {
    const int user = 16 * block + 2 * g + odd;
    const float scale = Halves ? 1.f : scratch[Scratch::inverse + user];
    WB_UNROLL for (int i = 0; i < 2; i++) {
      const int vector = side + 2 * q + i;
      if (vector >= count) continue;
      const float by = Halves ? 1.f : scratch[Scratch::vector_inverse + vector];
      *reinterpret_cast<float2*>(results + Shape::right + vector * Shape::side_floats + 2 * user) = {
          sum[i].x * scale * by, (0.f - sum[i].y) * scale * by};
    }
  }
  /// Stores entry r, c of H^H H; an entry above the diagonal as the conjugate at c, r.
  WB_HD void put(int r, int c, float2 z) const {
    float* to = results + (r > c ? lower_triangle<U>::place(r, c) : lower_triangle<U>::place(c, r));
    const float by = Halves ? 1.f : scratch[Scratch::inverse + r] * scratch[Scratch::inverse + c];
    *reinterpret_cast<float2*>(to) = {z.x * by, (r > c ? z.y : 0.f - z.y) * by};
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
