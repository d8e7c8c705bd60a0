#pragma once
// Frames of 64 users on a CUDA device: H passes through a ring in shared memory in parts, and all warps of a
// block sum H^H H (frame_sums.hpp). They compute what uplink_op.hpp and downlink_op.hpp compute, with the
// same bits.
//
// A multiprocessor runs one block; a block takes every gridDim.x-th frame. Its warps sum together, and then
// solve together, as the generic kernel does. Meanwhile the ring fills with the first parts of the next pass.
//
//   pass 0   four 16 x 16 blocks on the diagonal and four 8 x 16 rectangles, a warp each
//   pass 1   the other eight rectangles
//   pass 2   for each group of 16 vectors. Detector: H^H y of eight users a warp. Precoder: m = H x
//
// Each pass reads all parts of H (stream_plan.hpp). After the first one they come from the L2 cache. The
// detector sums H^H y of a single vector in pass 0, and has no pass 2.
#include <warpband/exec/ring.hpp>
#include <warpband/exec/warp_roles.hpp>
#include <warpband/linalg/ldl/ldl_block.hpp>
#include <warpband/massive/downlink/downlink_op.hpp>
#include <warpband/massive/downlink/sent_vectors.hpp>
#include <warpband/massive/frame_sums.hpp>
#include <warpband/massive/stream_plan.hpp>
#include <warpband/massive/uplink/uplink_op.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// The frames of a block, and the ring of parts of their H. All threads of the block have one. The warps
/// start the copies of a part in turn.
template <class P>
struct frame_stream {
  const massive_args& a;
  const stream_plan& p;
  float* shared;
  std::size_t first;
  int count;  // frames of this block
  int warp, lane;
  int current = 0;                                // the frame that is worked on
  ring_position reads{}, copies{};                // the next part to read, and to copy
  int frame = 0, pass = 0, part = 0, copier = 0;  // of the next part to copy
  int ahead = 0;                                  // parts that are copied and not yet read

  WB_HD frame_stream(const massive_args& args, const stream_plan& plan, float* memory, std::size_t begin,
                     std::size_t end)
      : a(args), p(plan), shared(memory), first(begin + blockIdx.x) {
    count = static_cast<int>((end - first + gridDim.x - 1) / gridDim.x);
    warp = warp_of_block();
    lane = static_cast<int>(threadIdx.x) % 32;
  }
  WB_HD std::size_t number(int n) const { return first + static_cast<std::size_t>(n) * gridDim.x; }
  WB_HD ring parts() const {
    return {shared + p.stages_at, reinterpret_cast<std::uint64_t*>(shared + p.barriers), P::stages, p.stage};
  }

  /// By all threads of the block, before anything else. Starts the first copies.
  WB_HD void begin() {
    parts().init(async_copies::bulk ? antenna_runs : 32, P::threads);
    __syncthreads();
    WB_ROLL for (int i = 1; i < P::stages; i++) copy_next();
    if constexpr (!P::sends) load_vectors(0, 0);
  }
  /// Starts to copy the next part, when all have read what its stage held; nothing if no stage is free. By
  /// all warps, of which one of half `half` copies.
  WB_HD void copy_next(int half = 0) {
    if (frame >= count || ahead == P::stages) return;
    if (warp == copier + P::warps / 2 * half) copy_part(number(frame), p.part_antennas * part);
    ahead++;
    parts().advance(copies, 1);
    copier = (copier + 1) % (P::warps / 2);
    if (++part < p.parts) return;
    part = 0;
    if (++pass < p.passes) return;
    pass = 0, frame++;
  }
  /// The antennas from `begin` on of each run: by bulk copies a lane each, or by all lanes.
  WB_HD void copy_part(std::size_t f, int begin) const {
    const ring to = parts();
    const auto antennas_of = [&](int run) {
      const int rest = antennas_of_run(p, a.antennas, run) - begin;
      return rest < p.part_antennas ? rest : p.part_antennas;
    };
    float* const stage = to[copies.stage];
    const cx_pair* from = a.channel.data + f * a.channel.item_stride + P::users * begin;
    to.acquire(copies);
    if constexpr (async_copies::bulk) {
      if (lane < antenna_runs) {
        const int antennas = antennas_of(lane);
        if (antennas > 0)
          to.copy(copies, stage + at_run(p, lane), from + (P::users * lane << p.run_log2),
                  8 * P::users * antennas);
        to.commit(copies);
      }
      __syncwarp();
    } else {
      WB_ROLL for (int run = 0; run < antenna_runs; run++) {
        const int fours = P::users / 2 * antennas_of(run);
        WB_ROLL for (int i = lane; i < fours; i += 32)
            async_copies::copy16(async_copies::address(stage + at_run(p, run) + 4 * i),
                                 from + (P::users * run << p.run_log2) + 2 * i);
      }
      to.commit_copies(copies);
    }
  }
  /// Starts to copy the vectors of frame n of the block from `symbol` on, by all threads. Each waits for its
  /// copies (`async_copies::wait`) before all meet.
  WB_HD void load_vectors(int n, int symbol) const {
    if (n >= count) return;
    const int rest = a.symbols - symbol;
    stage_vectors(shared + p.y, a, p,
                  number(n) * static_cast<std::size_t>(a.symbols) + static_cast<std::size_t>(symbol),
                  rest < p.sides ? rest : p.sides, static_cast<int>(threadIdx.x), P::threads);
  }

