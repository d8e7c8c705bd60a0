#pragma once
// Pointers of the paths to stage memory: pathIndexToArrayIndex of Tal and Vardy, polar_pointers<P>.
//
// Stage s has one array per list entry. source(s) names, for each path, the entry whose array holds the
// path's values. A copied path copies its pointers only. A pointer has log2(L) bits; pointers of several
// stages are packed into integers, in registers. Codes of up to 1024 bits leave the last ones unused. Cost:
// one masked shift per read or write. Needs no barrier; `copy` is a collective of the list's threads.
#include <warpband/fec/polar/polar_paths.hpp>

namespace wb {
inline namespace WB_ISA {

template <class P>
struct polar_pointers {
  using I = typename P::I;
  using N = typename P::integer;
  static constexpr int L = P::paths_of_list, bits = L > 2 ? polar_log2(L) : 1, stages = 15;
  static constexpr int per_word = (is_whole<I> ? 15 : 30) / bits, words = (stages + per_word - 1) / per_word;
  static constexpr int least_words = (10 + per_word - 1) / per_word;
  N packed[words];
  int used;  // words with a stage of the code

  /// For a code of n bits.
  WB_HD explicit polar_pointers(int n) : used(least_words) {
    WB_UNROLL for (int w = 0; w < words; w++) {
      packed[w] = P::broadcast(I(0));
      if (w >= least_words && n >> (w * per_word) > 1) used = w + 1;
    }
  }
  /// The list entry whose array holds stage 1..15 of each path.
  WB_HD N source(int stage) const {
    N r = P::broadcast(I(0));
    WB_UNROLL for (int w = 0; w < words; w++) {
      const int field = stage - 1 - w * per_word, shift = field * bits;
      if (is_used(w) && field >= 0 && field < per_word)
        r = map([=](I x) WB_INLINE_LAMBDA { return (x >> shift) & I(L - 1); }, packed[w]);
    }
    return r;
  }
  /// Each path has written its stage into the array of its own entry.
  WB_HD void point_to_self(const P& p, int stage) {
    WB_UNROLL for (int w = 0; w < words; w++) {
      const int field = stage - 1 - w * per_word, shift = field * bits;
      if (is_used(w) && field >= 0 && field < per_word)
        packed[w] =
            map([=](I x, I path) WB_INLINE_LAMBDA { return (x & I(~((L - 1) << shift))) | (path << shift); },
                packed[w], p.paths());
    }
  }
  /// List entry p becomes a copy of path parent(p).
  WB_HD void copy(const P& p, N parent) {
    WB_UNROLL for (int w = 0; w < words; w++) if (is_used(w)) packed[w] = p.gathered(packed[w], parent);
  }

 private:
  WB_HD bool is_used(int w) const { return w < least_words || w < used; }
};

}  // namespace WB_ISA
}  // namespace wb
