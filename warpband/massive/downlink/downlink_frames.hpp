#pragma once
// The precoder for 16 users on a CUDA device. It computes what downlink_op.hpp computes, with the same bits.
//
// A block takes every gridDim.x-th frame. For each frame:
//
//   1. All threads wait for the copy of H into shared memory (`stage_channel`).
//   2. Warp 0 sums H^H H (uplink/frame_sums.hpp), stores it as a `whole_matrix` and decomposes it.
//   3. Every warp takes vectors of its own, two at a time: A x' = s, m = H x', and stores m normalised.
//   4. All threads start the copy of the next frame's H.
//
// In step 3 lane l has the antennas l / 8, l / 8 + 4, ... of run l % 8. So H is read without bank conflicts,
// once for two vectors.
//
// Order of sums: that of downlink_op.hpp. The squares of a run are added in order by one lane for real and
// one for imaginary parts.
//
// Shared memory: H, the sums of the frame (`frame_shape`), and `work_floats` for each warp.
//
// Barriers: a block barrier, or `__syncwarp` for blocks of one warp, after each step.
#include <warpband/exec/async_copies.hpp>
#include <warpband/massive/downlink/downlink_op.hpp>
#include <warpband/massive/downlink/frame_factor.hpp>

namespace wb {
inline namespace WB_ISA {

/// Sizes of a kernel: one warp for frames of one vector, four or eight for frames of several.
template <int Warps>
struct send_shape {
  static constexpr int users = 16, warps = Warps, threads = 32 * warps, sides = warps > 1 ? 2 : 1;
  /// Blocks that a multiprocessor must hold. The sums of a triangle need about 168 registers a thread.
  static constexpr int resident = warps == 1 ? 10 : warps == 4 ? 3 : 1;
  using frame = frame_factor::Shape;
  // For each vector of a warp: memory of the solver; its symbols and its solution.
  static constexpr int solver_floats = 8 * users, side_floats = 4 * users;
  static constexpr int good = frame::work, results = good + 4;  // floats of what all warps share
  static int work_floats(int run_log2) {
    return sides * (solver_floats + side_floats + (2 * antenna_runs << run_log2));
  }
  static frame_plan plan(const massive_args& a) {
    frame_plan p = frame_plan::of_samples(a.antennas, users, 0, false, false);
    p.floats = p.sums + results + warps * work_floats(p.run_log2);
    return p;
  }
};

/// A block's work. All threads call `work_on` once.
template <int Warps>
struct frame_sender : frame_factor {
  using Shape = send_shape<Warps>;
  const frame_plan& p;
  float* h;
  int warp, run, part;                    // the lane's run of eight, and which antennas of it
  float *work, *symbols, *solved, *sent;  // of this warp; the last three for each vector
  int sent_floats;

  WB_HD frame_sender(const massive_args& args, const frame_plan& plan, float* shared)
      : frame_factor(args, shared + plan.sums),
        p(plan),
        h(shared),
        warp(static_cast<int>(threadIdx.x) / 32),
        run(lane % antenna_runs),
        part(lane / antenna_runs),
        sent_floats(2 * antenna_runs << plan.run_log2) {
    work = results + Shape::results +
           warp * Shape::sides * (Shape::solver_floats + Shape::side_floats + sent_floats);
    symbols = work + Shape::sides * Shape::solver_floats;
    solved = symbols + 2 * U * Shape::sides;
    sent = solved + 2 * U * Shape::sides;
  }
  WB_HD int antennas_of(int r) const { return antennas_of_run(p, a.antennas, r); }
  WB_HD static void meet_all() {
    if constexpr (Shape::warps == 1)
      __syncwarp();
    else
      __syncthreads();
  }

  /// H x' of N vectors, to `sent`: antenna j of run r at 8 j + r.
  template <int N>
  WB_HD void weigh_antennas() const {
    const int antennas = antennas_of(run);
    WB_ROLL for (int first = part; first < antennas; first += 16) {
      const float* row = h + at_run(p, run) + 2 * U * first;
      float re[N][4][2] = {}, im[N][4][2] = {};
#pragma unroll 2
      for (int u = 0; u < U; u += 2) {
        float z[N][4];
        WB_UNROLL for (int s = 0; s < N; s++) load4(solved + 2 * U * s + 2 * u, z[s]);
        WB_UNROLL for (int i = 0; i < 4; i++) {
          float x[4];
          load4(row + 8 * U * i + 2 * u, x);
          WB_UNROLL for (int e = 0; e < 2; e++) {
            WB_UNROLL for (int s = 0; s < N; s++) {
              WB_UNROLL for (int q = 0; q < 2; q++) {
                re[s][i][q] = fma(x[2 * e], z[s][2 * e + q], re[s][i][q]);
                im[s][i][q] = fma(x[2 * e + 1], z[s][2 * e + q], im[s][i][q]);
              }
            }
          }
        }
      }
      WB_UNROLL for (int i = 0; i < 4; i++) {
        const int j = first + 4 * i;
        if (j >= antennas) break;
        WB_UNROLL for (int s = 0; s < N; s++) *
            reinterpret_cast<float2*>(sent + s * sent_floats + 2 * (antenna_runs * j + run)) = {
            re[s][i][0] - im[s][i][1], re[s][i][1] + im[s][i][0]};
      }
    }
  }
  /// |m|^2. With two vectors, the lower half of the warp has that of the first and the upper half that of the
  /// second.
  WB_HD float energy_sent() const {
    const int antennas = antennas_of(run), side = Shape::sides == 2 ? part / 2 : 0;
    const float* x = sent + side * sent_floats + 2 * run + part % 2;
    float sum = 0.f;
    WB_ROLL for (int first = 0; first < antennas; first += 8) {
      float now[8];
      WB_UNROLL for (int j = 0; j < 8; j++) if (first + j < antennas) now[j] =
          x[2 * antenna_runs * (first + j)];
      WB_UNROLL for (int j = 0; j < 8; j++) if (first + j < antennas) sum = fma(now[j], now[j], sum);
    }
    WB_UNROLL for (int step = antenna_runs / 2; step > 0; step /= 2) sum =
        sum + __shfl_xor_sync(0xffffffffu, sum, step);
    return sum + __shfl_xor_sync(0xffffffffu, sum, antenna_runs);
  }

  /// Precodes and stores N vectors from `vector` on, by one warp, after `prepare`.
  template <int N>
  WB_HD void send(std::size_t vector, const float2 (&column)[U], bool good) const {
    const int u = row(), half = frame_factor::half();
    float b[N];
    WB_UNROLL for (int s = 0; s < N; s++) {
      const cx_pair* from = a.in.data + (vector + static_cast<std::size_t>(s)) * a.in.item_stride +
                            static_cast<std::size_t>(u) * a.in.element_stride;
      b[s] = reinterpret_cast<const float*>(from)[half];
      symbols[2 * U * s + 2 * u + half] = b[s];
    }
    __syncwarp();
    bool fine[N];
    WB_UNROLL for (int s = 0; s < N; s++) fine[s] = energy_of<U>(symbols + 2 * U * s) <= 1e24f;
    WB_UNROLL for (int s = 0; s < N; s++) b[s] = select(fine[s], b[s], 0.f);
    if (a.mode == massive_mode::cg) {
      WB_UNROLL for (int s = 0; s < N; s++) b[s] = gradients(column, b[s], work + s * Shape::solver_floats);
    } else {
      substitute<N>(b, work);
    }
    WB_UNROLL for (int s = 0; s < N; s++) solved[2 * U * s + 2 * u + half] = b[s];
    __syncwarp();
    weigh_antennas<N>();
    __syncwarp();
    const float powers = energy_sent();
    WB_UNROLL for (int s = 0; s < N; s++) {
      const float power = __shfl_sync(0xffffffffu, powers, 16 * s);
      const bool kept = good & fine[s] & (power <= 1e37f), some = power > 1e-30f;
      const float factor =
          select(some, (a.unit_power ? 1.f : a.symbol_energy) / sqrt(select(some, power, 1.f)), 0.f);
      cx_pair* to = a.out.data + (vector + static_cast<std::size_t>(s)) * a.out.item_stride;
      const int antennas = antennas_of(run);
      for (int j = part; j < antennas; j += 4) {
        const float2 x =
            *reinterpret_cast<const float2*>(sent + s * sent_floats + 2 * (antenna_runs * j + run));
        to[static_cast<std::size_t>((run << p.run_log2) + j) * a.out.element_stride] = {
            select(kept, factor * x.x, 0.f) + 0.f, select(kept, factor * x.y, 0.f) + 0.f};
      }
      if (a.status.data && lane == 0)
        a.status.data[(vector + static_cast<std::size_t>(s)) * a.status.item_stride] =
            kept ? std::uint8_t{0} : status_erased;
    }
    __syncwarp();
  }

  WB_HD void work_on(std::size_t first, std::size_t last) const {
    std::size_t frame = first + blockIdx.x;
    const int rank = static_cast<int>(threadIdx.x);
    stage_channel<U, Shape::threads>(h, a, p, frame, rank);
    float* good = results + Shape::good;
    WB_ROLL for (; frame < last; frame += gridDim.x) {
      async_copies::wait();
      meet_all();
      if (warp == 0) {
        frame_sums<Matrix, false, false, false, false, no_wait>(h, nullptr, results, nullptr, a.antennas, p)
            .triangle(0);
        __syncwarp();
        const bool is_good = prepare(frame);
        if (lane == 0) *good = is_good ? 1.f : 0.f;
      }
      meet_all();
      const bool is_good = *good > 0.f;
      float2 column[U];
      if (a.mode == massive_mode::cg) column_of(column);
      const std::size_t vectors = frame * static_cast<std::size_t>(a.symbols);
      if constexpr (Warps > 1) {
        if (a.symbols > Shape::warps) {
          WB_ROLL for (int k = 2 * warp; k < a.symbols; k += 2 * Shape::warps) {
            // An odd last vector goes with the one before it, which is computed twice.
            const int at = k + 1 < a.symbols ? k : k - 1;
            send<2>(vectors + static_cast<std::size_t>(at), column, is_good);
          }
        } else if (warp < a.symbols) {
          send<1>(vectors + static_cast<std::size_t>(warp), column, is_good);
        }
      } else {
        send<1>(vectors, column, is_good);
      }
      meet_all();
      if (frame + gridDim.x < last) stage_channel<U, Shape::threads>(h, a, p, frame + gridDim.x, rank);
    }
  }
};

template <int Warps>
__global__ void __launch_bounds__(send_shape<Warps>::threads, send_shape<Warps>::resident)
    precode_frames(const __grid_constant__ massive_args a, const __grid_constant__ frame_plan p,
                   std::size_t first, std::size_t last) {
  extern __shared__ __align__(128) float shared[];
  frame_sender<Warps>(a, p, shared).work_on(first, last);
}

/// Defined in downlink_16_kernels.cpp.
int launch_sent_frames_of_16(const massive_args& a, const place& where);

/// Warps of a block: more for longer frames, of which a call has fewer.
inline int sending_warps(const massive_args& a) { return a.symbols == 1 ? 1 : a.symbols < 32 ? 4 : 8; }

/// Whether the kernels here can take a call. H is copied in pieces of 16 bytes.
inline bool fits_sent_frames(const massive_args& a, const device_limits& limits) {
  if (a.users != 16 || a.antennas % 2 != 0 || a.antennas < 16 || a.half_channel.data != nullptr) return false;
  if (a.mode == massive_mode::jacobi_cg || a.mode == massive_mode::mf) return false;
  if (a.channel.element_stride != 1 || a.channel.item_stride % 2 != 0 ||
      reinterpret_cast<std::uintptr_t>(a.channel.data) % 16 != 0)
    return false;
  const int warps = sending_warps(a), floats = warps == 8   ? send_shape<8>::plan(a).floats
                                               : warps == 4 ? send_shape<4>::plan(a).floats
                                                            : send_shape<1>::plan(a).floats;
  return static_cast<std::size_t>(floats) * sizeof(float) <= limits.shared_bytes;
}

}  // namespace WB_ISA
}  // namespace wb
