#pragma once
// Which path wrote what a stage of the tree holds, for each path of a list: fields of a number by stages.
#include <warpband/fec/polar/polar_paths.hpp>

namespace wb {
inline namespace WB_ISA {

template <class P>
struct polar_writers {
  using I = typename P::I;
  using N = typename P::number;
  static constexpr int L = P::paths_of_list, bits = L > 2 ? polar_log2(L) : 1, stages = 10;
  static constexpr int in_word = (is_whole<I> ? 15 : 30) / bits, words = (stages + in_word - 1) / in_word;
  N fields[words];

  WB_HD explicit polar_writers(const P&) {
    for (int w = 0; w < words; w++) fields[w] = P::all(I(0));
  }
  /// The path whose numbers stage 1..10 has for each path.
  WB_HD N by(int stage) const {
    N r = P::all(I(0));
    WB_UNROLL for (int w = 0; w < words; w++) {
      const int f = stage - 1 - w * in_word, shift = f * bits;
      if (f >= 0 && f < in_word)
        r = each([=](I x) WB_INLINE_LAMBDA { return (x >> shift) & I(L - 1); }, fields[w]);
    }
    return r;
  }
  /// Each path has written its own.
  WB_HD void note(const P& p, int stage) {
    WB_UNROLL for (int w = 0; w < words; w++) {
      const int f = stage - 1 - w * in_word, shift = f * bits;
      if (f >= 0 && f < in_word)
        fields[w] =
            each([=](I x, I path) WB_INLINE_LAMBDA { return (x & I(~((L - 1) << shift))) | (path << shift); },
                 fields[w], p.paths());
    }
  }
  /// Path p goes on as the heir of path from(p).
  WB_HD void inherit(const P& p, N from) {
    for (int w = 0; w < words; w++) fields[w] = p.permuted(fields[w], from);
  }
};

}  // namespace WB_ISA
}  // namespace wb
