#pragma once
#include <warpband/detect/detect_op.hpp>
#include <warpband/detect/nway/nway_args.hpp>
#include <warpband/detect/nway/nway_body.hpp>
#include <warpband/detect/nway/nway_spread_body.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Args: nway_args, nway_spread_args for passes with a spread, or nway_word_args for fixed point.
template <class S, int Tile, class Args = nway_args>
struct nway_op : thread_op<Args> {
  using thread_op<Args>::a;
  static constexpr int tile = Tile;
  static constexpr bool has_spread = std::is_same_v<Args, nway_spread_args>;
  static constexpr bool in_words = std::is_same_v<Args, nway_word_args>;
  /// Blocks of 128 threads on a multiprocessor: without a prior measured on an H100, with one as many as the
  /// registers of its costs allow.
  static constexpr int resident = !S::pam::known || S::streams::capacity != 4 ? 1
                                  : !S::takes_prior                           ? 5
                                  : S::pam::capacity <= 2                     ? 4
                                                                              : 2;
  /// `child`: a point's step of one antenna below the top, its label and hypotheses; clamping to [0, 1] is
  /// part of a multiply. Roundings to words are no operations of fixed-point hardware. `choice`: what finds a
  /// point of a spread; a comparison is an operation.
  double flops() const {
    const double n = a.streams, levels = 1 << a.pam_bits, bits = a.pam_bits,
                 prior = a.prior.data || in_words ? 1 : 0;
    const double slice = prior ? 2 * levels + 1 : 3;
    if constexpr (has_spread) {
      double paths = 1, search = 0;
      for (int k = a.streams - 1; k >= 0; k--) {
        const double kept = a.spread[k], points = levels * levels;
        const double choice = kept == points ? 0
                              : kept > 1     ? levels * (3 + prior) + points * (8 + prior)
                                             : 2 * slice;
        search += paths * 8 * (n - 1 - k);
        paths *= kept;
        search += paths * (choice + 9 + 2 * prior);
      }
      search += paths * (2 * bits * n + 2);
      return a.ways * (lattice_flops(a) + prior_flops(a) + search) + llr_flops(a);
    }
    const double child = 7 + 2 * slice + 2 * prior + 2 * (n - 2) + 2 * bits;
    const double row = 2 * n + bits + levels * (5 + prior + bits + (n - 1) * child);
    return a.ways * (lattice_flops(a) + prior_flops(a) + levels * row + 2 * bits) + llr_flops(a);
  }
  double bytes() const { return detect_bytes(a); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const S s(a);
    const auto word = rule_of<T>(a);
    hypotheses<typename S::streams, typename S::pam, T> found;
    found.clear(s.n, s.b);
    auto good = mask_from<typename rebind<T>::mask>(true);
    T n0 = T(1.f);
    order_for<S, T> order(a, s, item, 0);
    for (int pass = 0; pass < a.ways; pass++) {  // entry `pass` of the order on top
      if (pass > 0) found.turn(s.n, s.b);
      order.first = pass + 1 < s.n ? pass + 1 : pass + 1 - s.n;
      lattice<typename S::streams, T> m;
      good = good & load_lattice(a, s, item, order, m, n0, word);
      const auto search = [&](auto* costs) WB_INLINE_LAMBDA {
        if constexpr (has_spread)
          nway_spread_pass(s.n, s.b, m, a.spread, costs, found);
        else
          nway_pass(g, s.n, s.b, m, costs, found, word);
      };
      with_prior(a, s, item, order, n0, good, search, word);
    }
    found.merge(g, s.n, s.b);
    order.first = a.ways < s.n ? a.ways : a.ways - s.n;
    if constexpr (word.is_fixed)
      store_llrs<S::takes_prior>(
          a, s.n, s.b, item, g, order, T(1.f), good,
          [&](int k, int i) WB_INLINE_LAMBDA { return word.ratio(found.difference(s.b, k, i), n0); });
    else
      store_llrs<S::takes_prior>(a, s.n, s.b, item, g, order, llr_scale(n0), good,
                                 [&](int k, int i) WB_INLINE_LAMBDA { return found.difference(s.b, k, i); });
  }
};

}  // namespace WB_ISA
}  // namespace wb
