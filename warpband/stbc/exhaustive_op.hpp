#pragma once
#include <warpband/exec/op.hpp>
#include <warpband/stbc/codeword_body.hpp>
#include <warpband/stbc/exhaustive_body.hpp>
#include <warpband/stbc/posterior_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Threads that share the search of so many codewords, as in mapping.hpp.
#if defined(__CUDACC__)
template <int Bits>
inline constexpr int exhaustive_tile = Bits == 16   ? 16
                                       : Bits == 12 ? 4
                                                    : 1;
#else
template <int Bits>
inline constexpr int exhaustive_tile = 1;
#endif

/// The form of a code of this kind with B bits a dimension.
template <int Kind, int B, class T>
WB_HD quadratic_form<2 * symbols_of_kind<Kind>, T> quadratic_form_of(const codeword_sums<T>& sums,
                                                                     const cx_pair (&v)[4]) {
  constexpr int symbols = symbols_of_kind<Kind>, dimensions = 2 * symbols;
  const cx<T> none = {T(0.f), T(0.f)};
  const cx<T> received[2][2] = {{sums.a, sums.d}, {sums.c, sums.b}};  // H^H Y
  cx<T> e[dimensions][2][2];
  WB_ROLL for (int d = 0; d < dimensions; d++) {
    cx<T> x[symbols];
    WB_UNROLL for (int k = 0; k < symbols; k++) {
      x[k] = {T(d == 2 * k ? qam_scale<B>() : 0.f), T(d == 2 * k + 1 ? qam_scale<B>() : 0.f)};
    }
    codeword_of<Kind>(x, v, e[d]);
  }
  const auto product = [&](const cx<T>(&p)[2][2], const cx<T>(&q)[2][2]) WB_INLINE_LAMBDA {
    cx<T> sum = none;
    WB_UNROLL for (int k = 0; k < 2; k++) {
      WB_UNROLL for (int t = 0; t < 2; t++) sum = conj_fma(p[k][t], q[k][t], sum);
    }
    return sum.re;
  };
  quadratic_form<dimensions, T> form;
  WB_ROLL for (int d = 0; d < dimensions; d++) {
    cx<T> arrives[2][2];  // H^H H E_d
    WB_UNROLL for (int t = 0; t < 2; t++) {
      const cx<T> one = e[d][0][t], two = e[d][1][t];
      arrives[0][t] = fma(sums.t, two, cx<T>{sums.n1 * one.re, sums.n1 * one.im});
      arrives[1][t] = conj_fma(sums.t, one, cx<T>{sums.n2 * two.re, sums.n2 * two.im});
    }
    form.square[d] = product(e[d], arrives);
    form.linear[d] = T(-2.f) * product(e[d], received);
    WB_ROLL for (int f = 0; f < d; f++) form.cross[f][d] = T(2.f) * product(e[f], arrives);
  }
  return form;
}

/// Codes of so many symbols. Soft: LLRs, or a-priori LLRs.
template <int Symbols, int B, bool Soft>
struct exhaustive_op : thread_op<stbc_decode_args> {
  static constexpr int dimensions = 2 * Symbols;
  static constexpr int tile = exhaustive_tile<dimensions * B>;
  double flops() const {
    const double levels = 1 << B, first = levels * levels;
    // The first two dimensions, then each level of the others; soft searches add a cost and keep a minimum.
    double hypotheses = first, search = first * (2 * dimensions + 1 + (Soft ? 4 : 0));
    for (int d = 2; d < dimensions; d++) {
      hypotheses *= levels;
      search += hypotheses * (2 + dimensions - d + (Soft ? 2 : d + 1 == dimensions ? 1 : 0));
    }
    // H^H H E, and products of two matrices.
    const double form = dimensions * (24 + 2 * 16 + 1) + dimensions * (dimensions - 1) / 2 * 17;
    const double stored = Soft ? dimensions * B * (levels + 1 + posterior_flops(a)) + division_flops
                               : dimensions * (2 + (a.bits.data ? B - 1. : 0));
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
      const T scale = s.llr_scale();
      WB_UNROLL for (int k = 0; k < Symbols; k++) {
        store_posterior<B>(a, k, item, g, scale, good,
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
