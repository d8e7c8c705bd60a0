#pragma once
// How one warp sends vectors of a frame: m = H x, normalised as downlink_op.hpp does.
//
// A sending lane l weighs the antennas l / 8, l / 8 + 4, ... of run l % 8. So H is read without bank
// conflicts, once for `at_once` (of the policy) vectors. The squares of a run are added in order by one lane.
//
// Who calls: one whole warp, `send`. Needs: H and the solutions in shared memory, and `scratch_floats` floats
// of it for each warp. Barriers: none inside but `__syncwarp`; the caller waits for the solutions.
#include <warpband/massive/downlink/send_block.hpp>
#include <warpband/massive/massive_body.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
template <class P>
struct vector_sender : send_block<P> {
  using base = send_block<P>;
  using base::a, base::p, base::lane, base::U, base::Many;
  using typename base::Shape;
  static constexpr int at_once = P::at_once;
  int run, part;    // the lane's run of eight, and which antennas of it
  float* scratch;   // of this warp
  int sent_floats;  // of a vector in `scratch`

  /// `number`: of this warp among those that have scratch memory.
  WB_HD vector_sender(const base& b, int number) : base(b) {
    run = lane % antenna_runs;
    part = lane / antenna_runs;
    scratch = b.shared + p.scratch + number * p.scratch_floats;
    sent_floats = 2 * antenna_runs << p.run_log2;
  }

  /// Offset in `scratch` of antenna j of run r of m. Neighbouring antennas 2 i and 2 i + 1 are side by side;
  /// the exclusive or keeps lanes with different runs from bank conflicts.
  WB_HD int at_sent(int r, int j) const {
    return (r << p.run_log2 << 1) + 2 * (j ^ 2 * (r & ((1 << p.run_log2 >> 1) - 1)));
  }
  /// m = H x of each x, to `scratch`.
  WB_HD void weigh_antennas(const float* h, const float* const (&x)[at_once]) const {
    const int antennas = antennas_of_run(p, a.antennas, run);
    // So many that loads are hidden by what is computed from the ones before.
    [[maybe_unused]] constexpr int unrolled = at_once > 2 ? 2 : 4;
    WB_ROLL for (int first = part; first < antennas; first += 16) {
      const float* row = h + at_run(p, run) + 2 * U * first;
      float re[at_once][4][2] = {}, im[at_once][4][2] = {};
#pragma unroll unrolled
      for (int u = 0; u < U; u += 2) {
        float z[at_once][4];
        WB_UNROLL for (int s = 0; s < at_once; s++) load4(x[s] + 2 * u, z[s]);
        WB_UNROLL for (int i = 0; i < 4; i++) {
          float four[4];
          load4(row + 8 * U * i + 2 * u, four);
          WB_UNROLL for (int e = 0; e < 2; e++) {
            WB_UNROLL for (int s = 0; s < at_once; s++) {
              WB_UNROLL for (int q = 0; q < 2; q++) {
                re[s][i][q] = fma(four[2 * e], z[s][2 * e + q], re[s][i][q]);
                im[s][i][q] = fma(four[2 * e + 1], z[s][2 * e + q], im[s][i][q]);
              }
            }
          }
        }
      }
      WB_UNROLL for (int i = 0; i < 4; i++) {
        const int j = first + 4 * i;
        if (j >= antennas) break;
        WB_UNROLL for (int s = 0; s < at_once; s++) *
            reinterpret_cast<float2*>(scratch + s * sent_floats + at_sent(run, j)) = {
            re[s][i][0] - im[s][i][1], re[s][i][1] + im[s][i][0]};
      }
    }
    __syncwarp();
  }
  /// What m is multiplied with, or -1 if the vector is erased. Of the vector at `from` and the rules of
  /// downlink_op.hpp; `kept`: whether the frame and the symbols are valid. The lanes of a part get the
  /// result.
  WB_HD float factor_of(const float* from, bool kept) const {
    const int antennas = antennas_of_run(p, a.antennas, run);
    float re = 0.f, im = 0.f;
    WB_ROLL for (int first = 0; first < antennas; first += 8) {
      float now[4][4];
      WB_UNROLL for (int j = 0; j < 4; j++) if (first + 2 * j < antennas)
          load4(from + at_sent(run, first + 2 * j), now[j]);
      WB_UNROLL for (int j = 0; j < 4; j++) if (first + 2 * j < antennas) {
        WB_UNROLL for (int e = 0; e < 4; e += 2) {
          re = fma(now[j][e], now[j][e], re);
          im = fma(now[j][e + 1], now[j][e + 1], im);
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
  WB_HD void store_sent(std::size_t vector, const float* from, float factor) const {
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
  /// Sends vectors `first` to `first` + at_once - 1 of the group of `count` vectors from number `number` on,
  /// whose H is at h. If the group has fewer, its last one is sent several times.
  WB_HD void send(const float* h, ring_position at, int first, int count, std::size_t number) const {
    const float* const slot = this->slots()[at.stage / 2];
    const int begin = base::group * (at.stage % 2);
    const auto vector = [&](int i) { return first + i < count ? first + i : count - 1; };
    const float* x[at_once];
    WB_UNROLL for (int i = 0; i < at_once; i++) x[i] =
        slot + Shape::right + (begin + vector(i)) * Shape::side_floats;
    weigh_antennas(h, x);
    constexpr int parts = 4;  // each takes every fourth vector
    float factors[(at_once + parts - 1) / parts];
    WB_UNROLL for (int i = 0; i < at_once; i += parts) {
      const int mine = i + part < at_once ? i + part : at_once - 1;
      factors[i / parts] =
          factor_of(scratch + mine * sent_floats, slot[Shape::diagonal + begin + vector(mine)] > 0.f);
    }
    WB_UNROLL for (int i = 0; i < at_once; i++)
        store_sent(number + static_cast<std::size_t>(vector(i)), scratch + i * sent_floats,
                   __shfl_sync(0xffffffffu, factors[i / parts], antenna_runs * (i % parts)));
    __syncwarp();
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
