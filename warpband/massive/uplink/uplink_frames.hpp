#pragma once
// The detector on a CUDA device for 16 and 32 users: the arithmetic of uplink_op.hpp with other movements of
// data, and with float32 sums the same bits.
//
// A multiprocessor has one block, whose warps have two trades. Teams sum over antennas (frame_sums.hpp): of a
// frame that lies in one of a ring of buffers they put H^H H and H^H y into a slot, and start to copy a later
// frame into the buffer at once. Solvers (frame_solver.hpp) take it from there. So buffers, which take most
// of the shared memory, are never held by a frame that is being solved, and neither trade waits for the other
// but through the barriers of slots. Frame n of a block has buffer n % buffers, team n % teams and slot n %
// slots; the team that read what a buffer had before starts to copy it. A block's only frame, as blocks have
// in small calls, is the work of all its teams and of all solvers, if it is of 16 users and has several
// vectors.
#include <warpband/exec/async_copies.hpp>
#include <warpband/massive/uplink/frame_solver.hpp>
#include <warpband/massive/uplink/frame_sums.hpp>
#include <warpband/massive/uplink/tensor_sums.hpp>

namespace wb {
inline namespace WB_ISA {

static_assert(frame_runs == antenna_runs);

/// Shuffled, so that a compiler knows that all of a warp have the same.
WB_HD int warp_of_block() { return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0); }

/// What both trades know. Groups: of up to 14 vectors that share a frame's H.
template <int U, bool Many, bool Tensor>
struct frame_block {
  using Roles = frame_roles<U, Many, Tensor>;
  using Shape = frame_shape<U, Many>;
  const massive_args& a;
  const frame_plan& p;
  float* shared;
  std::size_t first;
  int count, groups;  // frames of this block, groups of each
  bool alone;         // all teams and all solvers share the block's only frame

  WB_HD frame_block(const massive_args& args, const frame_plan& plan, float* memory, std::size_t begin,
                    std::size_t end)
      : a(args), p(plan), shared(memory), first(begin + blockIdx.x) {
    count = static_cast<int>((end - first + gridDim.x - 1) / gridDim.x);
    groups = Many ? (a.symbols + Shape::sides - 1) / Shape::sides : 1;
    alone = Many && U == 16 && count == 1;
  }
  WB_HD std::size_t frame(int n) const { return first + static_cast<std::size_t>(n) * gridDim.x; }
  WB_HD int count_from(int symbol) const {
    if constexpr (!Many) return 1;
    return a.symbols - symbol < Shape::sides ? a.symbols - symbol : Shape::sides;
  }
  WB_HD std::size_t vector_number(std::size_t f, int symbol) const {
    return f * static_cast<std::size_t>(a.symbols) + static_cast<std::size_t>(symbol);
  }
  WB_HD float* buffer(int b) const { return shared + b * p.buffer; }
  WB_HD float* place(int v) const { return shared + p.vectors_at + v * p.vectors; }
  WB_HD float* slot(int s) const { return shared + p.slots_at + s * Shape::floats; }
  /// Warps of a team that start copies of H, the first ones: two of four where they sum less and an engine
  /// does the most of it. Only they wait then for others to have read what was there.
  static constexpr bool apart = async_copies::bulk && U == 32 && !Tensor && !Many;
  /// Whether a team's threads do not meet when a buffer is read.
  static constexpr bool arrives = apart || Roles::parts > 1;
  static constexpr int copiers = apart ? 2 : async_copies::bulk && Tensor ? 1 : Roles::team;
  // Barriers: of buffers and of each team's vectors, when they are loaded; of slots; of buffers, when they
  // are read, by all of a team's threads or by a team that has met.
  /// Arrivals of a team's threads, and of those that command the device's engine.
  static constexpr int by_threads = 32 * Roles::team, by_engine = async_copies::bulk ? copiers : by_threads;
  WB_HD int sharers() const { return alone ? p.teams : 1; }
  WB_HD shared_barrier barrier(int i) const {
    return shared_barrier(reinterpret_cast<std::uint64_t*>(shared + p.barriers) + i);
  }
  WB_HD shared_barrier loaded(int b) const { return barrier(b); }
  WB_HD shared_barrier vectors_loaded(int team) const { return barrier(p.buffers + team); }
  WB_HD shared_barrier filled(int s) const { return barrier(p.buffers + p.teams + s); }
  WB_HD shared_barrier freed(int s) const { return barrier(p.buffers + p.teams + p.slots + s); }
  WB_HD shared_barrier all_read(int b) const { return barrier(p.buffers + p.teams + 2 * p.slots + b); }

