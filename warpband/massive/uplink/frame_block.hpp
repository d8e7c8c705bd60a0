#pragma once
// What the warps of a block of uplink_frames.hpp share: which frames are the block's, and the rings in shared
// memory that connect producers and solvers. And how a team of producer warps loads frames into the rings, by
// bulk copies or by `cp.async`.
#include <warpband/core/half_lane.hpp>
#include <warpband/exec/ring.hpp>
#include <warpband/exec/warp_roles.hpp>
#include <warpband/massive/frame_sums.hpp>
#include <warpband/massive/uplink/mapping.hpp>

namespace wb {
inline namespace WB_ISA {

/// The first vector of group g. The last group ends with the frame, also where this says more.
WB_HD int group_begin(const vector_groups& v, int g) {
  return v.size * g + (g > v.smaller ? 2 * (g - v.smaller) : 0);
}

#if defined(__CUDACC__)
/// What producers and solvers share: frames, offsets and barriers. A frame's vectors are taken in groups
/// (`vector_groups`).
template <class P>
struct frame_block {
  using Shape = typename P::shape;
  static constexpr int U = P::users;
  static constexpr bool Many = P::many, Tensor = P::tensor;
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
    groups = Many ? p.groups.count : 1;
    alone = P::shares && count == 1;
  }
  WB_HD std::size_t frame(int n) const { return first + static_cast<std::size_t>(n) * gridDim.x; }
  /// The first vector of a frame that is in group g, and how many vectors the group has.
  WB_HD int begin_of(int g) const { return Many ? group_begin(p.groups, g) : 0; }
  WB_HD int count_of(int g) const {
    if constexpr (!Many) return 1;
    const int end = group_begin(p.groups, g + 1);
    return (end < a.symbols ? end : a.symbols) - begin_of(g);
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
  WB_HD float* vector_area(int v) const { return shared + p.vectors_at + v * p.vectors; }
  /// Whether only some warps of a team start its copies of H, and wait until the buffer has been read.
  static constexpr bool apart = async_copies::bulk && P::copiers > 0;
  /// Whether all threads of a team release a buffer. Otherwise the team meets after it has read one, and its
  /// first thread releases it when the next copies have started.
  static constexpr bool all_release = apart || P::parts > 1;
  /// Warps of a team that start copies of H: the first ones.
  static constexpr int copiers = apart ? P::copiers : async_copies::bulk && Tensor ? 1 : P::team;
  /// Arrivals in a phase: of all threads of a team; of the threads that issue bulk copies.
  static constexpr int by_threads = 32 * P::team, by_engine = async_copies::bulk ? copiers : by_threads;
  WB_HD int sharers() const { return alone ? p.teams : 1; }
  WB_HD std::uint64_t* barriers(int i) const {
    return reinterpret_cast<std::uint64_t*>(shared + p.barriers) + i;
  }

  /// By all threads of the block, before anything else. Ends with `__syncthreads`.
  WB_HD void begin() const {
    const int rank = static_cast<int>(threadIdx.x);
    channels().init(by_engine, all_release ? by_threads : 1);
    vectors().init(sharers() * by_threads, 0);
    slots().init(sharers() * by_threads, Shape::lanes);
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

/// A team of producer warps, and how it loads frames.
template <class P>
struct frame_loads : frame_block<P> {
  using base = frame_block<P>;
  using base::copiers, base::U, base::Many, base::Tensor;
  using typename base::Shape;
  static constexpr int threads = 32 * P::team;
  int team, warp, rank;  // this team of the block; this warp and thread of the team
  int sharer, sharers;   // this team of those that share a frame, and their number

  WB_HD explicit frame_loads(const base& b) : base(b) {
    const int block_warp = warp_of_block();
    team = block_warp / P::team;
    warp = block_warp % P::team;
    rank = static_cast<int>(threadIdx.x) % threads;
    sharer = b.alone ? team : 0;
    sharers = b.sharers();
    if (b.alone) team = 0;
  }
  WB_HD void meet() const {
    if (P::team > 1 || sharers > 1)
      meet_in_block(1 + team, sharers * threads);
    else
      __syncwarp();
  }
  /// This thread among all that share a frame, and their number.
  WB_HD int shared_rank() const { return rank + threads * sharer; }
  WB_HD int shared_threads() const { return threads * sharers; }
  WB_HD bool half_in() const { return this->a.half_channel.data != nullptr; }

  WB_HD static void copy(float* to, const void* from, int fours, int first, int step) {
    const auto* source = static_cast<const float4*>(from);
    WB_ROLL for (int i = first; i < fours; i += step)
        async_copies::copy16(async_copies::address(to + 4 * i), source + i);
  }
  /// Starts to copy part `part` of frame n's H into a buffer, and commits. Where a frame has a single vector,
  /// part 0 also copies that into vector area v. Of two parts, the first has the first 4 `octets` antennas.
  /// By the whole team.
  WB_HD void load(ring_position position, int v, int n, int part) const {
    if (sharer != 0 || warp >= copiers) return;
    const massive_args& a = this->a;
    const std::size_t f = this->frame(n);
    const ring channels = this->channels();
    float *const buffer = channels[position.stage], *const vector = this->vector_area(v);
    const int first = part * 4 * this->p.octets, count = P::parts == 1 ? a.antennas
                                                         : part == 0   ? 4 * this->p.octets
                                                                       : a.antennas - first;
    if constexpr (async_copies::bulk) {
      if (rank % 32 != 0) return;
      bulk_channel(position, f, first, count);
      if (!Many && part == 0 && warp == 0) {
        if (half_in())
          channels.copy(position, vector, a.half_in.data + f * a.half_in.item_stride, 4 * a.antennas);
        else
          channels.copy(position, vector, a.in.data + f * a.in.item_stride, 8 * a.antennas);
      }
      channels.commit(position);
    } else {
      if (half_in())
        copy(buffer, a.half_channel.data + f * a.half_channel.item_stride + U * first, count * (U / 4), rank,
             threads);
      else if constexpr (Tensor)
        copy(buffer, a.channel.data + f * a.channel.item_stride + U * first, count * (U / 2), rank, threads);
      else
        stage_channel<U, threads>(buffer, a, this->p, f, rank);
      if (!Many && part == 0) copy_vectors(vector, f, 0);
      channels.commit_copies(position);
    }
  }
  /// Issues the bulk copies of `count` antennas from `begin` on, by one lane of each copying warp. A bulk
  /// copy takes long to issue, so there are as few as the layout allows.
  WB_HD void bulk_channel(ring_position position, std::size_t f, int begin, int count) const {
    const massive_args& a = this->a;
    const frame_plan& p = this->p;
    const ring channels = this->channels();
    float* const buffer = channels[position.stage];
    if (half_in()) {
      if (warp == 0)
        channels.copy(position, buffer, a.half_channel.data + f * a.half_channel.item_stride + U * begin,
                      4 * U * count);
      return;
    }
    const cx_pair* channel = a.channel.data + f * a.channel.item_stride;
    if constexpr (Tensor) {
      channels.copy(position, buffer, channel + U * begin, 8 * U * count);
      return;
    }
    constexpr int together = P::sums::turned ? 4 : 1;
    WB_UNROLL for (int i = 0; i < antenna_runs / (together * copiers); i++) {
      const int run = together * (copiers * i + warp), first = run << p.run_log2;
      const int left = a.antennas - first, run_length = together << p.run_log2;
      if (left > 0)
        channels.copy(position, buffer + at_run(p, run), channel + U * first,
                      8 * U * (left < run_length ? left : run_length));
    }
  }
  /// Starts to copy the vectors of group g into the team's stage, and commits. By all threads that share the
  /// frame.
  WB_HD void load_vectors(std::size_t f, int g) const {
    copy_vectors(this->vectors()[team], f, g);
    this->vectors().commit_copies({team, 0});
  }
  /// The vectors of group g, by `cp.async`. They are many short pieces, for which bulk copies are slower.
  WB_HD void copy_vectors(float* to, std::size_t f, int g) const {
    const massive_args& a = this->a;
    const int count = this->count_of(g);
    const std::size_t number = this->vector_number(f, this->begin_of(g));
    if (half_in()) {
      const half_complex* from = a.half_in.data + number * a.half_in.item_stride;
      if (a.half_in.item_stride == static_cast<std::size_t>(a.antennas)) {
        copy(to, from, count * (a.antennas / 4), shared_rank(), shared_threads());
      } else {
        WB_ROLL for (int side = 0; side < count; side++, from += a.half_in.item_stride, to += a.antennas)
            copy(to, from, a.antennas / 4, shared_rank(), shared_threads());
      }
    } else {
      stage_vectors(to, a, this->p, number, count, shared_rank(), shared_threads());
    }
  }
  WB_HD static void put_two(float* to, std::uint32_t one, std::uint32_t two) {
    const float2 x = to_floats(one), z = to_floats(two);
    *reinterpret_cast<float4*>(to) = {x.x, x.y, z.x, z.y};
  }
  /// Converts the halves of a buffer to floats in the team's own memory.
  WB_HD void unpack_channel(const float* buffer, float* unpacked) const {
    const auto* from = reinterpret_cast<const uint4*>(buffer);
    WB_ROLL for (int i = shared_rank(); i < this->a.antennas * (U / 4); i += shared_threads()) {
      const uint4 x = from[i];
      float* to = unpacked + 8 * i + this->p.pad * (i / (U / 4) >> (this->p.run_log2 + this->p.pad_log2));
      put_two(to, x.x, x.y);
      put_two(to + 4, x.z, x.w);
    }
  }
  WB_HD void unpack_vectors(const float* buffer, float* unpacked, int count) const {
    WB_ROLL for (int side = shared_rank() / 32; side < count; side += shared_threads() / 32) {
      const auto* from = reinterpret_cast<const uint4*>(buffer + this->a.antennas * side);
      float* to = unpacked + this->p.y + side * this->p.y_side;
      WB_ROLL for (int i = rank % 32; 4 * i < this->a.antennas; i += 32) {
        const uint4 x = from[i];
        put_two(to + at_antenna(this->p, 4 * i), x.x, x.y);
        put_two(to + at_antenna(this->p, 4 * i + 2), x.z, x.w);  // may be in the next run
      }
    }
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
