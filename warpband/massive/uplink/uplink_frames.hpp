#pragma once
// The detector for 8, 16, 24 and 32 users on a CUDA device. It computes what uplink_op.hpp computes. With
// float32 sums it gives the same bits.
//
// A frame is one H (B antennas, U users) and the vectors y that share it. A multiprocessor runs one block; a
// block takes every gridDim.x-th frame. Its warps are specialised:
//
//   producer warps   sum over antennas: H^H H and H^H y (frame_sums.hpp, tensor_sums.hpp). They work in
//                    teams, one frame a team.
//   solver warps     turn the sums into symbols and LLRs (frame_estimates.hpp), 32 / U frames a warp.
//
// Rings in shared memory connect them (exec/ring.hpp; `frame_plan` has the offsets and sizes):
//
//   device memory -> `channels` (and `vectors`) -> producers -> `slots` -> solvers
//
// A stage of `channels` (a buffer) holds H of a frame, or half of its antennas where `parts` is 2. Part i of
// frame n of the block is in buffer (parts n + i) % buffers. Producers refill a buffer as soon as they have
// read it: it is never held while a frame is solved. A single y is copied together with its H, into vector
// area n % areas. Where frames have several, each team has a stage of `vectors`.
//
// Frame n has team n % teams and slot n % slots. A slot is filled once for each group of the frame's vectors.
//
// Teams meet at named barriers 1 + team, all solvers of a block's only frame at named barrier 2.
//
// If a block has a single frame of 16 users and several vectors, all its teams and solvers share that frame.
//
// Read first: mapping.hpp (what is built, and the shared memory of a block), frame_block.hpp (the rings, and
// how they are filled). Then `frame_team::work` and `solve_frames` here.
#include <warpband/exec/warp_roles.hpp>
#include <warpband/massive/uplink/frame_block.hpp>
#include <warpband/massive/uplink/frame_estimates.hpp>
#include <warpband/massive/uplink/tensor_sums.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
static_assert(frame_runs == antenna_runs);

/// A team of producer warps. All its threads call `work` once.
template <class P>
struct frame_team : frame_loads<P> {
  using base = frame_loads<P>;
  using base::copiers, base::rank, base::sharer, base::sharers, base::team, base::warp;
  using base::load, base::load_vectors, base::meet, base::half_in, base::shared_rank, base::shared_threads;
  using base::U, base::Many, base::Tensor;
  using base::unpack_channel, base::unpack_vectors;
  using typename base::Shape;

  WB_HD explicit frame_team(const frame_block<P>& b) : base(b) {}

  /// Scratch memory of the team. Where frames have two parts it is double-buffered, since a warp of the team
  /// may still write the results of the frame before.
  WB_HD float* scratch(bool odd) const {
    return this->shared + this->p.scratch + P::scratch * team + (P::parts > 1 && odd ? P::scratch / 2 : 0);
  }
  /// Makes operands for tensor cores of H, if it is `fresh`, and of `count` vectors. The operands overwrite
  /// the floats they are made of. `gap` and `from_gap` are the extra offset of the second part of H. Ends
  /// with the threads that share the frame having met.
  template <bool Halves>
  WB_HD void make_operands(float* h, float* y, const float* from_h, const float* from_y, float* scratch,
                           int gap, int from_gap, bool fresh, int count) const {
    const frame_operands<U, Many, Halves> make{
        this->p, this->a.antennas, shared_rank(), shared_threads(), h, y, from_h,
        from_y,  scratch,          gap,           from_gap};
    if (fresh) make.sum();
    if constexpr (Many) make.split_vectors(count);
    meet();
    if (!fresh) return;
    make.split();
    meet();
  }
  /// Calls f with what sums the H at h and the vectors at y into `results`. `ready` runs before the first
  /// result is written.
  template <class Ready, class F>
  WB_HD void with_sums(const float* h, const float* y, float* results, float* scratch, int gap, Ready ready,
                       F f) const {
    if constexpr (!Tensor)
      f(frame_sums<U, Many, typename P::sums, Ready>(h, y, results, scratch + run_scratch * warp,
                                                     this->a.antennas, this->p, ready));
    else if (half_in())
      f(tensor_sums<U, Many, true, Ready>(h, y, results, scratch, gap, this->p, ready));
    else
      f(tensor_sums<U, Many, false, Ready>(h, y, results, scratch, gap, this->p, ready));
  }
  /// H^H H, and where a frame has a single vector also H^H y. The warps of a team take disjoint tiles.
  template <class Sums>
  WB_HD void square(const Sums& sums) const {
    [[maybe_unused]] constexpr int rectangles = (U - 16) / 8;
    if constexpr (Tensor) {
      // Diagonal tiles need more products than the others. The two teams give them to different warps, which
      // balances the tensor cores of the multiprocessor.
      const int part = U == 16 ? warp : warp ^ team % 2 * 2;
      if (part < U / 16)
        sums.square(part);
      else if constexpr (U == 32)
        sums.beside(part - 2);
    } else if (warp < rectangles) {
      sums.rectangle(16 + 8 * warp);
    } else {
      sums.triangle(P::team > 1 ? warp - rectangles : 0);
    }
  }
  /// H^H y of `count` vectors.
  template <class Sums>
  WB_HD void filter(const Sums& sums, int count) const {
    // If teams share a frame, the first one sums H^H H and the others H^H y.
    const bool shares = sharers > 1;
    if (shares && sharer == 0) return;
    if constexpr (!Tensor) {
      sums.filters_of(shares ? sharer - 1 : warp, shares ? sharers - 1 : P::team, count);
    } else if constexpr (U == 16) {
      if (warp == P::team - 1 && (!shares || sharer == 1)) sums.template filters<2>(0, 0, count);
    } else {
      const int side = 8 * (warp / 2);
      if (side < count) sums.template filters<1>(warp % 2, side, count);
    }
  }

