#pragma once
// The precoder for 16 and 32 users on a CUDA device. It computes what downlink_op.hpp computes, with the same
// bits.
//
// A frame is one H (B antennas, U users) and the vectors s that share it. A multiprocessor runs one block; a
// block takes every gridDim.x-th frame. Its warps are specialised:
//
//   summing warps   H^H H (frame_sums.hpp), in teams of `send_roles::team`, one frame a team
//   solver warps    A x = s (frame_solver.hpp), 32 / U frames a warp
//   sending warps   m = H x, normalised. With 32 users and a new H for each vector they are warps of their
//                   own. Otherwise each team sends too: the frame before the one that it has just summed,
//                   which has been solved by then.
//
// Rings in shared memory connect them (exec/ring.hpp; `send_plan` has the offsets and sizes):
//
//   channels   H of frames, a ring for each team. H stays until its frame is sent
//   slots      sums, from summing warps to solvers. Sending warps release them
//   solutions  from solvers to sending warps. Two stages in each slot: vectors go through a slot in groups of
//              `send_roles::group`, and one is solved while the other is sent
//
// Frame n of the block has team n % teams and slot n % slots.
//
// If a block has a single frame of several vectors, all its warps share that frame. Each solver works on a
// copy of the sums in a slot of its own and takes some of the groups. Solvers meet at named barrier 1.
//
// A sending lane l weighs the antennas l / 8, l / 8 + 4, ... of run l % 8. So H is read without bank
// conflicts, once for `send_roles::at_once` vectors. The squares of a run are added in order by one lane.
#include <warpband/exec/ring.hpp>
#include <warpband/exec/warp_roles.hpp>
#include <warpband/massive/downlink/downlink_op.hpp>
#include <warpband/massive/downlink/mapping.hpp>
#include <warpband/massive/frame_solver.hpp>
#include <warpband/massive/frame_sums.hpp>

