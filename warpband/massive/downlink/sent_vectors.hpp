#pragma once
// The vectors m = H x of the precoder in shared memory: how one warp makes them, finds what they are
// multiplied with and stores them, as downlink_op.hpp does.
//
// Lane l has run l % 8 of the antennas. When it weighs, it has antennas l / 8, l / 8 + 4, l / 8 + 8 and so on
// of that run: H is then read without bank conflicts, once for all vectors that are weighed together. One
// lane adds the squares of a run, in order.
//
// Who calls: one whole warp. Needs: a vector has `sent_floats` floats of shared memory. Barriers: none
// inside. Between `weigh` and what follows, all warps that weigh antennas of a vector meet.
#include <warpband/massive/frame_tiles.hpp>
#include <warpband/massive/massive_body.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
template <int U>
struct sent_vectors {
  const massive_args& a;
  const frame_samples& p;
  int lane, run, part;
  int sent_floats;

  WB_HD sent_vectors(const massive_args& args, const frame_samples& samples, int lane_index)
      : a(args),
        p(samples),
        lane(lane_index),
        run(lane_index % antenna_runs),
        part(lane_index / antenna_runs),
        sent_floats(2 * antenna_runs << samples.run_log2) {}

  /// Offset of antenna j of run r of m. Neighbouring antennas 2 i and 2 i + 1 are side by side;
  /// the exclusive or keeps lanes with different runs from bank conflicts.
  WB_HD int at_sent(int r, int j) const {
    return (r << p.run_log2 << 1) + 2 * (j ^ 2 * (r & ((1 << p.run_log2 >> 1) - 1)));
  }
  /// m = H x of each x, of which the first `count` go to `to` and `sent_floats` further on for each. Of the
  /// lane's run `antennas` antennas from number `begin` on, whose rows are at `rows`; `Rows` at once. `Warps`
  /// warps share them, of which this is `warp`.
  template <int Rows, int Warps, int AtOnce>
  WB_HD void weigh(int warp, const float* rows, int begin, int antennas, const float* const (&x)[AtOnce],
                   int count, float* to) const {
    // So many that loads are hidden by what is computed from the ones before.
    [[maybe_unused]] constexpr int unrolled = AtOnce * Rows > 8 ? 2 : 4;
    WB_ROLL for (int first = part + 4 * Rows * warp; first < antennas; first += 4 * Rows * Warps) {
      const float* row[Rows];  // those past the last antenna are weighed as the first one, and not stored
      WB_UNROLL for (int i = 0; i < Rows; i++) row[i] =
          rows + 2 * U * (first + 4 * i < antennas ? first + 4 * i : first);
      float re[AtOnce][Rows][2] = {}, im[AtOnce][Rows][2] = {};
#pragma unroll unrolled
      for (int u = 0; u < U; u += 2) {
        float z[AtOnce][4];
        WB_UNROLL for (int s = 0; s < AtOnce; s++) load4(x[s] + 2 * u, z[s]);
        WB_UNROLL for (int i = 0; i < Rows; i++) {
          float four[4];
          load4(row[i] + 2 * u, four);
          WB_UNROLL for (int e = 0; e < 2; e++) {
            WB_UNROLL for (int s = 0; s < AtOnce; s++) {
              WB_UNROLL for (int q = 0; q < 2; q++) {
                re[s][i][q] = fma(four[2 * e], z[s][2 * e + q], re[s][i][q]);
                im[s][i][q] = fma(four[2 * e + 1], z[s][2 * e + q], im[s][i][q]);
              }
            }
          }
        }
      }
      WB_UNROLL for (int i = 0; i < Rows; i++) {
        const int j = first + 4 * i;
        if (j >= antennas) break;
        WB_UNROLL for (int s = 0; s < AtOnce; s++) if (s < count) *
            reinterpret_cast<float2*>(to + s * sent_floats + at_sent(run, begin + j)) = {
            re[s][i][0] - im[s][i][1], re[s][i][1] + im[s][i][0]};
      }
    }
  }
  /// What m is multiplied with, or -1 if the vector is erased. Of the vector at `from` and the rules of
  /// downlink_op.hpp; `kept`: whether the frame and the symbols are valid. The lanes of a part get the
  /// result.
  WB_HD float factor_of(const float* from, bool kept) const {
    const int antennas = antennas_of_run(p, a.antennas, run);
    float re = 0.f, im = 0.f;
    WB_ROLL for (int first = 0; first < antennas; first += 8) {
      float values[4][4];
      WB_UNROLL for (int j = 0; j < 4; j++) if (first + 2 * j < antennas)
          load4(from + at_sent(run, first + 2 * j), values[j]);
      WB_UNROLL for (int j = 0; j < 4; j++) if (first + 2 * j < antennas) {
        WB_UNROLL for (int e = 0; e < 4; e += 2) {
          re = fma(values[j][e], values[j][e], re);
          im = fma(values[j][e + 1], values[j][e + 1], im);
        }
      }
    }
    WB_UNROLL for (int step = antenna_runs / 2; step > 0; step /= 2) {
      re = re + __shfl_xor_sync(0xffffffffu, re, step);
      im = im + __shfl_xor_sync(0xffffffffu, im, step);
    }
    const float power = re + im;
    const float factor = factor_of_sent(a, power);
    return kept & (power <= most_sent_energy) ? factor : -1.f;
  }
  /// Stores the m at `from`, times `factor`, as vector number `vector`.
  WB_HD void store(std::size_t vector, const float* from, float factor) const {
    const bool kept = factor >= 0.f;
    cx_pair* const to = a.out.data + vector * a.out.item_stride + (run << p.run_log2);
    const int antennas = antennas_of_run(p, a.antennas, run);
    WB_ROLL for (int j = 2 * part; j < antennas; j += 8) {
      float x[4] = {};
      if (kept) {
        load4(from + at_sent(run, j), x);
        WB_UNROLL for (int e = 0; e < 4; e++) x[e] = factor * x[e] + 0.f;
      }
      *reinterpret_cast<float4*>(to + j) = {x[0], x[1], x[2], x[3]};
    }
    if (a.status.data && lane == 0)
      a.status.data[vector * a.status.item_stride] = kept ? std::uint8_t{0} : status_erased;
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
