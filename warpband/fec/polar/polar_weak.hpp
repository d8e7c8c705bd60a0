#pragma once
// The weakest bits of a node, one after the other, for each path of a list.
#include <warpband/fec/polar/polar_paths.hpp>

namespace wb {
inline namespace WB_ISA {

/// A bit of a node and its |LLR|.
template <class P>
struct polar_weak {
  typename P::value size;
  typename P::number place;
  /// Where none was found before.
  WB_HD static typename P::number none() { return P::all(typename P::I(-1)); }
};

/// The weakest of the `count` bits of each path, of equal ones the first. `sizes` are their |LLR|; that of
/// the bit at `taken` is overwritten first, so that calls with the place found last find one bit after
/// another.
template <class Rules, class P>
WB_HD_CALL polar_weak<P> polar_weakest(const P& p, typename P::E* sizes, int count,
                                       typename P::number taken) {
  using T = typename P::lane_type;
  using I = typename P::I;
  polar_weak<P> r{P::all(Rules::above_all()), P::all(I(0))};
  I place(p.replica());
  WB_LIST_LOOP for (int k = 0; k < p.own(count); k++) {
    const auto size =
        each([=](T x, I t) WB_INLINE_LAMBDA { return select(t == place, Rules::above_all(), x); },
             p.load_own(sizes, k), taken);
    p.store_own(sizes, k, size);
    WB_UNROLL_VECTORS for (int c = 0; c < P::C; c++) {
      r.place.x[c] = select(size.x[c] < r.size.x[c], place, r.place.x[c]);
      r.size.x[c] = min(size.x[c], r.size.x[c]);
    }
    place = place + I(P::replicas);
  }
  if constexpr (P::replicas > 1)
    for (int step = P::paths_of_list; step < P::threads; step *= 2) {
      const auto size = p.of_other_thread(r.size.x[0], step);
      const auto there = p.of_other_thread(r.place.x[0], step);
      const bool better = size < r.size.x[0] || (size == r.size.x[0] && there < r.place.x[0]);
      if (better) r.size.x[0] = size, r.place.x[0] = there;
    }
  return r;
}

}  // namespace WB_ISA
}  // namespace wb
