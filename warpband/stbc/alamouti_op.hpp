#pragma once
#include <warpband/exec/op.hpp>
#include <warpband/stbc/stbc_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Writes the LLRs of a symbol behind combining: w is the symbol, whose levels have the given borders, and
/// noise of variance 1 / scale.
template <int B, class T, class G>
WB_HD void store_combined(const stbc_decode_args& a, int symbol, item<T> item, G g,
                          typename rebind<T>::mask good, const folds<B, T>& borders, cx<T> w, T scale) {
  T llr[2][B];
  WB_UNROLL for (int q = 0; q < 2; q++) {
    const T x = q ? w.im : w.re, nearest = abs(borders.error(x));
    borders.each_bit(x, [&](int i, T v) WB_INLINE_LAMBDA {
      const T other = abs(v) + borders.g();  // to the nearest level with the other bit
      const T apart = (other - nearest) * (other + nearest) * scale;
      const auto zero = i == 0 ? v >= T(0.f) : v <= T(0.f);
      llr[q][i] = select(zero, apart, -apart);
    });
  }
  store_symbol<B>(a, symbol, item, g, good, [&](int q, int i) WB_INLINE_LAMBDA { return llr[q][i]; });
}

/// Combining turns the codeword into two symbols with the gain p = |H|^2 each; LLRs follow in closed form.
template <int B, bool Soft>
struct alamouti_op : thread_op<stbc_decode_args> {
  double flops() const {
    const double combined = codeword_sums_flops(a) + 1 + square_root_flops + division_flops + 8 + 1 + (B - 1);
    if (Soft) return combined + division_flops + 4 * (B + (B - 1) + B * (3 + stored_llr_flops));
    return combined + (a.bits.data ? 4 * (B - 1) : 0);
  }
  double bytes() const { return stbc_bytes(a, 2); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const codeword_sums<T> s(a, item);
    const T root = sqrt(s.n1 + s.n2), per_root = T(1.f) / root;
    const cx<T> w[2] = {per_root * cx<T>{s.a.re + s.b.re, s.a.im - s.b.im},
                        per_root * cx<T>{s.c.re - s.d.re, s.c.im + s.d.im}};
    const folds<B, T> borders(T(qam_scale<B>()) * root);
    if constexpr (Soft) {
      const T scale = s.llr_scale();
      WB_UNROLL for (int k = 0; k < 2; k++) store_combined(a, k, item, g, s.good, borders, w[k], scale);
    } else {
      WB_UNROLL for (int k = 0; k < 2; k++) store_decision(a, k, item, g, s.good, borders, w[k]);
    }
    store_status(a, item, g, s.good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
