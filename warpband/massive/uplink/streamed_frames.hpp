#pragma once
// The detector for 64 users on a CUDA device, by the blocks of frame_stream.hpp. It computes what
// uplink_op.hpp computes, with the same bits. In pass 2 a warp sums H^H y of eight users. A single vector is
// summed in pass 0.
#include <warpband/massive/frame_stream.hpp>
#include <warpband/massive/uplink/uplink_op.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// H^H y of several vectors.
template <class P>
struct streamed_filters : streamed_tiles<P> {
  using base = streamed_tiles<P>;
  using base::base;
  using base::p, base::part, base::results, base::over_antennas;
  using typename base::Shape;

  /// H^H y of the users from u0 to u0 + 7 and up to 16 vectors, of which those below `count` are stored: a
  /// rectangle whose columns are vectors.
  WB_HD void rectangle_of_vectors(int u0, int count) const {
    four_sums sums[8][4];
    over_antennas([&](const float* run_of_h, const float* at_y, int mine) {
      this->add_rectangle(
          sums, run_of_h + 2 * u0, mine,
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
      const int at = this->template number_of<64>(i), side = 4 * part + at % 8 / 2;
      if (side < count)
        *reinterpret_cast<float2*>(results + Shape::right + side * Shape::side_floats + 2 * (u0 + at / 8)) = {
            sum[i], sum[i + 1]};
    }
  }
};

/// The sums of a frame, in the place of `sums_over_antennas`.
template <class P>
struct streamed_sums {
  frame_stream<P>& stream;
  template <class Engine>
  WB_HD void operator()(const Engine& e, int symbol, int count) const {
    async_copies::wait();
    e.g.sync();
    const streamed_filters<P> tiles(stream, e.m.data);
    if (symbol == 0) tiles.gram(stream.warp);
    if constexpr (P::many) tiles.rectangle_of_vectors(8 * stream.warp, count);
    e.g.sync();
    const bool last = symbol + count == e.a.symbols;
    stream.load_vectors(stream.now + last, last ? 0 : symbol + count);
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
