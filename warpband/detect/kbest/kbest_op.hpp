#pragma once
#include <warpband/detect/detect_op.hpp>
#include <warpband/detect/kbest/kbest_args.hpp>
#include <warpband/detect/kbest/kbest_body.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

/// `Tile`: threads of a CUDA device that share a use. With known points it takes no real tree and no prior.
template <class S, int Tile>
struct kbest_op : thread_op<kbest_args> {
  static constexpr int tile = Tile;
  std::size_t scratch(int) const { return std::size_t{11} * static_cast<std::size_t>(a.survivors); }
  /// With one round of each bisection over all children: how many it takes follows from the data.
  double flops() const {
    const double n = a.streams, levels = 1 << a.pam_bits, bits = a.pam_bits, survivors = a.survivors,
                 step = a.prior.data ? 3 : 2;
    double operations = lattice_flops(a) + prior_flops(a) + llr_flops(a), paths = 1;
    const auto expand = [&](int k, bool real, bool imaginary) {
      const double rows = real ? levels : 1, columns = imaginary ? levels : 1;
      const double children = rows * columns, pass = step * ((real ? rows : 0) + (imaginary ? children : 0));
      const bool selects = paths * children > survivors;
      operations += paths * (4 * (n - 1 - k) + 10 * (real + imaginary) + 3 +
                             (paths * children > 2 * survivors ? 2 : 1) * pass);
      paths = selects ? survivors : paths * children;
    };
    for (int k = a.streams - 1; k >= 0; k--) {
      expand(k, !a.real_valued, true);
      if (a.real_valued) expand(k, true, false);
    }
    return operations + paths * (2 + 2 * bits * n);
  }
  double bytes() const { return detect_bytes(a); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using N = typename S::streams;
    using B = typename S::pam;
    const S s(a);
    const order_of_use<S, T> order(a, s, item, 0);
    lattice<N, T> m;
    T n0;
    auto good = load_lattice(a, s, item, order, m, n0);
    with_prior(a, s, item, order, n0, good, [&](auto* costs) WB_INLINE_LAMBDA {
      kbest_search<G, N, B, T, prior_costs<S, T>> search(g, s.n, s.b, m, costs, a.survivors, scratch);
      search.run(a.real_valued);
      const auto store = [&](auto difference) WB_INLINE_LAMBDA {
        store_llrs(a, s.n, s.b, item, g, order, llr_scale(n0), good, difference);
      };
      if constexpr (G::size > 1) {
        store([&](int k, int i) WB_INLINE_LAMBDA { return search.difference(k, i); });
      } else {
        hypotheses<N, B, T> found;
        found.clear(s.n, s.b);
        search.collect(found);
        store([&](int k, int i) WB_INLINE_LAMBDA { return found.difference(s.b, k, i); });
      }
    });
  }
};

}  // namespace WB_ISA
}  // namespace wb