  WB_HD void begin() const {
    const int rank = static_cast<int>(threadIdx.x);
    const int by_teams = p.buffers + p.teams + p.slots;
    WB_ROLL for (int i = rank; i < by_teams + p.slots; i += static_cast<int>(blockDim.x)) barrier(i).init(
        i < p.buffers  ? by_engine
        : i < by_teams ? sharers() * by_threads
                       : U);
    if (rank < p.buffers) all_read(rank).init(arrives ? by_threads : 1);
    // Slots that a block has no frame for are solved too, and not kept; where the last octets have no
    // antenna, tensor cores find a single vector's zeros.
    WB_ROLL for (int i = rank; i < p.slots * Shape::floats; i += static_cast<int>(blockDim.x)) slot(0)[i] =
        0.f;
    if (Tensor && a.antennas < 8 * p.octets) {
      WB_ROLL for (int i = rank; i < p.slots_at; i += static_cast<int>(blockDim.x)) shared[i] = 0.f;
    }
    async_copies::order_bulk();
    __syncthreads();
  }
};

/// A team: `team` warps.
template <int U, bool Many, bool Tensor>
struct frame_team : frame_block<U, Many, Tensor> {
  using base = frame_block<U, Many, Tensor>;
  using base::copiers;
  using typename base::Roles;
  using typename base::Shape;
  static constexpr int threads = 32 * Roles::team;
  static constexpr bool joined = !Many;
  /// Where one more meeting costs a team less than the wait for its next vectors.
  static constexpr bool filters_first = Many && U == 32 && !Tensor;
  int team, warp, rank;  // of the block's teams; of the team's warps and threads
  int sharer, sharers;   // of the teams that share a frame

  WB_HD explicit frame_team(const base& b) : base(b) {
    const int block_warp = warp_of_block();
    team = block_warp / Roles::team;
    warp = block_warp % Roles::team;
    rank = static_cast<int>(threadIdx.x) % threads;
    sharer = b.alone ? team : 0;
    sharers = b.sharers();
    if (b.alone) team = 0;
  }
  WB_HD void meet() const {
    if (Roles::team > 1 || sharers > 1)
      meet_in_block(1 + team, sharers * threads);
    else
      __syncwarp();
  }
  /// Among all threads that share a frame.
  WB_HD int shared_rank() const { return rank + threads * sharer; }
  WB_HD int shared_threads() const { return threads * sharers; }
  WB_HD bool half_in() const { return this->a.half_channel.data != nullptr; }

  // -------------------------------------------------------------------------------------------- movements

