#pragma once
#include <warpband/detect/detect_op.hpp>
#include <warpband/detect/ml/ml_body.hpp>

namespace wb {
inline namespace WB_ISA {

template <class S, int Tile>
struct ml_op {
  detect_call a;
  static constexpr bool by_block = false;
  static constexpr int tile = Tile;
  int threads() const { return 1; }
  std::size_t scratch(int) const { return 0; }
  /// `leaf`: antenna 0; `point`: one of antenna 1 with it; `prefix`: antennas 2 and up, with all of those.
  double flops() const {
    const double n = a.streams, levels = 1 << a.pam_bits, bits = a.pam_bits, prior = a.prior.data ? 1 : 0;
    const double leaf = 3 + levels * (6 + 2 * (1 + bits));
    const double point = 5 + prior + bits + leaf, row = 5 + prior + bits + levels * point;
    const double prefix = (n - 2) * (2 * (n - 3) + 12 + 2 * prior + 2 * bits) + levels * row;
    double prefixes = 1;
    for (int k = 2; k < a.streams; k++) prefixes *= levels * levels;
    return lattice_flops(a) + prior_flops(a) + (a.streams == 1 ? leaf : prefixes * prefix) + llr_flops(a);
  }
  double bytes() const { return detect_bytes(a); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using N = typename S::streams;
    const S s(a);
    lattice<N, T> m;
    T n0;
    auto good = load_lattice(a, s, item, as_they_come{}, m, n0);
    minima<N, typename S::pam, T> found;
    found.clear(s.n, s.b);
    with_prior(a, s, item, as_they_come{}, n0, good,
               [&](auto* costs) WB_INLINE_LAMBDA { exhaustive(g, s.n, s.b, m, costs, found); });
    loop(s.n, [&](int k) WB_INLINE_LAMBDA { found.merge(g, s.b, k); });
    store_llrs(a, s.n, s.b, item, g, as_they_come{}, llr_scale(n0), good,
               [&](int k, int i) WB_INLINE_LAMBDA { return found.difference(s.b, k, i); });
  }
};

}  // namespace WB_ISA
}  // namespace wb
