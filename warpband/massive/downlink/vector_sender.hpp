#pragma once
// How one warp sends vectors of a frame whose H is in shared memory: `at_once` (of the policy) at once.
//
// Who calls: one whole warp, `send`. Needs: H and the solutions in shared memory, and `scratch_floats` floats
// of it for each warp. Barriers: none inside but `__syncwarp`; the caller waits for the solutions.
#include <warpband/massive/downlink/send_block.hpp>
#include <warpband/massive/downlink/sent_vectors.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
template <class P>
struct vector_sender : send_block<P> {
  using base = send_block<P>;
  using base::a, base::p, base::lane, base::U, base::Many;
  using typename base::Shape;
  static constexpr int at_once = P::at_once;
  float* scratch;  // of this warp

  /// `number`: of this warp among those that have scratch memory.
  WB_HD vector_sender(const base& b, int number)
      : base(b), scratch(b.shared + b.p.scratch + number * b.p.scratch_floats) {}

  /// Sends vectors `first` to `first` + at_once - 1 of the group of `count` vectors from number `number` on,
  /// whose H is at h. If the group has fewer, its last one is sent several times.
  WB_HD void send(const float* h, ring_position at, int first, int count, std::size_t number) const {
    const float* const slot = this->slots()[at.stage / 2];
    const int begin = base::group * (at.stage % 2);
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
      const int mine = i + part < at_once ? i + part : at_once - 1;
      factors[i / parts] =
          sent.factor_of(scratch + mine * sent_floats, slot[Shape::diagonal + begin + vector(mine)] > 0.f);
    }
    WB_UNROLL for (int i = 0; i < at_once; i++)
        sent.store(number + static_cast<std::size_t>(vector(i)), scratch + i * sent_floats,
                   __shfl_sync(0xffffffffu, factors[i / parts], antenna_runs * (i % parts)));
    __syncwarp();
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