  WB_HD static void copy(float* to, const void* from, int fours, int first, int step) {
    const auto* at = static_cast<const float4*>(from);
    WB_ROLL for (int i = first; i < fours; i += step)
        async_copies::copy16(async_copies::address(to + 4 * i), at + i);
  }
  /// Starts to copy a part of frame n's H into buffer b, and with the first part its vector, where it has
  /// one, into place v.
  WB_HD void stage(int b, int v, int n, int part) const {
    if (sharer != 0 || warp >= copiers) return;
    const massive_args& a = this->a;
    const std::size_t f = this->frame(n);
    const shared_barrier loaded = this->loaded(b);
    float *const buffer = this->buffer(b), *const vector = this->place(v);
    const int first = part * 4 * this->p.octets, count = Roles::parts == 1 ? a.antennas
                                                         : part == 0       ? 4 * this->p.octets
                                                                           : a.antennas - first;
    if constexpr (async_copies::bulk) {
      if (rank % 32 != 0) return;
      bulk_channel(buffer, f, first, count, loaded);
      if (!Many && part == 0 && warp == 0) {
        if (half_in())
          loaded.copy(vector, a.half_in.data + f * a.half_in.item_stride, 4 * a.antennas);
        else
          loaded.copy(vector, a.in.data + f * a.in.item_stride, 8 * a.antennas);
      }
      loaded.arrive();
    } else {
      if (half_in())
        copy(buffer, a.half_channel.data + f * a.half_channel.item_stride + U * first, count * (U / 4), rank,
             threads);
      else if constexpr (Tensor)
        copy(buffer, a.channel.data + f * a.channel.item_stride + U * first, count * (U / 2), rank, threads);
      else
        stage_channel<U, threads>(buffer, a, this->p, f, rank);
      if (!Many && part == 0) copy_vectors(vector, f, 0);
      loaded.arrive_after_copies();
    }
  }
  /// By a lane of each copier. The engine's commands take long to begin: they are as few as can be.
  WB_HD void bulk_channel(float* buffer, std::size_t f, int begin, int count, shared_barrier loaded) const {
    const massive_args& a = this->a;
    const frame_plan& p = this->p;
    if (half_in()) {
      if (warp == 0)
        loaded.copy(buffer, a.half_channel.data + f * a.half_channel.item_stride + U * begin, 4 * U * count);
      return;
    }
    const cx_pair* channel = a.channel.data + f * a.channel.item_stride;
    if constexpr (Tensor) {
      loaded.copy(buffer, channel + U * begin, 8 * U * count);
      return;
    }
    constexpr int together = Roles::turned ? 4 : 1;
    WB_UNROLL for (int i = 0; i < antenna_runs / (together * copiers); i++) {
      const int run = together * (copiers * i + warp), first = run << p.run_log2;
      const int left = a.antennas - first, most = together << p.run_log2;
      if (left > 0)
        loaded.copy(buffer + at_run(p, run), channel + U * first, 8 * U * (left < most ? left : most));
    }
  }
  WB_HD void stage_vectors(float* to, std::size_t f, int symbol, shared_barrier loaded) const {
    copy_vectors(to, f, symbol);
    loaded.arrive_after_copies();
  }
  /// Those from `symbol` on. Several vectors are many short pieces, for which the engine takes longer.
  WB_HD void copy_vectors(float* to, std::size_t f, int symbol) const {
    const massive_args& a = this->a;
    const int count = this->count_from(symbol);
    const std::size_t number = this->vector_number(f, symbol);
    if (half_in()) {
      const half_complex* from = a.half_in.data + number * a.half_in.item_stride;
      if (a.half_in.item_stride == static_cast<std::size_t>(a.antennas)) {
        copy(to, from, count * (a.antennas / 4), shared_rank(), shared_threads());
      } else {
        WB_ROLL for (int side = 0; side < count; side++, from += a.half_in.item_stride, to += a.antennas)
            copy(to, from, a.antennas / 4, shared_rank(), shared_threads());
      }
    } else {
      const std::uint32_t vector = 4 * static_cast<std::uint32_t>(this->p.y_side);
      const cx_pair* vectors = a.in.data + number * a.in.item_stride;
      WB_ROLL for (int i = shared_rank(); 2 * i < a.antennas; i += shared_threads()) {
        const cx_pair* from = vectors + 2 * i;
        std::uint32_t at = async_copies::address(to + at_antenna(this->p, 2 * i));
#pragma unroll 4
        for (int side = 0; side < count; side++, from += a.in.item_stride, at += vector)
          async_copies::copy16(at, from);
      }
    }
  }
  WB_HD static void put_two(float* to, std::uint32_t one, std::uint32_t two) {
    const float2 x = to_floats(one), z = to_floats(two);
    *reinterpret_cast<float4*>(to) = {x.x, x.y, z.x, z.y};
  }
  /// Halves to floats in the team's own memory.
  WB_HD void unpack_channel(const float* buffer, float* own) const {
    const auto* from = reinterpret_cast<const uint4*>(buffer);
    WB_ROLL for (int i = shared_rank(); i < this->a.antennas * (U / 4); i += shared_threads()) {
      const uint4 x = from[i];
      float* to = own + 8 * i + this->p.pad * (i / (U / 4) >> (this->p.run_log2 + this->p.pad_log2));
      put_two(to, x.x, x.y);
      put_two(to + 4, x.z, x.w);
    }
  }
  WB_HD void unpack_vectors(const float* buffer, float* own, int count) const {
    WB_ROLL for (int side = shared_rank() / 32; side < count; side += shared_threads() / 32) {
      const auto* from = reinterpret_cast<const uint4*>(buffer + this->a.antennas * side);
      float* to = own + this->p.y + side * this->p.y_side;
      WB_ROLL for (int i = rank % 32; 4 * i < this->a.antennas; i += 32) {
        const uint4 x = from[i];
        put_two(to + at_antenna(this->p, 4 * i), x.x, x.y);
        put_two(to + at_antenna(this->p, 4 * i + 2), x.z, x.w);  // a run may have two antennas
      }
    }
  }