namespace wb {
inline namespace WB_ISA {

/// What all warps share: frames, offsets and barriers.
template <int U, bool Many>
struct send_block {
  using Roles = send_roles<U, Many>;
  using Shape = frame_shape<U, Many>;
  static constexpr int group = Roles::group;
  const massive_args& a;
  const send_plan& p;
  float* shared;
  std::size_t first;
  int count, groups;  // frames of this block; groups of vectors of a frame
  bool alone;         // all warps share the block's only frame
  int lane;

  WB_HD send_block(const massive_args& args, const send_plan& plan, float* memory, std::size_t begin,
                   std::size_t end)
      : a(args),
        p(plan),
        shared(memory),
        first(begin + blockIdx.x),
        lane(static_cast<int>(threadIdx.x) % 32) {
    count = static_cast<int>((end - first + gridDim.x - 1) / gridDim.x);
    groups = (a.symbols + group - 1) / group;
    alone = Many && count == 1;
  }
  WB_HD std::size_t frame(int n) const { return first + static_cast<std::size_t>(n) * gridDim.x; }
  WB_HD std::size_t vector_number(int n, int g) const {
    return frame(n) * static_cast<std::size_t>(a.symbols) + static_cast<std::size_t>(g * group);
  }
  WB_HD int vectors_of(int g) const {
    const int left = a.symbols - g * group;
    return left < group ? left : group;
  }
  WB_HD std::uint64_t* barriers(int i) const {
    return reinterpret_cast<std::uint64_t*>(shared + p.barriers) + i;
  }
  /// H of the frames of a team; sums; solutions, in stages 2 s and 2 s + 1 those of slot s.
  WB_HD ring channels(int team) const {
    return {shared + team * p.buffers * p.buffer, barriers(team * p.buffers), p.buffers, p.buffer};
  }
  WB_HD ring slots() const {
    return {shared + p.slots_at, barriers(p.teams * p.buffers), p.slots, Shape::floats};
  }
  WB_HD ring solutions() const {
    return {nullptr, barriers(p.teams * p.buffers + 2 * p.slots), 2 * p.slots, 0};
  }
  /// Where group g of a frame goes: its stage of `solutions`. `slot`: the frame's.
  WB_HD ring_position group_at(ring_position slot, int g) const {
    if (alone) {
      const int i = g / workers();
      return {2 * (g % workers()) + i % 2, i / 2};
    }
    return {2 * slot.stage + g % 2, slot.phase * uses(g % 2) + g / 2};
  }
  /// Groups of a frame in a half of its slot.
  WB_HD int uses(int half) const { return (groups + 1 - half) / 2; }
  /// Warps of the teams; warps that share a frame; frames that are solved at once.
  WB_HD int summing() const { return Roles::team * p.teams; }
  WB_HD int sending() const { return alone ? summing() + p.senders : Roles::apart ? p.senders : Roles::team; }
  WB_HD int workers() const { return p.solvers * Roles::frames_of_solver; }

  /// By all threads of the block, before anything else. Ends with `__syncthreads`.
  WB_HD void begin() const {
    const int rank = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const int senders_of_group = Many ? 32 * sending() : 32;
    WB_ROLL for (int team = 0; team < p.teams; team++) channels(team).init(async_copies::bulk ? 1 : 32, 0);
    slots().init(32 * Roles::team, senders_of_group);
    solutions().init(U, senders_of_group);
    // Solvers also solve slots that have no frame; nothing of that is stored.
    WB_ROLL for (int i = rank; i < p.slots * Shape::floats; i += threads) slots()[0][i] = 0.f;
    async_copies::order_bulk();
    __syncthreads();
  }
};

/// A summing or sending warp. It calls `work` once.
template <int U, bool Many>
struct frame_sender : send_block<U, Many> {
  using base = send_block<U, Many>;
  using base::a, base::p, base::lane;
  using typename base::Roles;
  using typename base::Shape;
  static constexpr int at_once = Roles::at_once;
  bool sums, sends;
  int team, warp;       // this team; this warp of the team
  int sender, senders;  // this warp of those that share a frame, and their number
  int run, part;        // the lane's run of eight, and which antennas of it
  float* scratch;       // of this warp
  int sent_floats;      // of a vector in `scratch`

  WB_HD frame_sender(const base& b, int block_warp) : base(b) {
    const bool of_team = block_warp < b.summing();
    sums = of_team && (!b.alone || block_warp < Roles::team);
    sends = !of_team || !Roles::apart || b.alone;
    team = of_team && !b.alone ? block_warp / Roles::team : 0;
    warp = block_warp % Roles::team;
    sender = b.alone ? block_warp : Roles::apart ? block_warp - b.summing() : warp;
    senders = b.sending();
    run = lane % antenna_runs;
    part = lane / antenna_runs;
    scratch =
        b.shared + p.scratch + (Roles::apart ? block_warp - b.summing() : block_warp) * p.scratch_floats;
    sent_floats = 2 * antenna_runs << p.run_log2;
  }

  /// Starts to copy H of frame n of the team into a buffer, and commits. By one warp.
  WB_HD void load(ring_position at, int n) const {
    const std::size_t f = this->frame(n);
    const ring channels = this->channels(team);
    float* const to = channels[at.stage];
    if constexpr (async_copies::bulk) {
      if (lane != 0) return;
      const cx_pair* from = a.channel.data + f * a.channel.item_stride;
      WB_ROLL for (int r = 0; r < antenna_runs; r++) {
        const int antennas = antennas_of_run(p, a.antennas, r);
        if (antennas > 0)
          channels.copy(at, to + at_run(p, r), from + (U * r << p.run_log2), 8 * U * antennas);
      }
      channels.commit(at);
    } else {
      stage_channel<U, 32>(to, a, p, f, lane);
      channels.commit_copies(at);
    }
  }

  /// H^H H of the H at h to `to`, as soon as `ready` says that it is free.
  template <class Ready>
  WB_HD void square(const float* h, float* to, Ready ready) const {
    const frame_sums<U, Many, gram_sums, Ready> tiles(h, nullptr, to, nullptr, a.antennas, p, ready);
    if (U == 32 && warp < 2)
      tiles.rectangle(16 + 8 * warp);
    else
      tiles.triangle(U == 32 ? warp - 2 : 0);
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
    const bool some = power > 1e-30f;
    const float factor =
        select(some, (a.unit_power ? 1.f : a.symbol_energy) / sqrt(select(some, power, 1.f)), 0.f);
    return kept & (power <= 1e37f) ? factor : -1.f;
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
  /// This warp's share of all groups of frame n, whose H is at h.
  WB_HD void send_frame(const float* h, int n, ring_position slot) const {
    constexpr int shares = (base::group + at_once - 1) / at_once;
    const ring solutions = this->solutions();
    WB_ROLL for (int g = 0; g < this->groups; g++) {
      const ring_position at = this->group_at(slot, g);
      solutions.wait(at);
      const int count = this->vectors_of(g);
      WB_ROLL for (int i = 0; at_once * i < count; i++) {
        if (!Many || (shares * g + i) % senders == sender)
          send(h, at, at_once * i, count, this->vector_number(n, g));
      }
      solutions.release(at);
    }
    this->slots().release(slot);
  }

  /// Sums the H at h into a slot.
  WB_HD void sum_frame(const float* h, ring_position slot) const {
    const ring slots = this->slots();
    const auto ready = [&] { slots.acquire(slot); };
    if (a.mode == massive_mode::mf)
      ready();
    else
      square(h, slots[slot.stage], ready);
    slots.commit(slot);
  }
  /// The buffer of a frame that has been sent gets frame `next`. By the warp that has sent a single vector,
  /// or by the first sending warp.
  WB_HD void refill(ring_position at, ring_position slot, int next) const {
    if (next >= this->count || (Many && sender != 0)) return;
    this->slots().acquire(ring::once_more(slot));
    load(ring::once_more(at), next);
  }
  /// All frames of the warp's team.
  WB_HD void work() const {
    // A team that sends does so one frame later than it sums.
    const int step = p.teams, begin = team, later = Roles::apart ? 0 : step;
    const ring channels = this->channels(team), slots = this->slots();
    if (sender == 0 && sends) {
      WB_ROLL for (int k = 0; k < p.buffers && begin + k * step < this->count; k++)
          load({k, 0}, begin + k * step);
    }
    ring_position summed, summed_slot{begin}, sending, sending_slot{begin};
    WB_ROLL for (int k = 0, n = begin; n < this->count + later; k++, n += step) {
      if (sums && n < this->count) {
        channels.wait(summed);
        sum_frame(channels[summed.stage], summed_slot);
        channels.advance(summed, 1);
        slots.advance(summed_slot, step);
      }
      if (!sends || n - later < begin) continue;
      const int nth = Roles::apart ? k : k - 1;
      // A single vector is sent by each of the warps in turn.
      if (Many || nth % senders == sender) {
        channels.wait(sending);
        send_frame(channels[sending.stage], n - later, sending_slot);
        refill(sending, sending_slot, n - later + p.buffers * step);
      }
      channels.advance(sending, 1);
      slots.advance(sending_slot, step);
    }
  }
};

/// Solver warp number `solver`: all its frames.
template <int U, bool Many>
WB_HD void solve_sent_frames(const send_block<U, Many>& block, int solver) {
  using Roles = send_roles<U, Many>;
  using Shape = frame_shape<U, Many>;
  constexpr int frames = Roles::frames_of_solver, group = Roles::group;
  const massive_args& a = block.a;
  const int sub = block.lane / U, row = block.lane % U, own = solver * frames, worker = own + sub;
  const int step = block.workers(), begin = block.alone ? 0 : own;
  const ring slots = block.slots(), solutions = block.solutions();
  ring_position slot{worker};
  WB_ROLL for (int n = begin; n < block.count; n += step, slots.advance(slot, step)) {
    // A half warp without a frame solves zeros.
    const bool exists = block.alone || n + sub < block.count;
    const int frame = block.alone || !exists ? n : n + sub;
    const int groups = block.alone ? (block.groups + step - 1) / step : block.groups;  // of this worker
    // The lane's symbols of the i-th group of the worker.
    cx_pair symbols[group];
    int vectors = 0;
    const auto group_number = [&](int i) { return block.alone ? worker + i * step : i; };
    const auto fetch = [&](int i) {
      const int g = group_number(i);
      vectors = exists && g < block.groups ? block.vectors_of(g) : 0;
      const cx_pair* from = a.in.data + block.vector_number(frame, g) * a.in.item_stride +
                            static_cast<std::size_t>(row) * a.in.element_stride;
      WB_UNROLL for (int k = 0; k < group; k++) {
        if (k < vectors) symbols[k] = from[static_cast<std::size_t>(k) * a.in.item_stride];
      }
    };
    const float noise_var = a.noise_var.data[block.frame(frame) * a.noise_var.item_stride];
    fetch(0);
    float* const results = slots[slot.stage];
    frame_solver<U, Many> work(a, results);
    if (block.alone) {
      slots.wait({0, 0});
      if (a.mode != massive_mode::mf) {
        WB_ROLL for (int i = own == 0 ? 1 : 0; i < frames; i++)
            work.copy_sums(slots[0], slots[own + i], true);
      }
      meet_in_block(1, 32 * block.p.solvers);
    } else {
      WB_UNROLL for (int i = 0; i < frames; i++) {
        if (n + i < block.count) slots.wait({slot.stage - sub + i, slot.phase});
      }
    }
    if (a.mode == massive_mode::mf)
      work.take_noise(noise_var, 0.f);
    else
      work.prepare(noise_var, 0.f);
    WB_ROLL for (int i = 0; i < groups; i++) {
      const ring_position at = block.group_at(slot, group_number(i));
      const int first = group * (at.stage % 2), now = vectors;
      if (now > 0) solutions.acquire(at);
      WB_UNROLL for (int k = 0; k < group; k++) {
        if (k < now)
          *reinterpret_cast<float2*>(work.right(first + k) + 2 * row) = {symbols[k].re, symbols[k].im};
      }
      __syncwarp();
      if (i + 1 < groups) fetch(i + 1);
      const unsigned fine = work.judge(first, now);
      __syncwarp();
      work.solve_sides(first, group, first + now);
      if (row < now)
        results[Shape::diagonal + first + row] = work.good & ((fine >> row & 1) != 0) ? 1.f : 0.f;
      if (now > 0) solutions.commit(at);
      __syncwarp();
    }
  }
}

/// Frames `first` to `last` - 1, with p = `send_plan::of` and 32 `send_plan::warps` threads a block.
template <int U, bool Many>
__global__ void __launch_bounds__(send_roles<U, Many>::threads, 1)
    precode_frames(const __grid_constant__ massive_args a, const __grid_constant__ send_plan p,
                   std::size_t first, std::size_t last) {
  extern __shared__ __align__(128) float shared[];
  const send_block<U, Many> block(a, p, shared, first, last);
  block.begin();
  const int warp = warp_of_block(), sending = block.summing() + p.senders;
  if (warp < sending)
    frame_sender<U, Many>(block, warp).work();
  else
    solve_sent_frames(block, warp - sending);
}

/// Defined in downlink_*_kernels.cpp.
int launch_sent_frames_of_16(const massive_args& a, const place& where);
int launch_sent_frames_of_32(const massive_args& a, const place& where);

}  // namespace WB_ISA
}  // namespace wb