  /// Calls add(h, y, antennas) with run `run` of each part of H and of the first vector.
  template <class F>
  WB_HD void over_parts(int run, F add) {
    const ring from = parts();
    const float* at_y = shared + p.y + run * p.y_run;
    WB_ROLL for (int left = antennas_of_run(p, a.antennas, run), i = 0; i < p.parts; i++) {
      from.wait(reads);
      add(from[reads.stage] + at_run(p, run), at_y, left < p.part_antennas ? left : p.part_antennas);
      left -= p.part_antennas, at_y += 2 * p.part_antennas;
      from.release(reads);
      from.advance(reads, 1);
      // Copies into the stage of the part before this one, which all warps have left by now. If half of the
      // warps reads this part, the warps that wait for the next part do the copying.
      if (--ahead < P::stages - 1) copy_next((i + 1) % 2);
    }
  }
};

/// What `frame_sums` needs to take H in parts.
template <class P>
struct streamed_parts {
  static constexpr bool in_parts = true;
  frame_stream<P>* stream;
  WB_HD void operator()() const {}
  template <class F>
  WB_HD void over_parts(int run, F add) const {
    stream->over_parts(run, add);
  }
};

/// The tiles of a warp.
template <class P>
struct streamed_tiles : frame_sums<P::users, P::many, typename P::sums, streamed_parts<P>> {
  using base = frame_sums<P::users, P::many, typename P::sums, streamed_parts<P>>;
  using base::p, base::part, base::results, base::over_antennas;
  using typename base::Shape;
  WB_HD streamed_tiles(frame_stream<P>& stream, float* to)
      : base(nullptr, stream.shared + stream.p.y, to, nullptr, stream.a.antennas, stream.p, {&stream}) {}

  /// H^H H: this warp's share of its 16 tiles. Four are blocks on the diagonal, and 12 are rectangles below.
  WB_HD void gram(int warp) const {
    WB_ROLL for (int t = warp; t < 16; t += P::warps) {
      const int block = (t - 4) / 2, row = block < 1 ? 1 : block < 3 ? 2 : 3;
      if (t < 4)
        this->triangle(t);
      else
        this->rectangle(16 * row + 8 * (t % 2), 16 * (block - row * (row - 1) / 2));
    }
  }
  /// H^H y of the users from u0 to u0 + 7 and up to 16 vectors, of which those below `count` are stored: a
  /// rectangle whose columns are vectors.
  WB_HD void rectangle_of_vectors(int u0, int count) const {
    four_sums sums[8][4];
    over_antennas([&](const float* run_of_h, const float* at_y, int run_antennas) {
      this->add_rectangle(
          sums, run_of_h + 2 * u0, run_antennas,
          [&](int j, float2* z) {
            WB_UNROLL for (int i = 0; i < 2; i++) {
              const int side = 4 * part + j + i;  // past the last one: any
              z[i] = load_one(at_y + (side < count ? side * p.y_side : 0));
            }
          },
          [&] { at_y += 2; });
    });
    float sum[64];
    WB_UNROLL for (int i = 0; i < 32; i++) sums[i / 4][i % 4].join_conjugate(sum + 2 * i);
    this->sum(sum);
    WB_UNROLL for (int i = 0; i < 8; i += 2) {
      const int index = this->template number_of<64>(i), side = 4 * part + index % 8 / 2;
      if (side < count)
        *reinterpret_cast<float2*>(results + Shape::right + side * Shape::side_floats +
                                   2 * (u0 + index / 8)) = {sum[i], sum[i + 1]};
    }
  }
};

/// What the detector does with H, in the place of `sums_over_antennas`.
template <class P>
struct streamed_sums {
  frame_stream<P>& stream;
  template <class Engine>
  WB_HD void operator()(const Engine& e, int symbol, int count) const {
    async_copies::wait();
    e.g.sync();
    const streamed_tiles<P> tiles(stream, e.m.data);
    if (symbol == 0) tiles.gram(stream.warp);
    if constexpr (P::many) tiles.rectangle_of_vectors(8 * stream.warp, count);
    e.g.sync();
    const bool last = symbol + count == e.a.symbols;
    stream.load_vectors(stream.current + last, last ? 0 : symbol + count);
  }
};

