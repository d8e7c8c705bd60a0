#pragma once
// Gram matrix and matched filters on a CUDA device, by a thread block for each frame: H is read once,
// coalesced, into shared memory. Eight neighbouring threads share a 4 x 4 tile, an eighth of the antennas
// each.
#include <warpband/massive/massive_frames.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
template <class Users, class T, class G>
struct massive_products : massive_frames<Users, T, G> {
  using frames = massive_frames<Users, T, G>;
  using frames::a, frames::p, frames::g, frames::first, frames::valid, frames::n, frames::m, frames::b;
  using frames::channel_of, frames::vector_of, frames::width;
  using frames::massive_frames;
  using frames::memory, frames::half_channel, frames::half_in, frames::row_of, frames::vector_number;
  using typename frames::E;

  /// The rows of H again.
  WB_HD antenna_rows<E> rows_for_sending(int) const { return {memory, p.h_row, p.h_pad, 2}; }
  /// With `gram` the Gram matrix and, for the detector, the matched filters of `count` vectors from `symbol`
  /// on. Ends with all threads having met.
  template <bool Filter>
  WB_HD void products(int symbol, int count, bool gram) const {
    float *h = memory, *y = memory + p.staged_y;
    if (symbol == 0) stage_channel(h);
    if constexpr (Filter) stage_vectors(y, symbol, count);
    g.sync();
    const int tiles_down = (n + 3) / 4, grams = gram ? tiles_down * (tiles_down + 1) / 2 : 0;
    const int single = count == 1, filters = Filter ? tiles_down * (single ? 1 : (count + 3) / 4) : 0;
    for (int i = g.rank / antenna_runs; i < grams + filters; i += g.size / antenna_runs) {
      if (i < grams) {
        int down = 0;
        while ((down + 1) * (down + 2) / 2 <= i) down++;
        const int r0 = 4 * down, c0 = 4 * (i - down * (down + 1) / 2);
        shared_tile_sums<4>({h + 2 * r0, p.h_row, p.h_pad, 2}, {h + 2 * c0, p.h_row, p.h_pad, 2}, a.antennas,
                            p.run_log2, [&](int r, int c, int part, float x) {
                              if (r0 + r < n && c0 + c <= r0 + r)
                                m.data[2 * ((r0 + r) * p.ld + c0 + c) + part] = x;
                            });
      } else {
        const int down = (i - grams) / tiles_down, c0 = 4 * (i - grams - down * tiles_down), k0 = 4 * down;
        const auto put = [&](int k, int c, int part, float x) {
          if (k0 + k < count && c0 + c < n) b.data[2 * ((k0 + k) * n + c0 + c) + part] = x;
        };
        const antenna_rows<float> right{h + 2 * c0, p.h_row, p.h_pad, 2},
            left{y + 2 * k0, p.y_row, p.y_pad, 2};
        if (single)
          shared_tile_sums<1>(left, right, a.antennas, p.run_log2, put);
        else
          shared_tile_sums<4>(left, right, a.antennas, p.run_log2, put);
      }
    }
    g.sync();
  }

 private:
  WB_HD float* staged(float* h, int antenna) const {
    return h + antenna * p.h_row + (antenna >> p.run_log2) * p.h_pad;
  }
  /// H as it is in memory, value by value.
  template <class S>
  WB_HD void stage_values(float* h, const S* from, std::size_t stride) const {
    for (int i = g.rank; i < a.antennas * n; i += g.size) {
      const int k = i / n;
      const float_pair z = frames::parts_of(from[static_cast<std::size_t>(i) * stride]);
      float* to = staged(h, k) + 2 * (i - k * n);
      to[0] = z.re;
      to[1] = z.im;
    }
  }
  WB_HD void stage_half_channel(float* h) const {
    const half_complex* from = row_of(a.half_channel, first);
    const std::size_t stride = a.half_channel.element_stride;
    if (n % 4 == 0 && stride == 1 && reinterpret_cast<std::uintptr_t>(from) % sizeof(uint4) == 0) {
      const auto* fours = reinterpret_cast<const uint4*>(from);
      const int quarter = n / 4, pieces = a.antennas * quarter;
      for (int i = g.rank; i < pieces; i += 4 * g.size) {  // four on their way at once
        uint4 x[4];
        WB_UNROLL for (int j = 0; j < 4; j++) if (i + j * g.size < pieces) x[j] = fours[i + j * g.size];
        WB_UNROLL for (int j = 0; j < 4; j++) {
          const int piece = i + j * g.size, k = piece / quarter;
          if (piece >= pieces) continue;
          auto* to = reinterpret_cast<float4*>(staged(h, k) + 8 * (piece - k * quarter));
          const float2 z[4] = {to_floats(x[j].x), to_floats(x[j].y), to_floats(x[j].z), to_floats(x[j].w)};
          to[0] = {z[0].x, z[0].y, z[1].x, z[1].y};
          to[1] = {z[2].x, z[2].y, z[3].x, z[3].y};
        }
      }
    } else {
      stage_values(h, from, stride);
    }
  }
  WB_HD void stage_channel(float* h) const {
    if (half_channel()) return stage_half_channel(h);
    const cx_pair* from = channel_of(first);
    if (n % 2 == 0 && a.channel.element_stride == 1 &&
        reinterpret_cast<std::uintptr_t>(from) % sizeof(float4) == 0) {
      const auto* pairs = reinterpret_cast<const float4*>(from);
      const int half = n / 2, pieces = a.antennas * half;
      for (int i = g.rank; i < pieces; i += 8 * g.size) {  // eight on their way at once
        float4 x[8];
        WB_UNROLL for (int j = 0; j < 8; j++) if (i + j * g.size < pieces) x[j] = pairs[i + j * g.size];
        WB_UNROLL for (int j = 0; j < 8; j++) {
          const int piece = i + j * g.size, k = piece / half;
          if (piece < pieces) *reinterpret_cast<float4*>(staged(h, k) + 4 * (piece - k * half)) = x[j];
        }
      }
    } else {
      stage_values(h, from, a.channel.element_stride);
    }
  }
  WB_HD void stage_vectors(float* y, int symbol, int count) const {
    for (int i = g.rank; i < count * a.antennas; i += g.size) {
      const int side = i / a.antennas, k = i - side * a.antennas;
      const std::size_t vector = vector_number(first, symbol + side), antenna = static_cast<std::size_t>(k);
      const float_pair z =
          half_in() ? frames::parts_of(row_of(a.half_in, vector)[antenna * a.half_in.element_stride])
                    : frames::parts_of(row_of(a.in, vector)[antenna * a.in.element_stride]);
      float* to = y + k * p.y_row + (k >> p.run_log2) * p.y_pad + 2 * side;
      to[0] = z.re;
      to[1] = z.im;
    }
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
