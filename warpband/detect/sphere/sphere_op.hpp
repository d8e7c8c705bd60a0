#pragma once
#include <warpband/detect/detect_op.hpp>
#include <warpband/detect/sphere/sphere_args.hpp>
#include <warpband/detect/sphere/sphere_body.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class S, bool Soft>
struct sphere_op : thread_op<sphere_args> {
  /// Of a search that visits only the first path: a node for each stream. How many follow is up to the data.
  double flops() const {
    const double n = a.streams, levels = 1 << a.pam_bits, bits = a.pam_bits;
    const double step = a.prior.data ? 2 * levels : 9;  // the nearest one of a dimension
    const double child = 2 * step + 4 + (Soft ? n + 4 + 2 * bits : 1);
    const double leaf = 6 * levels + 3 + (Soft ? 2 * levels * (1 + bits) + 4 * bits : 0);
    const double updates = Soft ? (n - 1) * 6 * bits : 0;
    return lattice_flops(a) + prior_flops(a) + 2 * n * (n - 1) + (n - 1) * child + leaf + updates +
           llr_flops(a);
  }
  double bytes() const { return detect_bytes(a) + (a.visited.data ? 4 : 0); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const S s(a);
    const order_of_use<S, T> order(a, s, item, 0);
    lattice<typename S::streams, T> m;
    T n0;
    auto good = load_lattice(a, s, item, order, m, n0);
    with_prior(a, s, item, order, n0, good, [&](auto* costs) WB_INLINE_LAMBDA {
      const sphere_limits<T> limits{clip_distance(s, item, n0), distance_of(a.radius, n0), a.node_limit};
      sphere_search<Soft, typename S::streams, typename S::pam, T, prior_costs<S, T>> search(s.n, s.b, m,
                                                                                             costs, limits);
      search.run(good);
      store_llrs(a, s.n, s.b, item, g, order, llr_scale(n0), good,
                 [&](int k, int i) WB_INLINE_LAMBDA { return search.difference(k, i); });
      if (a.visited.data) store_int<T>(a.visited, 0, item, search.visited());
    });
  }

 private:
  template <class T>
  WB_HD static T distance_of(float x, T n0) {
    return x < 3e38f ? min(T(x) * n0, T(unreached)) : T(unreached);
  }
  /// An extrinsic LLR of the clip is one of the clip and the prior together.
  template <class T>
  WB_HD T clip_distance(S s, item<T> item, T n0) const {
    if (!(a.clip < 3e38f)) return T(unreached);
    T clip = T(a.clip);
    if (a.extrinsic && a.prior.data) {
      T largest = T(0.f);
      for (int i = 0; i < 2 * s.b * s.n; i++) {
        const T p = load(a.prior, static_cast<std::size_t>(i), item);
        largest = max(largest, select(is_finite(p), abs(p), T(0.f)));
      }
      clip = clip + min(largest, T(most_prior));
    }
    return min(clip * n0, T(unreached));
  }
};

}  // namespace WB_ISA
}  // namespace wb