  // ------------------------------------------------------------------------------------------------ sums

  static constexpr bool slots_change = slots_change_teams<Roles>();
  /// Until what a slot had before is solved, and before that is there: of another team, which may be late, so
  /// that the solver's turn could still be the one before.
  struct until_freed {
    shared_barrier filled, freed;
    int turn;
    WB_HD void operator()() const {
      if constexpr (slots_change) filled.wait(turn);
      freed.wait(turn);
    }
  };
  /// In turn: a warp of the team may still write results of the frame before.
  WB_HD float* scratch(bool odd) const {
    return this->shared + this->p.scratch + Roles::scratch * team +
           (Roles::parts > 1 && odd ? Roles::scratch / 2 : 0);
  }
  /// Operands for tensor cores in the place of H, if that is `fresh`, and of vectors.
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
  /// f(what sums the frame at h and the vectors at y).
  template <class Ready, class F>
  WB_HD void with_sums(const float* h, const float* y, float* results, float* scratch, int gap, Ready ready,
                       F f) const {
    if constexpr (!Tensor)
      f(frame_sums<lower_triangle<U>, Many, joined, true, Roles::turned, Ready>(
          h, y, results, scratch + run_scratch * warp, this->a.antennas, this->p, ready));
    else if (half_in())
      f(tensor_sums<U, Many, true, Ready>(h, y, results, scratch, gap, this->p, ready));
    else
      f(tensor_sums<U, Many, false, Ready>(h, y, results, scratch, gap, this->p, ready));
  }
  /// H^H H, and H^H y where that is `joined`.
  template <class Sums>
  WB_HD void square(const Sums& sums) const {
    if constexpr (Tensor) {
      // Two teams share the tensor cores, which the first two warps of one and the last two of the other
      // need for longer.
      const int part = U == 16 ? warp : warp ^ team % 2 * 2;
      if (part < U / 16)
        sums.square(part);
      else if constexpr (U == 32)
        sums.beside(part - 2);
    } else if (U == 32 && warp < 2) {
      sums.rectangle(16 + 8 * warp);
    } else {
      sums.triangle(U == 32 ? warp - 2 : 0);
    }
  }
  template <class Sums>
  WB_HD void filter(const Sums& sums, int count) const {
    // The first of several teams has H^H H.
    const bool shares = sharers > 1;
    if (shares && sharer == 0) return;
    if constexpr (!Tensor) {
      sums.filters_of(shares ? sharer - 1 : warp, shares ? sharers - 1 : Roles::team, count);
    } else if constexpr (U == 16) {
      if (warp == Roles::team - 1 && (!shares || sharer == 1)) sums.template filters<2>(0, 0, count);
    } else {
      const int side = 8 * (warp / 2);
      if (side < count) sums.template filters<1>(warp % 2, side, count);
    }
  }

