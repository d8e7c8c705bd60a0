#pragma once
// The precoder for 8, 16, 24 and 32 users on a CUDA device. It computes what downlink_op.hpp computes, with
// the same bits.
//
// A frame is one H (B antennas, U users) and the vectors s that share it. A multiprocessor runs one block; a
// block takes every gridDim.x-th frame. Its warps are specialised:
//
//   summing warps   H^H H (frame_sums.hpp), in teams of `team` of the policy, one frame a team
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
//              `group` of the policy, and one is solved while the other is sent
//
// Frame n of the block has team n % teams and slot n % slots.
//
// If a block has a single frame of several vectors, all its warps share that frame. Each solver works on a
// copy of the sums in a slot of its own and takes some of the groups. Solvers meet at named barrier 1.
#include <warpband/exec/warp_roles.hpp>
#include <warpband/massive/downlink/send_block.hpp>
#include <warpband/massive/downlink/sent_vectors.hpp>
#include <warpband/massive/frame_solver.hpp>
#include <warpband/massive/frame_sums.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// A summing or sending warp. It calls `work` once.
template <class P>
struct frame_sender : send_block<P> {
  using base = send_block<P>;
  using base::a, base::p, base::lane, base::U, base::Many, base::group;
  using typename base::Shape;
  static constexpr int at_once = P::at_once;
  float* scratch;  // of this warp, if it sends
  bool sums, sends;
  int team, warp;       // this team; this warp of the team
  int sender, senders;  // this warp of those that share a frame, and their number

  WB_HD frame_sender(const send_block<P>& b, int block_warp)
      : base(b),
        scratch(b.shared + b.p.scratch +
                (P::apart ? block_warp - b.summing() : block_warp) * b.p.scratch_floats) {
    const bool of_team = block_warp < b.summing();
    sums = of_team && (!b.alone || block_warp < P::team);
    sends = !of_team || !P::apart || b.alone;
    team = of_team && !b.alone ? block_warp / P::team : 0;
    warp = block_warp % P::team;
    sender = b.alone ? block_warp : P::apart ? block_warp - b.summing() : warp;
    senders = b.sending();
  }

  /// Starts to copy H of frame n of the team into a buffer, and commits. By one warp.
  WB_HD void load(ring_position position, int n) const {
    const std::size_t f = this->frame(n);
    const ring channels = this->channels(team);
    float* const to = channels[position.stage];
    if constexpr (async_copies::bulk) {
      if (lane != 0) return;
      const cx_pair* from = a.channel.data + f * a.channel.item_stride;
      WB_ROLL for (int r = 0; r < antenna_runs; r++) {
        const int antennas = antennas_of_run(p, a.antennas, r);
        if (antennas > 0)
          channels.copy(position, to + at_run(p, r), from + (U * r << p.run_log2), 8 * U * antennas);
      }
      channels.commit(position);
    } else {
      stage_channel<U, 32>(to, a, p, f, lane);
      channels.commit_copies(position);
    }
  }

  /// H^H H of the H at h to `to`, as soon as `ready` says that it is free.
  template <class Ready>
  WB_HD void square(const float* h, float* to, Ready ready) const {
    const frame_sums<U, Many, gram_sums, Ready> tiles(h, nullptr, to, nullptr, a.antennas, p, ready);
    [[maybe_unused]] constexpr int rectangles = P::team > 1 ? (U - 16) / 8 : 0;
    if (warp < rectangles)
      tiles.rectangle(16 + 8 * warp);
    else
      tiles.triangle(warp - rectangles);
  }

  /// Sends vectors `first` to `first` + at_once - 1 of the group of `count` vectors from number `number` on,
  /// whose H is at h. If the group has fewer, its last one is sent several times.
  WB_HD void send(const float* h, ring_position position, int first, int count, std::size_t number) const {
    const float* const slot = this->slots()[position.stage / 2];
    const int begin = group * (position.stage % 2);
    const auto vector = [&](int i) { return first + i < count ? first + i : count - 1; };
    const float* x[at_once];
    WB_UNROLL for (int i = 0; i < at_once; i++) x[i] =
        slot + Shape::right + (begin + vector(i)) * Shape::side_floats;
    const sent_vectors<U> sent(a, p, lane);
    const int part = sent.part, sent_floats = sent.sent_floats;
    sent.template weigh<4, 1>(0, h + at_run(p, sent.run), 0, antennas_of_run(p, a.antennas, sent.run), x,
                              at_once, scratch);
    __syncwarp();
    constexpr int parts = 4;  // each takes every fourth vector
    float factors[(at_once + parts - 1) / parts];
    WB_UNROLL for (int i = 0; i < at_once; i += parts) {
      const int index = i + part < at_once ? i + part : at_once - 1;
      factors[i / parts] =
          sent.factor_of(scratch + index * sent_floats, slot[Shape::diagonal + begin + vector(index)] > 0.f);
    }
    WB_UNROLL for (int i = 0; i < at_once; i++)
        sent.store(number + static_cast<std::size_t>(vector(i)), scratch + i * sent_floats,
                   __shfl_sync(0xffffffffu, factors[i / parts], antenna_runs * (i % parts)));
    __syncwarp();
  }
  /// This warp's share of all groups of frame n, whose H is at h.
  WB_HD void send_frame(const float* h, int n, ring_position slot) const {
    constexpr int shares = (group + at_once - 1) / at_once;
    const ring solutions = this->solutions();
    WB_ROLL for (int g = 0; g < this->groups; g++) {
      const ring_position position = this->group_at(slot, g);
      solutions.wait(position);
      const int count = this->vectors_of(g);
      WB_ROLL for (int i = 0; at_once * i < count; i++) {
        if (!Many || (shares * g + i) % senders == sender)
          send(h, position, at_once * i, count, this->vector_number(n, g));
      }
      solutions.release(position);
    }
    this->slots().release(slot);
  }

