#pragma once
// The precoder for 64 users on a CUDA device, by the blocks of frame_stream.hpp. It computes what
// downlink_op.hpp computes, with the same bits. H passes once more for each group of 16 vectors, to make m =
// H x in shared memory. Then a warp normalises and stores whole vectors.
//
// In that pass a team of `sending` times `sharing` warps (of the policy) weighs a part. Each has `at_once`
// vectors, and `sharing` of them share the antennas. The next team weighs the next part meanwhile.
#include <warpband/massive/downlink/downlink_op.hpp>
#include <warpband/massive/downlink/sent_vectors.hpp>
#include <warpband/massive/frame_stream.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// What reads H, in the place of `staged_channel`.
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
    const int mine = side_of(sent.part);
    const float factor = sent.factor_of(m + mine * sent.sent_floats, e.numbers[mine] > 0.f);
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
#endif

}  // namespace WB_ISA
}  // namespace wb
