#pragma once
// Runs a decoding program on a list, and transforms the decided bits back to u.
//
// Both functions are collectives of all threads of the list. The program is the same for all threads. Partial
// sums of the root are in list.sums() after polar_run, u after polar_transform; both end with g.sync().
// Cost of the transform: (N / word_bits) log2(N) / 2 operations on words per path.
#include <warpband/fec/polar/polar_list.hpp>

namespace wb {
inline namespace WB_ISA {

template <class Y>
WB_HD void polar_run(Y& list, const std::int32_t* program, int length) {
  std::int32_t next = length > 0 ? program[0] : 0;
  for (int i = 0; i < length; i++) {
    const std::int32_t instruction = next;
    if (i + 1 < length) next = program[i + 1];  // prefetched during this step
    const int stage = instruction >> 4 & 15, parity_class = instruction >> 8;
    switch (static_cast<polar_step>(instruction & 15)) {
      case polar_step::left_llrs:
        // One path has no use of the LLRs of frozen bits.
        if (Y::P::paths_of_list > 1 || static_cast<polar_step>(next & 15) != polar_step::rate_0)
          list.compute_left_llrs(stage);
        break;
      case polar_step::right_llrs:
        list.compute_right_llrs(stage);
        break;
      case polar_step::partial_sums:
        list.combine_partial_sums(stage);
        break;
      case polar_step::rate_0:
        list.decode_rate_0(stage);
        break;
      case polar_step::repetition:
        list.decode_repetition(stage);
        break;
      case polar_step::spc:
      case polar_step::rate_1: {
        const bool is_rate_1 = static_cast<polar_step>(instruction & 15) == polar_step::rate_1;
        list.decode_rate_1_or_spc(stage, !is_rate_1);
        if (is_rate_1 && parity_class != polar_no_parity_class) list.add_to_parity_class(parity_class);
        break;
      }
      case polar_step::parity_check:
        list.decode_parity_check(parity_class);
        break;
    }
  }
}

/// Replaces the coded bits d in list.sums() by u = d F^(x)n for each path.
template <class Y>
WB_HD void polar_transform(Y& list) {
  using P = typename Y::P;
  using I = typename P::I;
  const P& p = list.p;

  const int words = list.layout.words();
  for (int w = p.replica(); w < words; w += P::replicas)
    p.store_word(
        list.sums(), w,
        map([](I x) WB_INLINE_LAMBDA { return polar_transform_word(x); }, p.load_word(list.sums(), w)));
  p.g.sync();
  for (int step = 1; step < words; step *= 2) {
    for (int i = p.replica(); i < words / 2; i += P::replicas) {
      const int w = i / step * 2 * step + i % step;
      p.store_word(list.sums(), w, p.load_word(list.sums(), w) ^ p.load_word(list.sums(), w + step));
    }
    p.g.sync();
  }
}

}  // namespace WB_ISA
}  // namespace wb
