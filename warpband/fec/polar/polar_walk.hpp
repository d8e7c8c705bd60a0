#pragma once
// A list on its way through the code's tree, and the bits at its end.
#include <warpband/fec/polar/polar_list.hpp>

namespace wb {
inline namespace WB_ISA {

/// Does the steps of a program.
template <class Y>
WB_HD void polar_walk(Y& list, const std::int32_t* program, int steps) {
  std::int32_t next = steps > 0 ? program[0] : 0;
  for (int i = 0; i < steps; i++) {
    const std::int32_t instruction = next;
    if (i + 1 < steps) next = program[i + 1];  // loaded while this step is done
    const int stage = instruction >> 4 & 15, place = instruction >> 8;
    switch (static_cast<polar_step>(instruction & 15)) {
      case polar_step::left:
        list.left(stage);
        break;
      case polar_step::right:
        list.right(stage);
        break;
      case polar_step::combine:
        list.combine(stage);
        break;
      case polar_step::frozen:
        list.frozen(stage);
        break;
      case polar_step::repetition:
        list.repetition(stage);
        break;
      case polar_step::single_parity:
      case polar_step::rate_one: {
        const bool any_bits = static_cast<polar_step>(instruction & 15) == polar_step::rate_one;
        list.decided(stage, !any_bits);
        if (any_bits && place != polar_untracked) list.track(place);
        break;
      }
      case polar_step::check:
        list.check(place);
        break;
    }
  }
}

/// The bits u of every path into `now`, from the coded bits there.
template <class Y>
WB_HD void polar_transform(Y& list) {
  using P = typename Y::P;
  using I = typename P::I;
  const P& p = list.p;

  const int words = list.at.words();
  for (int w = p.replica(); w < words; w += P::replicas)
    p.store(list.now(), w,
            P::as_values(each([](I x) WB_INLINE_LAMBDA { return polar_word(x); },
                              P::as_numbers(p.load(list.now(), w)))));
  p.g.sync();
  for (int step = 1; step < words; step *= 2) {
    for (int i = p.replica(); i < words / 2; i += P::replicas) {
      const int w = i / step * 2 * step + i % step;
      p.store(list.now(), w,
              P::as_values(each([](I x, I y) WB_INLINE_LAMBDA { return x ^ y; },
                                P::as_numbers(p.load(list.now(), w)),
                                P::as_numbers(p.load(list.now(), w + step)))));
    }
    p.g.sync();
  }
}

}  // namespace WB_ISA
}  // namespace wb