  /// Where a team is: frame n of the block, its first buffer and its slot. The area of its single vector, or
  /// the position of its team in `vectors`. And which half of `scratch` it uses.
  struct progress {
    int n;
    ring_position buffer, slot, vectors;
    int area;
    bool odd;
  };
  static constexpr int parts = P::parts;
  static constexpr bool slots_change = slots_change_teams<P>();
  WB_HD ring_position buffer_of(const progress& state, int part) const {
    return part == 0 ? state.buffer : this->channels().after(state.buffer, part);
  }
  /// Releases the frame's buffers, and starts the copies of the frames that follow there.
  WB_HD void refill(const progress& state) const {
    const ring channels = this->channels();
    if constexpr (base::all_release) {
      WB_UNROLL for (int i = 0; i < parts; i++) channels.release(buffer_of(state, i));
    }
    WB_UNROLL for (int i = 0; i < parts; i++) {
      const int next = state.n + (this->p.buffers + i) / parts;
      const ring_position to = ring::once_more(buffer_of(state, i));
      if (base::all_release && warp < copiers) channels.acquire(to);
      if (next >= this->count) continue;
      load(to, state.area, next, (this->p.buffers + i) % parts);
      if (P::buffers_change && !base::all_release && rank == 0) channels.release(buffer_of(state, i));
    }
  }
  /// Waits for group g of the frame, and sums it into the frame's slot.
  WB_HD void sum_group(progress& state, int g) const {
    const frame_plan& p = this->p;
    const ring channels = this->channels(), slots = this->slots();
    const int side_count = this->count_of(g);
    if (g == 0) {
      WB_UNROLL for (int i = 0; i < parts; i++) {
        if constexpr (P::buffers_change)
          channels.wait_in_turn(buffer_of(state, i));
        else
          channels.wait(buffer_of(state, i));
      }
    }
    if constexpr (Many) this->vectors().wait(state.vectors), state.vectors.phase++;
    float *const buffer = channels[state.buffer.stage], *const scratch = this->scratch(state.odd);
    // If the ring ends between the two parts, the second one is in buffer 0.
    const int gap = parts > 1 && buffer_of(state, 1).stage == 0 ? -p.buffers * p.buffer : 0;
    float *h = buffer, *y = Many ? this->vectors()[team] : this->vector_area(state.area);
    if (half_in()) {
      float* const unpacked = this->shared + p.unpacked_at + team * p.sums;
      const float* halves = y;
      h = unpacked, y = unpacked + p.y;
      if constexpr (Tensor) {
        make_operands<true>(h, y, buffer, halves, scratch, 0, gap, g == 0, side_count);
      } else {
        if constexpr (base::apart) meet();  // all have read the floats of the frame before
        if (g == 0) unpack_channel(buffer, unpacked);
        unpack_vectors(halves, unpacked, side_count);
        meet();
      }
    } else if constexpr (Tensor) {
      make_operands<false>(h, y, nullptr, nullptr, scratch, gap, 0, g == 0, side_count);
    }
    const ring_position to{state.slot.stage, state.slot.phase + g};
    const auto ready = [&] {
      if constexpr (parts > 1) {
        async_copies::order_bulk();
        refill(state);
      }
      if constexpr (slots_change)
        slots.acquire_in_turn(to);
      else
        slots.acquire(to);
    };
    with_sums(h, y, slots[to.stage], scratch, half_in() ? 0 : gap, ready, [&](const auto& sums) {
      if (!P::filters_first && g == 0 && sharer == 0) square(sums);
      if constexpr (Many) filter(sums, side_count);
      if constexpr (P::filters_first) {
        meet();
        load_next_vectors(state.n, g);  // they overwrite these while H^H H is summed
        if (g == 0) square(sums);
      }
    });
    slots.commit(to);
    if constexpr (Tensor && parts == 1) async_copies::order_bulk();  // after operands in the buffer
    if (!base::all_release || (parts > 1 && half_in())) meet();
    if constexpr (Many && !P::filters_first) load_next_vectors(state.n, g);
  }
  /// Starts to copy the vectors of the group after group g of frame n.
  WB_HD void load_next_vectors(int n, int g) const {
    const bool last = g + 1 == this->groups;
    if (!last || n + this->p.teams < this->count)
      load_vectors(this->frame(last ? n + this->p.teams : n), last ? 0 : g + 1);
  }