  /// Sums the H at h into a slot.
  WB_HD void sum_frame(const float* h, ring_position slot) const {
    const ring slots = this->slots();
    const auto ready = [&] { slots.acquire(slot); };
    if (a.solver == massive_solver::mf)
      ready();
    else
      square(h, slots[slot.stage], ready);
    slots.commit(slot);
  }
  /// The buffer of a frame that has been sent gets frame `next`. By the warp that has sent a single vector,
  /// or by the first sending warp.
  WB_HD void refill(ring_position position, ring_position slot, int next) const {
    if (next >= this->count || (Many && sender != 0)) return;
    this->slots().acquire(ring::once_more(slot));
    load(ring::once_more(position), next);
  }
  /// All frames of the warp's team.
  WB_HD void work() const {
    // A team that sends does so one frame later than it sums.
    const int step = p.teams, begin = team, later = P::apart ? 0 : step;
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
      const int nth = P::apart ? k : k - 1;
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

/// Waits for the sums of the frames that a solver warp has from frame n and slot `first_slot` on. If the
/// warps share a frame, each slot gets a copy of its sums.
template <class P>
WB_HD void wait_for_sums(const send_block<P>& block, ring_position slot, int n, int first_slot) {
  using solver = frame_solver<P::users, P::many>;
  constexpr int frames = P::shape::frames;
  const ring slots = block.slots();
  if (!block.alone) {
    const int first = slot.stage - block.lane / P::shape::lanes;
    WB_UNROLL for (int i = 0; i < frames; i++) {
      if (n + i < block.count) slots.wait({first + i, slot.phase});
    }
    return;
  }
  slots.wait({0, 0});
  if (block.a.solver != massive_solver::mf) {
    WB_ROLL for (int i = first_slot == 0 ? 1 : 0; i < frames; i++)
        solver::copy_sums(slots[0], slots[first_slot + i], true);
  }
  meet_in_block(1, 32 * block.p.solvers);
}

/// Solver warp number `solver`: all its frames.
template <class P>
WB_HD void solve_sent_frames(const send_block<P>& block, int solver) {
  using Shape = typename P::shape;
  constexpr int U = P::users, frames = Shape::frames, group = P::group;
  const massive_args& a = block.a;
  const int sub = block.lane / Shape::lanes, row = block.lane % U, first_slot = solver * frames,
            worker = first_slot + sub;
  const int step = block.workers(), begin = block.alone ? 0 : first_slot;
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
    frame_solver<U, P::many> work(a, results);
    wait_for_sums(block, slot, n, first_slot);
    if (a.solver == massive_solver::mf)
      work.take_noise(noise_var, 0.f);
    else
      work.prepare(noise_var, 0.f);
    WB_ROLL for (int i = 0; i < groups; i++) {
      const ring_position position = block.group_at(slot, group_number(i));
      const int first = group * (position.stage % 2), vector_count = vectors;
      if (vector_count > 0) solutions.acquire(position);
      WB_UNROLL for (int k = 0; k < group; k++) {
        if (k < vector_count)
          *reinterpret_cast<float2*>(work.right(first + k) + 2 * row) = {symbols[k].re, symbols[k].im};
      }
      __syncwarp();
      if (i + 1 < groups) fetch(i + 1);
      const unsigned fine = work.judge(first, vector_count);
      __syncwarp();
      work.solve_sides(first, group, first + vector_count);
      if (row < vector_count)
        results[Shape::diagonal + first + row] = work.good & ((fine >> row & 1) != 0) ? 1.f : 0.f;
      if (vector_count > 0) solutions.commit(position);
      __syncwarp();
    }
  }
}

/// Frames `first` to `last` - 1, with p = `send_plan::of` and `send_plan::threads` threads a block.
template <class P>
__global__ void __launch_bounds__(32 * P::warps, 1)
    precode_frames(const __grid_constant__ massive_args a, const __grid_constant__ send_plan p,
                   std::size_t first, std::size_t last) {
  extern __shared__ __align__(128) float shared[];
  const send_block<P> block(a, p, shared, first, last);
  block.begin();
  const int warp = warp_of_block(), sending = block.summing() + p.senders;
  if (warp < sending)
    frame_sender<P>(block, warp).work();
  else
    solve_sent_frames(block, warp - sending);
}
#endif

}  // namespace WB_ISA
}  // namespace wb
