#pragma once
#include <warpband/exec/op.hpp>
#include <warpband/stbc/exhaustive_body.hpp>
#include <warpband/stbc/prior_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Threads that share the search of so many codewords, as in mapping.hpp.
#if defined(__CUDACC__)
template <int Bits>
inline constexpr int exhaustive_tile = Bits == 16 ? 16 : Bits == 12 ? 4 : 1;
#else
template <int Bits>
inline constexpr int exhaustive_tile = 1;
#endif

/// Codes of so many symbols. Soft: LLRs, or a-priori LLRs.
template <int Symbols, int B, bool Soft>
struct exhaustive_op : thread_op<stbc_decode_args> {
  static constexpr int dimensions = 2 * Symbols;
  static constexpr int tile = exhaustive_tile<dimensions * B>;
  double flops() const {
    const double levels = 1 << B, pairs = dimensions * (dimensions - 1) / 2;
    double hypotheses = 1, search = 0;
    for (int d = 0; d < dimensions; d++) {
      hypotheses *= levels;
      const bool leaf = d + 1 == dimensions;
      search += hypotheses * (2 + (dimensions - 1 - d) + (d > 0 ? 1 : 0) + (Soft ? 2 : leaf ? 2 : 0));
    }
    // H^H H E, and products of two matrices.
    const double codeword = a.kind == 0 ? 2 : a.kind == 1 ? 42 : 26;
    const double form = dimensions * (codeword + 24 + 2 * 16 + 1) + pairs * 17;
    const double stored = Soft ? dimensions * B * (levels + 1 + 3 + (a.extrinsic ? 3 : 0)) + division_flops
                               : (a.bits.data ? dimensions * (B - 1.) : 0) + 2. * dimensions + B - 1;
    const double costs = Soft && a.prior.data != nullptr ? level_costs_flops(Symbols, B) : 0;
    return codeword_sums_flops(a) + form + search + stored + costs;
  }
  double bytes() const {
    return stbc_bytes(a, Symbols) + (a.prior.data != nullptr ? 4.0 * Symbols * 2 * B : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const codeword_sums<T> s(a, item);
    quadratic_form<dimensions, T> form;
    if constexpr (Symbols == 2)
      form = quadratic_form_of<0, B>(s, a.v);
    else if (a.kind == 1)
      form = quadratic_form_of<1, B>(s, a.v);
    else
      form = quadratic_form_of<2, B>(s, a.v);
    all_codewords<dimensions, B, Soft, T> found;
    if constexpr (Soft) {
      level_costs<Symbols, B, T> costs;
      auto good = s.good;
      if (a.prior.data != nullptr)
        good = good & costs.load_from(a, item, s.n0);
      else
        costs.clear();
      found.search(g, form, [&](int d, int j) WB_INLINE_LAMBDA { return costs.cost[d >> 1][d & 1][j]; });
      WB_UNROLL for (int k = 0; k < Symbols; k++) {
        store_posterior<B>(a, k, item, g, s.llr_scale(), good,
                           [&](int q, int i) WB_INLINE_LAMBDA { return found.difference(2 * k + q, i); });
      }
      store_status(a, item, g, good);
    } else {
      found.search(g, form, [](int, int) WB_INLINE_LAMBDA { return T(0.f); });
      const folds<B, T> unit(T(1.f));
      WB_UNROLL for (int k = 0; k < Symbols; k++)
          store_decision(a, k, item, g, s.good, unit, cx<T>{found.level(2 * k), found.level(2 * k + 1)});
      store_status(a, item, g, s.good);
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