  /// All frames of the team: each is loaded, converted where needed, and summed into its slot. Its buffers
  /// are refilled as soon as they have been read.
  WB_HD void work() const {
    const frame_plan& p = this->p;
    WB_ROLL for (int n = team; n * parts < p.buffers && n < this->count; n += p.teams) {
      WB_UNROLL for (int i = 0; i < parts; i++) {
        if (parts * n + i < p.buffers) load({parts * n + i, 0}, n, n, i);
      }
    }
    if (Many && team < this->count) load_vectors(this->frame(team), 0);
    progress state{team, {parts * team}, {team}, {team}, team, false};
    WB_ROLL for (; state.n < this->count; state.n += p.teams) {
      WB_ROLL for (int g = 0; g < this->groups; g++) sum_group(state, g);
      if constexpr (parts == 1) refill(state);
      this->channels().advance(state.buffer, parts * p.teams);
      this->slots().advance(state.slot, p.teams, this->groups);
      state.area += p.teams;
      if (state.area >= p.areas) state.area -= p.areas;
      state.odd = !state.odd;
    }
  }
};

/// Solver warp number `solver`: all its frames. It waits for its slots and releases them.
template <class P>
WB_HD void solve_frames(const frame_block<P>& block, int solver) {
  using Shape = typename P::shape;
  constexpr bool Many = P::many;
  constexpr int frames = Shape::frames;
  // first_slot is the first of this warp's slots, from the first of those that producers fill for it.
  const int sub = static_cast<int>(threadIdx.x) % 32 / Shape::lanes, first_slot = solver * frames,
            slot = first_slot + sub, from = block.alone ? 0 : first_slot;
  const ring slots = block.slots();
  int phase = 0;
  const auto of_solver = [&](int n) { return block.frame(n + sub < block.count ? n + sub : n); };
  const auto noise_var_of = [&](std::size_t frame) {
    return block.a.noise_var.data[frame * block.a.noise_var.item_stride];
  };
  float noise_var = from < block.count ? noise_var_of(of_solver(from)) : 1.f;
  WB_ROLL for (int n = from; n < block.count; n += block.p.slots, phase += block.groups) {
    // A half warp without a frame takes some vectors of the other half's frame. If a block has a single
    // frame, all half warps share its vectors. Each works on a copy of the sums in its own slot.
    const bool exists = n + sub < block.count, divided = Many && frames == 2 && n + 1 >= block.count;
    const vector_share share = !divided      ? vector_share{0, 1}
                               : block.alone ? vector_share{slot, block.p.slots}
                                             : vector_share{sub, frames};
    const std::size_t frame = of_solver(n);
    // `slots[slot]` would make the kernel of 32 users and a new H 5 % larger.
    frame_estimates<P::users, Many, P::solved_at_once> work(block.a, block.slots()[slot], exists || divided);
    WB_ROLL for (int g = 0; g < block.groups; g++) {
      WB_UNROLL for (int i = 0; i < frames; i++) {
        if (n + i < block.count) slots.wait({from + i, phase + g});
      }
      if (divided) {
        WB_ROLL for (int i = first_slot == from ? 1 : 0; i < frames; i++)
            work.copy_sums(slots[from], slots[first_slot + i], g == 0);
        if (block.alone) meet_in_block(2, 32 * block.p.solvers);
      }
      if (g == 0) {
        const float frame_noise_var = noise_var;
        if (n + block.p.slots < block.count) noise_var = noise_var_of(of_solver(n + block.p.slots));
        work.prepare(frame_noise_var);
      }
      work.solve(block.vector_number(frame, block.begin_of(g)), block.count_of(g), share);
      // No producer waits for a slot that holds a copy, nor after the last frame of a slot.
      if (exists && first_slot == from && (g + 1 < block.groups || n + sub + block.p.slots < block.count))
        slots.release({slot, phase + g});
      __syncwarp();
    }
  }
}

/// Frames `first` to `last` - 1, with p = `frame_plan::of` and `frame_plan::threads` threads a block.
template <class P>
__global__ void __launch_bounds__(32 * P::warps, 1)
    detect_frames(const __grid_constant__ massive_args a, const __grid_constant__ frame_plan p,
                  std::size_t first, std::size_t last) {
  extern __shared__ __align__(128) float shared[];
  const frame_block<P> block(a, p, shared, first, last);
  block.begin();
  const int warp = warp_of_block();
  if (warp < P::team * p.teams)
    frame_team<P>(block).work();
  else
    solve_frames(block, warp - P::team * p.teams);
}
#endif

}  // namespace WB_ISA
}  // namespace wb
