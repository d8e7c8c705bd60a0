#pragma once
// The detector for 16 and 32 users on a CUDA device. It computes what uplink_op.hpp computes. With float32
// sums it gives the same bits.
//
// A frame is one H (B antennas, U users) and the vectors y that share it. A multiprocessor runs one block; a
// block takes every gridDim.x-th frame. Its warps are specialised:
//
//   producer warps   sum over antennas: H^H H and H^H y (frame_sums.hpp, tensor_sums.hpp). They work in
//                    teams of `frame_roles::team` warps, one frame a team.
//   solver warps     turn the sums into symbols and LLRs (frame_estimates.hpp), 32 / U frames a warp.
//
// Rings in shared memory connect them (exec/ring.hpp; `frame_plan` has the offsets and sizes):
//
//   device memory -> `channels` (and `vectors`) -> producers -> `slots` -> solvers
//
// A stage of `channels` (a buffer) holds H of a frame, or half of its antennas where `parts` is 2. Part i of
// frame n of the block is in buffer (parts n + i) % buffers. Producers refill a buffer as soon as they have
// read it: it is never held while a frame is solved. A single y is copied together with its H, into vector
// area n % places. Where frames have several, each team has a stage of `vectors`.
//
// Frame n has team n % teams and slot n % slots. A slot is filled once for each group of the frame's vectors.
//
// Teams meet at named barriers 1 + team, all solvers of a block's only frame at named barrier 2.
//
// If a block has a single frame of 16 users and several vectors, all its teams and solvers share that frame.
#include <warpband/exec/ring.hpp>
#include <warpband/exec/warp_roles.hpp>
#include <warpband/massive/frame_sums.hpp>
#include <warpband/massive/uplink/frame_estimates.hpp>
#include <warpband/massive/uplink/tensor_sums.hpp>

