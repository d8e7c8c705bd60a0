#pragma once
// How a team of producer warps loads frames: H and y come into the rings of a `frame_block` by bulk copies or
// by `cp.async`, and those that come as halves are converted to floats where the sums need floats.
#include <warpband/core/half_lane.hpp>
#include <warpband/massive/frame_sums.hpp>
#include <warpband/massive/uplink/frame_block.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
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
    float *const buffer = channels[at.stage], *const vector = this->vector_area(v);
    const int first = part * 4 * this->p.octets, count = P::parts == 1 ? a.antennas
                                                         : part == 0   ? 4 * this->p.octets
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
    constexpr int together = P::sums::turned ? 4 : 1;
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
      stage_vectors(to, a, this->p, number, count, shared_rank(), shared_threads());
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
};
#endif

}  // namespace WB_ISA
}  // namespace wb
