#pragma once
// Least reliable bits of a node, one by one, for each path of a list.
//
// polar_next_least_reliable is a collective of all threads of the list. It reads and writes |LLR|s in the
// list's scratch memory. Each thread accesses only its striped elements, so that it needs no barrier and
// leaves none. Cost per call: one pass over the node's |LLR|s.
#include <warpband/fec/polar/polar_paths.hpp>

namespace wb {
inline namespace WB_ISA {

/// A bit of a node: its index and |LLR|.
template <class P>
struct polar_least_reliable {
  typename P::value magnitude;
  typename P::integer index;
  /// The index before the first search.
  WB_HD static typename P::integer none() { return P::broadcast(typename P::I(-1)); }
};

/// The smallest of `count` magnitudes of each path, the first of equal ones. Before the search, the magnitude
/// at `previous` becomes infinite. Calls with the last index thus find the bits in order of reliability.
template <class Rules, class P>
WB_HD_CALL polar_least_reliable<P> polar_next_least_reliable(const P& p, typename P::E* magnitudes, int count,
                                                             typename P::integer previous) {
  using T = typename P::lane_type;
  using I = typename P::I;
  polar_least_reliable<P> r{P::broadcast(Rules::infinite_llr()), P::broadcast(I(0))};
  I index(p.replica());
  WB_POLAR_ELEMENT_LOOP for (int k = 0; k < p.striped_count(count); k++) {
    const auto magnitude =
        map([=](T x, I i) WB_INLINE_LAMBDA { return select(i == index, Rules::infinite_llr(), x); },
            p.load_striped(magnitudes, k), previous);
    p.store_striped(magnitudes, k, magnitude);
    WB_POLAR_VECTOR_LOOP for (int c = 0; c < P::C; c++) {
      r.index.x[c] = select(magnitude.x[c] < r.magnitude.x[c], index, r.index.x[c]);
      r.magnitude.x[c] = min(magnitude.x[c], r.magnitude.x[c]);
    }
    index = index + I(P::replicas);
  }
  if constexpr (P::replicas > 1)
    for (int step = P::paths_of_list; step < P::threads; step *= 2) {
      const auto magnitude = p.from_thread_xor(r.magnitude.x[0], step);
      const auto other_index = p.from_thread_xor(r.index.x[0], step);
      const bool better =
          magnitude < r.magnitude.x[0] || (magnitude == r.magnitude.x[0] && other_index < r.index.x[0]);
      if (better) r.magnitude.x[0] = magnitude, r.index.x[0] = other_index;
    }
  return r;
}

}  // namespace WB_ISA
}  // namespace wb