namespace wb {
inline namespace WB_ISA {

static_assert(frame_runs == antenna_runs);

/// What producers and solvers share: frames, offsets and barriers. A frame's vectors are taken in groups of
/// up to 14.
template <int U, bool Many, bool Tensor>
struct frame_block {
  using Roles = frame_roles<U, Many, Tensor>;
  using Shape = frame_shape<U, Many>;
  const massive_args& a;
  const frame_plan& p;
  float* shared;
  std::size_t first;
  int count, groups;  // frames of this block; groups of vectors of each frame
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
  /// H of frames, or parts of them; y of several vectors, a stage for each team; sums.
  WB_HD ring channels() const { return {shared, barriers(0), p.buffers, p.buffer}; }
  WB_HD ring vectors() const { return {shared + p.vectors_at, barriers(2 * p.buffers), p.teams, p.vectors}; }
  WB_HD ring slots() const {
    return {shared + p.slots_at, barriers(2 * p.buffers + p.teams), p.slots, Shape::floats};
  }
  WB_HD float* place(int v) const { return shared + p.vectors_at + v * p.vectors; }
  /// Whether only the two warps that sum least start the copies of a team of four. Only they wait then until
  /// the buffer has been read.
  static constexpr bool apart = async_copies::bulk && U == 32 && !Tensor && !Many;
  /// Whether all threads of a team release a buffer. Otherwise the team meets after it has read one, and its
  /// first thread releases it when the next copies have started.
  static constexpr bool all_release = apart || Roles::parts > 1;
  /// Warps of a team that start copies of H: the first ones.
  static constexpr int copiers = apart ? 2 : async_copies::bulk && Tensor ? 1 : Roles::team;
  /// Arrivals in a phase: of all threads of a team; of the threads that issue bulk copies.
  static constexpr int by_threads = 32 * Roles::team, by_engine = async_copies::bulk ? copiers : by_threads;
  WB_HD int sharers() const { return alone ? p.teams : 1; }
  WB_HD std::uint64_t* barriers(int i) const {
    return reinterpret_cast<std::uint64_t*>(shared + p.barriers) + i;
  }

  /// By all threads of the block, before anything else. Ends with `__syncthreads`.
  WB_HD void begin() const {
    const int rank = static_cast<int>(threadIdx.x);
    channels().init(by_engine, all_release ? by_threads : 1);
    vectors().init(sharers() * by_threads, 0);
    slots().init(sharers() * by_threads, U);
    // Solvers also solve slots that have no frame; nothing of that is stored. Tensor cores also multiply the
    // part of a vector past its last antenna: it must be zero.
    WB_ROLL for (int i = rank; i < p.slots * Shape::floats; i += static_cast<int>(blockDim.x)) slots()[0][i] =
        0.f;
    if (Tensor && a.antennas < 8 * p.octets) {
      WB_ROLL for (int i = rank; i < p.slots_at; i += static_cast<int>(blockDim.x)) shared[i] = 0.f;
    }
    async_copies::order_bulk();
    __syncthreads();
  }
};

/// A team of producer warps. All its threads call `work` once.
template <int U, bool Many, bool Tensor>
struct frame_team : frame_block<U, Many, Tensor> {
  using base = frame_block<U, Many, Tensor>;
  using base::copiers;
  using typename base::Roles;
  using typename base::Shape;
  static constexpr int threads = 32 * Roles::team;
  /// Whether H^H y is summed before H^H H. The next vectors are then copied during the sums of H^H H, at the
  /// cost of one more named barrier.
  static constexpr bool filters_first = Many && U == 32 && !Tensor;
  int team, warp, rank;  // this team of the block; this warp and thread of the team
  int sharer, sharers;   // this team of those that share a frame, and their number

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
  /// This thread among all that share a frame, and their number.
  WB_HD int shared_rank() const { return rank + threads * sharer; }
  WB_HD int shared_threads() const { return threads * sharers; }
  WB_HD bool half_in() const { return this->a.half_channel.data != nullptr; }

  // ----------------------------------------------------------------------------------------------- copies

  WB_HD static void copy(float* to, const void* from, int fours, int first, int step) {
    const auto* at = static_cast<const float4*>(from);
    WB_ROLL for (int i = first; i < fours; i += step)
        async_copies::copy16(async_copies::address(to + 4 * i), at + i);
  }
  /// Starts to copy part `part` of frame n's H into a buffer, and commits. Where a frame has a single vector,
  /// part 0 also copies that into vector area v. Of two parts, the first has the first 4 `octets` antennas.
  /// By the whole team.
  WB_HD void load(ring_position at, int v, int n, int part) const {
    if (sharer != 0 || warp >= copiers) return;
    const massive_args& a = this->a;
    const std::size_t f = this->frame(n);
    const ring channels = this->channels();
    float *const buffer = channels[at.stage], *const vector = this->place(v);
    const int first = part * 4 * this->p.octets, count = Roles::parts == 1 ? a.antennas
                                                         : part == 0       ? 4 * this->p.octets
                                                                           : a.antennas - first;
    if constexpr (async_copies::bulk) {
      if (rank % 32 != 0) return;
      bulk_channel(at, f, first, count);
      if (!Many && part == 0 && warp == 0) {
        if (half_in())
          channels.copy(at, vector, a.half_in.data + f * a.half_in.item_stride, 4 * a.antennas);
        else
          channels.copy(at, vector, a.in.data + f * a.in.item_stride, 8 * a.antennas);
      }
      channels.commit(at);
    } else {
      if (half_in())
        copy(buffer, a.half_channel.data + f * a.half_channel.item_stride + U * first, count * (U / 4), rank,
             threads);
      else if constexpr (Tensor)
        copy(buffer, a.channel.data + f * a.channel.item_stride + U * first, count * (U / 2), rank, threads);
      else
        stage_channel<U, threads>(buffer, a, this->p, f, rank);
      if (!Many && part == 0) copy_vectors(vector, f, 0);
      channels.commit_copies(at);
    }
  }
  /// Issues the bulk copies of `count` antennas from `begin` on, by one lane of each copying warp. A bulk
  /// copy takes long to issue, so there are as few as the layout allows.
  WB_HD void bulk_channel(ring_position at, std::size_t f, int begin, int count) const {
    const massive_args& a = this->a;
    const frame_plan& p = this->p;
    const ring channels = this->channels();
    float* const buffer = channels[at.stage];
    if (half_in()) {
      if (warp == 0)
        channels.copy(at, buffer, a.half_channel.data + f * a.half_channel.item_stride + U * begin,
                      4 * U * count);
      return;
    }
    const cx_pair* channel = a.channel.data + f * a.channel.item_stride;
    if constexpr (Tensor) {
      channels.copy(at, buffer, channel + U * begin, 8 * U * count);
      return;
    }
    constexpr int together = Roles::turned ? 4 : 1;
    WB_UNROLL for (int i = 0; i < antenna_runs / (together * copiers); i++) {
      const int run = together * (copiers * i + warp), first = run << p.run_log2;
      const int left = a.antennas - first, most = together << p.run_log2;
      if (left > 0)
        channels.copy(at, buffer + at_run(p, run), channel + U * first, 8 * U * (left < most ? left : most));
    }
  }
  /// Starts to copy the vectors of a group into the team's stage, and commits. By all threads that share the
  /// frame.
  WB_HD void load_vectors(std::size_t f, int symbol) const {
    copy_vectors(this->vectors()[team], f, symbol);
    this->vectors().commit_copies({team, 0});
  }
  /// The vectors from `symbol` on, by `cp.async`. They are many short pieces, for which bulk copies are
  /// slower.
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
  /// Converts the halves of a buffer to floats in the team's own memory.
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
        put_two(to + at_antenna(this->p, 4 * i + 2), x.z, x.w);  // may be in the next run
      }
    }
  }

  // ------------------------------------------------------------------------------------------------ sums

  /// Scratch memory of the team. Where frames have two parts it is double-buffered, since a warp of the team
  /// may still write the results of the frame before.
  WB_HD float* scratch(bool odd) const {
    return this->shared + this->p.scratch + Roles::scratch * team +
           (Roles::parts > 1 && odd ? Roles::scratch / 2 : 0);
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
      f(frame_sums<U, Many, detector_sums<U, Many>, Ready>(h, y, results, scratch + run_scratch * warp,
                                                           this->a.antennas, this->p, ready));
    else if (half_in())
      f(tensor_sums<U, Many, true, Ready>(h, y, results, scratch, gap, this->p, ready));
    else
      f(tensor_sums<U, Many, false, Ready>(h, y, results, scratch, gap, this->p, ready));
  }
  /// H^H H, and where a frame has a single vector also H^H y. The warps of a team take disjoint tiles.
  template <class Sums>
  WB_HD void square(const Sums& sums) const {
    if constexpr (Tensor) {
      // Diagonal tiles need more products than the others. The two teams give them to different warps, which
      // balances the tensor cores of the multiprocessor.
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
  /// H^H y of `count` vectors.
  template <class Sums>
  WB_HD void filter(const Sums& sums, int count) const {
    // If teams share a frame, the first one sums H^H H and the others H^H y.
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

  /// Whether a slot may be filled by one team and then by another.
  static constexpr bool slots_change = slots_change_teams<Roles>();

  /// All frames of the team. For each: wait until it is loaded, convert it where needed, sum, and write the
  /// results to its slot. Refill its buffers as soon as they have been read.
  WB_HD void work() const {
    const frame_plan& p = this->p;
    constexpr int parts = Roles::parts;
    const ring channels = this->channels(), slots = this->slots();
    float* const own = this->shared + p.own + team * p.sums;
    WB_ROLL for (int n = team; n * parts < p.buffers && n < this->count; n += p.teams) {
      WB_UNROLL for (int i = 0; i < parts; i++) {
        if (parts * n + i < p.buffers) load({parts * n + i, 0}, n, n, i);
      }
    }
    if (Many && team < this->count) load_vectors(this->frame(team), 0);
    ring_position first_part{parts * team}, slot{team}, vectors{team};
    int v = team;
    bool odd = false;
    WB_ROLL for (int n = team; n < this->count; n += p.teams) {
      const auto buffer_of = [&](int part) {
        return part == 0 ? first_part : channels.after(first_part, part);
      };
      // If the ring ends between the two parts, the second one is in buffer 0.
      const int gap = parts > 1 && buffer_of(1).stage == 0 ? -p.buffers * p.buffer : 0;
      float* const buffer = channels[first_part.stage];
      float* const scratch = this->scratch(odd);
      odd = !odd;
      // Releases the frame's buffers, and starts the copies of the frames that follow there.
      const auto refill = [&] {
        if constexpr (base::all_release) {
          WB_UNROLL for (int i = 0; i < parts; i++) channels.release(buffer_of(i));
        }
        WB_UNROLL for (int i = 0; i < parts; i++) {
          const int next = n + (p.buffers + i) / parts;
          const ring_position at = ring::once_more(buffer_of(i));
          if (base::all_release && warp < copiers) channels.acquire(at);
          if (next >= this->count) continue;
          load(at, v, next, (p.buffers + i) % parts);
          if (Roles::buffers_change && !base::all_release && rank == 0) channels.release(buffer_of(i));
        }
      };
      WB_ROLL for (int g = 0; g < this->groups; g++) {
        const int symbol = g * Shape::sides, side_count = this->count_from(symbol);
        if (g == 0) {
          WB_UNROLL for (int i = 0; i < parts; i++) {
            if constexpr (Roles::buffers_change)
              channels.wait_in_turn(buffer_of(i));
            else
              channels.wait(buffer_of(i));
          }
        }
        if constexpr (Many) this->vectors().wait(vectors), vectors.phase++;
        float *h = buffer, *y = Many ? this->vectors()[team] : this->place(v);
        if (half_in()) {
          const float* halves = y;
          h = own, y = own + p.y;
          if constexpr (Tensor) {
            make_operands<true>(h, y, buffer, halves, scratch, 0, gap, g == 0, side_count);
          } else {
            if constexpr (base::apart) meet();  // all have read the floats of the frame before
            if (g == 0) unpack_channel(buffer, own);
            unpack_vectors(halves, own, side_count);
            meet();
          }
        } else if constexpr (Tensor) {
          make_operands<false>(h, y, nullptr, nullptr, scratch, gap, 0, g == 0, side_count);
        }
        const auto load_next_vectors = [&] {
          const bool last = g + 1 == this->groups;
          if (!last || n + p.teams < this->count)
            load_vectors(this->frame(last ? n + p.teams : n), last ? 0 : symbol + Shape::sides);
        };
        const ring_position to{slot.stage, slot.phase + g};
        const auto ready = [&] {
          if constexpr (parts > 1) {
            async_copies::order_bulk();
            refill();
          }
          if constexpr (slots_change)
            slots.acquire_in_turn(to);
          else
            slots.acquire(to);
        };
        with_sums(h, y, slots[slot.stage], scratch, half_in() ? 0 : gap, ready, [&](const auto& sums) {
          if (!filters_first && g == 0 && sharer == 0) square(sums);
          if constexpr (Many) filter(sums, side_count);
          if constexpr (filters_first) {
            // The next vectors overwrite these while H^H H is summed.
            meet();
            load_next_vectors();
            if (g == 0) square(sums);
          }
        });
        slots.commit(to);
        if constexpr (Tensor && parts == 1) async_copies::order_bulk();  // after operands in the buffer
        if (!base::all_release || (parts > 1 && half_in())) meet();
        if constexpr (Many && !filters_first) load_next_vectors();
      }
      if constexpr (parts == 1) refill();
      channels.advance(first_part, parts * p.teams);
      slots.advance(slot, p.teams, this->groups);
      v += p.teams;
      if (v >= p.places) v -= p.places;
    }
  }
};

/// Solver warp number `solver`: all its frames. It waits for its slots and releases them.
template <int U, bool Many, bool Tensor>
WB_HD void solve_frames(const frame_block<U, Many, Tensor>& block, int solver) {
  using Roles = frame_roles<U, Many, Tensor>;
  constexpr int frames = Roles::frames_of_solver;
  const int sub = static_cast<int>(threadIdx.x) % 32 / U, own = solver * frames, slot = own + sub,
            from = block.alone ? 0 : own;  // slots: own; and those that producers fill for this warp
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
    frame_estimates<U, Many> work(block.a, slots[slot], exists || divided);
    WB_ROLL for (int g = 0; g < block.groups; g++) {
      WB_UNROLL for (int i = 0; i < frames; i++) {
        if (n + i < block.count) slots.wait({from + i, phase + g});
      }
      const int symbol = g * Roles::shape::sides;
      if (divided) {
        WB_ROLL for (int i = own == from ? 1 : 0; i < frames; i++)
            work.copy_sums(slots[from], slots[own + i], g == 0);
        if (block.alone) meet_in_block(2, 32 * block.p.solvers);
      }
      if (g == 0) {
        const float now = noise_var;
        if (n + block.p.slots < block.count) noise_var = noise_var_of(of_solver(n + block.p.slots));
        work.prepare(now);
      }
      work.solve(block.vector_number(frame, symbol), block.count_from(symbol), share);
      // No producer waits for a slot that holds a copy, nor after the last frame of a slot.
      if (exists && own == from && (g + 1 < block.groups || n + sub + block.p.slots < block.count))
        slots.release({slot, phase + g});
      __syncwarp();
    }
  }
}

/// Frames `first` to `last` - 1, with p = `frame_plan::of` and 32 (team * teams + solvers) threads a block.
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

/// Defined in uplink_*_kernels.cpp.
int launch_frames_of_16(const massive_args& a, const place& where);
int launch_frames_of_32(const massive_args& a, const place& where);
int launch_tensor_frames_of_16(const massive_args& a, const place& where);
int launch_tensor_frames_of_32(const massive_args& a, const place& where);

}  // namespace WB_ISA
}  // namespace wb