/// What the precoder does with H, in the place of `staged_channel`. After pass 2 a warp normalises and stores
/// whole vectors of m, which is in shared memory.
///
/// In pass 2 a team of `sending` times `sharing` warps (of the policy) weighs a part. Each has `at_once`
/// vectors, and `sharing` of them share the antennas. The next team weighs the next part meanwhile.
template <class P>
struct streamed_sends {
  frame_stream<P>& stream;

  template <class Engine>
  WB_HD void gram(const Engine& e, bool wanted) const {
    if (wanted) streamed_tiles<P>(stream, e.m.data).gram(stream.warp);
    e.g.sync();
    stream.copy_next();  // the last stage too: it would be idle while the block solves
  }
  template <class Op, class Engine>
  WB_HD void send(const Op&, const Engine& e, packed_vector<float> z, int symbol, int count) const {
    const sent_vectors<P::users> sent(e.a, stream.p, stream.lane);
    float* const m = stream.shared + stream.p.y;
    weigh(sent, z, count, m);
    e.g.sync();
    stream.copy_next();
    const std::size_t vector = e.vector_number(e.first, symbol);
    // A warp has vectors `warp` and `warp` + 8. Parts of its lanes have one in turn.
    static_assert(massive_group <= 2 * P::warps);
    if (stream.warp >= count) return;
    const auto side_of = [&](int i) {
      const int side = stream.warp + P::warps * (i % 2);
      return side < count ? side : stream.warp;
    };
    const int lane_side = side_of(sent.part);
    const float factor = sent.factor_of(m + lane_side * sent.sent_floats, e.numbers[lane_side] > 0.f);
    WB_ROLL for (int i = 0; i < 2 && stream.warp + P::warps * i < count; i++)
        sent.store(vector + static_cast<std::size_t>(side_of(i)), m + side_of(i) * sent.sent_floats,
                   __shfl_sync(0xffffffffu, factor, antenna_runs * i));
  }

 private:
  WB_HD void weigh(const sent_vectors<P::users>& sent, packed_vector<float> z, int count, float* m) const {
    constexpr int team = P::sending * P::sharing, teams = P::warps / team;
    const int warp = stream.warp % team, begin = P::at_once * (warp / P::sharing);
    // Once more from the beginning of shared memory, or the compiler would not know that z is there.
    const float* const solutions = stream.shared + static_cast<int>(z.data - stream.shared);
    const float* x[P::at_once];  // if there are fewer vectors, the last one several times
    WB_UNROLL for (int s = 0; s < P::at_once; s++) x[s] =
        solutions + 2 * P::users * (begin + s < count ? begin + s : count - 1);
    int part = 0;
    stream.over_parts(sent.run, [&](const float* rows, const float*, int antennas) {
      if (part % teams == stream.warp / team && begin < count)
        sent.template weigh<P::rows, P::sharing>(warp % P::sharing, rows, part * stream.p.part_antennas,
                                                 antennas, x, count - begin, m + begin * sent.sent_floats);
      part++;
    });
  }
};

/// Frames `first` to `last` - 1 by `op`: the detector, the precoder, or what stores the sums of a cluster.
/// `Steps` does what reads H. p = `stream_plan::of`.
template <class P, template <class> class Steps, class Op>
__global__ void __launch_bounds__(P::threads, 1)
    run_streamed(const __grid_constant__ Op op, const __grid_constant__ stream_plan p, std::size_t first,
                 std::size_t last) {
  extern __shared__ __align__(128) float shared[];
  frame_stream<P> stream(op.a, p, shared, first, last);
  stream.begin();
  const factor_block g(shared + p.memory);
  WB_ROLL for (; stream.current < stream.count; stream.current++)
      op.run(stream.number(stream.current), 1, g, shared, Steps<P>{stream});
}
/// The same without H: frames whose sums over clusters `op` solves. Shared memory: `massive_plan::values` and
/// `factor_block::floats`.
template <class Op>
__global__ void __launch_bounds__(factor_block::size, 2)
    solve_64(const __grid_constant__ Op op, std::size_t first, std::size_t last) {
  extern __shared__ __align__(128) float shared[];
  const factor_block g(shared + op.p.values);
  for (std::size_t n = first + blockIdx.x; n < last; n += gridDim.x) op(n, 1, g, shared);
}
#endif

}  // namespace WB_ISA
}  // namespace wb