  WB_HD void work() const {
    const frame_plan& p = this->p;
    constexpr int parts = Roles::parts;
    float* const vectors = this->place(Many ? team : 0);
    float* const own = this->shared + p.own + team * p.sums;
    const auto vectors_loaded = this->vectors_loaded(team);
    WB_ROLL for (int n = team; n * parts < p.buffers && n < this->count; n += p.teams) {
      WB_UNROLL for (int i = 0; i < parts; i++) {
        if (parts * n + i < p.buffers) stage(parts * n + i, n, n, i);
      }
    }
    if (Many && team < this->count) stage_vectors(vectors, this->frame(team), 0, vectors_loaded);
    int b = parts * team, v = team, s = team;
    bool odd = false;
    int buffer_turn = 0, vectors_turn = 0, slot_turn = 0;  // of barriers
    WB_ROLL for (int n = team; n < this->count; n += p.teams) {
      const bool wraps = parts > 1 && b + 1 == p.buffers;
      const auto buffer_of = [&](int i) { return i == 0 ? b : wraps ? 0 : b + 1; };
      const auto turn_of = [&](int i) { return i == 1 && wraps ? buffer_turn + 1 : buffer_turn; };
      const int gap = wraps ? -p.buffers * p.buffer : 0;
      float* const buffer = this->buffer(b);
      float* const scratch = this->scratch(odd);
      odd = !odd;
      const auto leave_buffers = [&] {
        if constexpr (base::arrives) {
          WB_UNROLL for (int i = 0; i < parts; i++) this->all_read(buffer_of(i)).arrive();
        }
        WB_UNROLL for (int i = 0; i < parts; i++) {
          const int next = n + (p.buffers + i) / parts;
          if (base::arrives && warp < copiers) this->all_read(buffer_of(i)).wait(turn_of(i));
          if (next >= this->count) continue;
          stage(buffer_of(i), v, next, (p.buffers + i) % parts);
          if (Roles::buffers_change && !base::arrives && rank == 0) this->all_read(buffer_of(i)).arrive();
        }
      };
      WB_ROLL for (int g = 0; g < this->groups; g++) {
        const int symbol = g * Shape::sides, side_count = this->count_from(symbol);
        if (g == 0) {
          WB_UNROLL for (int i = 0; i < parts; i++) {
            // Else the turn before, which another team waits for, may not be over.
            if constexpr (Roles::buffers_change) this->all_read(buffer_of(i)).wait(turn_of(i) - 1);
            this->loaded(buffer_of(i)).wait(turn_of(i));
          }
        }
        if constexpr (Many) vectors_loaded.wait(vectors_turn++);
        float *h = buffer, *y = Many ? vectors : this->place(v);
        if (half_in()) {
          const float* halves = y;
          h = own, y = own + p.y;
          if constexpr (Tensor) {
            make_operands<true>(h, y, buffer, halves, scratch, 0, gap, g == 0, side_count);
          } else {
            if constexpr (base::apart) meet();  // nobody reads the floats of the frame before
            if (g == 0) unpack_channel(buffer, own);
            unpack_vectors(halves, own, side_count);
            meet();
          }
        } else if constexpr (Tensor) {
          make_operands<false>(h, y, nullptr, nullptr, scratch, gap, 0, g == 0, side_count);
        }
        const auto stage_next_vectors = [&] {
          const bool last = g + 1 == this->groups;
          if (!last || n + p.teams < this->count)
            stage_vectors(vectors, this->frame(last ? n + p.teams : n), last ? 0 : symbol + Shape::sides,
                          vectors_loaded);
        };
        const until_freed freed{this->filled(s), this->freed(s), slot_turn + g - 1};
        const auto ready = [&] {
          if constexpr (parts > 1) {
            async_copies::order_bulk();
            leave_buffers();
          }
          freed();
        };
        with_sums(h, y, this->slot(s), scratch, half_in() ? 0 : gap, ready, [&](const auto& sums) {
          if (!filters_first && g == 0 && sharer == 0) square(sums);
          if constexpr (Many) filter(sums, side_count);
          if constexpr (filters_first) {
            // While H^H H is summed, the next vectors come in the place of these.
            meet();
            stage_next_vectors();
            if (g == 0) square(sums);
          }
        });
        this->filled(s).arrive();
        if constexpr (Tensor && parts == 1) async_copies::order_bulk();  // of operands in the place of H
        if (!base::arrives || (parts > 1 && half_in())) meet();
        if constexpr (Many && !filters_first) stage_next_vectors();
      }
      if constexpr (parts == 1) leave_buffers();
      b += parts * p.teams;
      if (b >= p.buffers) b -= p.buffers, buffer_turn++;
      v += p.teams;
      if (v >= p.places) v -= p.places;
      s += p.teams;
      if (s >= p.slots) s -= p.slots, slot_turn += this->groups;
    }
  }
};

template <int U, bool Many, bool Tensor>
WB_HD void solve_frames(const frame_block<U, Many, Tensor>& block, int solver) {
  using Roles = frame_roles<U, Many, Tensor>;
  constexpr int frames = Roles::frames_of_solver;
  const int sub = static_cast<int>(threadIdx.x) % 32 / U, own = solver * frames, slot = own + sub,
            from = block.alone ? 0 : own;  // slots: of this warp, and where its frames are summed
  int turn = 0;
  const auto of_solver = [&](int n) { return block.frame(n + sub < block.count ? n + sub : n); };
  const auto noise_var_of = [&](std::size_t frame) {
    return block.a.noise_var.data[frame * block.a.noise_var.item_stride];
  };
  float noise_var = from < block.count ? noise_var_of(of_solver(from)) : 1.f;
  WB_ROLL for (int n = from; n < block.count; n += block.p.slots, turn += block.groups) {
    // Half a warp that has no frame takes vectors of the other one's, or all take those of the block's only
    // frame, each in a slot of its own.
    const bool exists = n + sub < block.count, divided = Many && frames == 2 && n + 1 >= block.count;
    const vector_share share = !divided      ? vector_share{0, 1}
                               : block.alone ? vector_share{slot, block.p.slots}
                                             : vector_share{sub, frames};
    const std::size_t frame = of_solver(n);
    frame_solver<U, Many> work(block.a, block.slot(slot), exists || divided);
    WB_ROLL for (int g = 0; g < block.groups; g++) {
      WB_UNROLL for (int i = 0; i < frames; i++) {
        if (n + i < block.count) block.filled(from + i).wait(turn + g);
      }
      const int symbol = g * Roles::shape::sides;
      if (divided) {
        WB_ROLL for (int i = own == from ? 1 : 0; i < frames; i++)
            work.copy_sums(block.slot(from), block.slot(own + i), g == 0);
        if (block.alone) meet_in_block(2, 32 * block.p.solvers);
      }
      if (g == 0) {
        const float now = noise_var;
        if (n + block.p.slots < block.count) noise_var = noise_var_of(of_solver(n + block.p.slots));
        work.prepare(now);
      }
      work.solve(block.vector_number(frame, symbol), block.count_from(symbol), share);
      // For slots with copies, and of the last frame in a slot for the end, nobody waits.
      if (exists && own == from && (g + 1 < block.groups || n + sub + block.p.slots < block.count))
        block.freed(slot).arrive();
      __syncwarp();
    }
  }
}

template <int U, bool Many, bool Tensor>
__global__ void __launch_bounds__(frame_roles<U, Many, Tensor>::threads, 1)
    detect_frames(const __grid_constant__ massive_args a, const __grid_constant__ frame_plan p,
                  std::size_t first, std::size_t last) {
  extern __shared__ __align__(128) float shared[];
  using Roles = frame_roles<U, Many, Tensor>;
  const frame_block<U, Many, Tensor> block(a, p, shared, first, last);
  block.begin();
  const int warp = warp_of_block();
  if (warp < Roles::team * p.teams)
    frame_team<U, Many, Tensor>(block).work();
  else
    solve_frames(block, warp - Roles::team * p.teams);
}

/// In files of their own, uplink_*_kernels.cpp.
int launch_frames_of_16(const massive_args& a, const place& where);
int launch_frames_of_32(const massive_args& a, const place& where);
int launch_tensor_frames_of_16(const massive_args& a, const place& where);
int launch_tensor_frames_of_32(const massive_args& a, const place& where);

}  // namespace WB_ISA
}  // namespace wb
