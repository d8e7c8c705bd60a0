#pragma once
#include <warpband/exec/op.hpp>
#include <warpband/stbc/pair_body.hpp>
#include <warpband/stbc/stbc_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// From the sums over antennas to those of a pair code, V in `v`.
template <class T>
WB_HD pair_channel<T> pair_channel_of(const codeword_sums<T>& s, const cx_pair (&v)[4]) {
  constexpr float half = 0.707106781f;  // 1 / sqrt 2, of the code
  pair_channel<T> h;
  const auto entry = [&](int i) WB_INLINE_LAMBDA { return cx<T>{T(v[i].re), T(v[i].im)}; };
  const cx<T> v11 = entry(0), v12 = entry(1), v21 = entry(2), v22 = entry(3);
  const cx<T> none = {T(0.f), T(0.f)};
  /// sum of conj(h1) y1 + h2 conj(y2), and of conj(h2) y1 - h1 conj(y2)
  const auto matched = [&](cx<T> a, cx<T> b, cx<T> c, cx<T> d, cx<T>(&z)[2]) WB_INLINE_LAMBDA {
    z[0] = T(half) * cx<T>{a.re + b.re, a.im - b.im};
    z[1] = T(half) * cx<T>{c.re - d.re, c.im + d.im};
  };
  matched(s.a, s.b, s.c, s.d, h.zp);
  // The same of the gains H V.
  matched(conj_fma(v11, s.a, conj_fma(v21, s.c, none)), conj_fma(v12, s.d, conj_fma(v22, s.b, none)),
          conj_fma(v12, s.a, conj_fma(v22, s.c, none)), conj_fma(v11, s.d, conj_fma(v21, s.b, none)), h.zq);
  // V's columns paired: the products with n1, t, n2.
  const cx<T> v21_12 = {v21.re + v12.re, v21.im - v12.im}, v22_11 = {v22.re - v11.re, v22.im + v11.im};
  const cx<T> g1 =
      fma(s.t, v21_12, cx<T>{fma(s.n2, v22.re, s.n1 * v11.re), fnma(s.n2, v22.im, s.n1 * v11.im)});
  const cx<T> g2 =
      fma(s.t, v22_11, cx<T>{fnma(s.n2, v21.re, s.n1 * v12.re), fma(s.n2, v21.im, s.n1 * v12.im)});
  h.g1 = T(0.5f) * g1;
  h.g2 = T(0.5f) * g2;
  h.p = T(0.5f) * (s.n1 + s.n2);
  return h;
}

template <int B, bool Soft, int Tile>
struct pair_op : thread_op<stbc_decode_args> {
  static constexpr int tile = Tile;
  double flops() const {
    const double turn =
        39 + search_flops(B, Soft, false, 4 * (B + 1)) + (Soft ? 2 * 2 * B * stored_llr_flops : 0);
    return codeword_sums_flops(a) + 70 + square_root_flops + division_flops + 1 + (B - 1) +
           (Soft ? 2 * turn + division_flops : turn) + (!Soft && a.bits.data ? 8 * (B - 1) : 0);
  }
  double bytes() const { return stbc_bytes(a, 4); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const codeword_sums<T> s(a, item);
    pair_channel<T> h = pair_channel_of(s, a.v);
    const T root = sqrt(h.p), per_root = T(1.f) / root;
    const sliced_pair<B, T> other(T(qam_scale<B>()) * root);
    if constexpr (Soft) {
      const T scale = s.llr_scale();
      // The pair that is searched gets its LLRs: both in turn.
      WB_ROLL for (int turn = 0; turn < 2; turn++) {
        pair_minima<B, T> found;
        search_minima(g, condition<B>(h, root, per_root), other, found);
        store_pair(a, turn ? 0 : 2, item, g, found, scale, s.good);
        h.turn();
      }
    } else {
      best_pair<T> best;
      search_best<B>(g, condition<B>(h, root, per_root), other, best);
      const folds<B, T> unit(T(1.f));
      WB_UNROLL for (int k = 0; k < 2; k++) {
        store_decision(a, k, item, g, s.good, other.borders, best.after.value[k]);
        store_decision(a, 2 + k, item, g, s.good, unit, best.level[k]);
      }
    }
    store_status(a, item, g, s.good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
