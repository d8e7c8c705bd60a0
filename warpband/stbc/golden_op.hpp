#pragma once
#include <warpband/exec/op.hpp>
#include <warpband/stbc/golden_body.hpp>
#include <warpband/stbc/stbc_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Threads that share a codeword of symbols of 2 B bits, as in mapping.hpp.
#if defined(__CUDACC__)
template <int B>
inline constexpr int codeword_tile = B == 1   ? 1
                                     : B == 2 ? 4
                                     : B == 3 ? 16
                                              : 32;
#else
template <int B>
inline constexpr int codeword_tile = 1;
#endif

/// From the sums over antennas to those of the Golden code. Its numbers: t = (1 + sqrt 5) / 2, t' = 1 - t,
/// a = 1 + i - i t, a' = 1 + i - i t'; |a|^2 = 1 + t'^2, |a'|^2 = 1 + t^2.
template <class T>
WB_HD golden_channel<T> golden_channel_of(const codeword_sums<T>& s) {
  constexpr double golden = 1.6180339887498948482, other = 1 - golden, root5 = 2.2360679774997896964;
  constexpr float t = static_cast<float>(golden), u = static_cast<float>(other);
  // a / sqrt 5 = (1 + i t') / sqrt 5, a' / sqrt 5 = (1 + i t) / sqrt 5
  constexpr float re = static_cast<float>(1 / root5), a_im = static_cast<float>(other / root5),
                  b_im = static_cast<float>(golden / root5);
  constexpr float a2 = static_cast<float>((1 + other * other) / 5),
                  b2 = static_cast<float>((1 + golden * golden) / 5);
  const cx<T> a = {T(re), T(a_im)}, b = {T(re), T(b_im)}, none = {T(0.f), T(0.f)};
  golden_channel<T> h;
  const T first = T(a2) * s.n1, second = T(b2) * s.n2;
  h.a = first + second;
  h.b = fma(T(u), second, T(t) * first);
  h.d = fma(T(static_cast<float>(other * other)), second, T(static_cast<float>(golden * golden)) * first);
  const auto twice = [&](cx<T> x, cx<T> y, cx<T>(&z)[2]) WB_INLINE_LAMBDA {  // x, y: with t and t'
    z[0] = x + y;
    z[1] = {fma(T(u), y.re, T(t) * x.re), fma(T(u), y.im, T(t) * x.im)};
  };
  const auto turned = [](cx<T> z) WB_INLINE_LAMBDA { return cx<T>{z.im, -z.re}; };  // -i z
  twice(conj_fma(a, s.a, none), conj_fma(b, s.b, none), h.zp);
  twice(conj_fma(a, s.d, none), turned(conj_fma(b, s.c, none)), h.zq);
  // r = conj(h1 a) h2 a' / 5; P^H Q = [[i r + r*, i t' r + t r*], [i t r + t' r*, -(i r + r*)]]
  const cx<T> r = conj_fma(a, fma(s.t, b, none), none);
  const cx<T> ir = {-r.im, r.re}, rc = {r.re, -r.im};
  h.g[0][0] = ir + rc;
  h.g[0][1] = {fma(T(u), ir.re, T(t) * rc.re), fma(T(u), ir.im, T(t) * rc.im)};
  h.g[1][0] = {fma(T(t), ir.re, T(u) * rc.re), fma(T(t), ir.im, T(u) * rc.im)};
  h.g[1][1] = {-h.g[0][0].re, -h.g[0][0].im};
  return h;
}

/// Other: enumerated or sliced_twice.
template <template <int, class> class Other, int B, bool Soft>
struct golden_op : thread_op<stbc_decode_args> {
  static constexpr int tile = codeword_tile<B>;
  static constexpr bool slicing = requires(Other<B, float> o) { o.cost(0.f, 0.f, 0.f); };
  double flops() const {
    constexpr double least = Other<B, float>::least_flops, decide = Other<B, float>::decide_flops;
    constexpr int turns = Soft || slicing ? 2 : 1;
    const double setup = slicing ? 3 + 3 * division_flops : (1 << B) / 2;
    const double turn = 52 + search_flops(B, Soft, true, 2 + 2 * least) +
                        (Soft ? 2 * 2 * B * stored_llr_flops : 2 * decide + division_flops + 10);
    return codeword_sums_flops(a) + 53 + square_root_flops + division_flops + 2 + (B - 1) + 3 + setup +
           turns * turn + (Soft ? division_flops : 0) + (!Soft && slicing ? 8 : 0) +
           (!Soft && a.bits.data ? 8 * (B - 1) : 0);
  }
  double bytes() const { return stbc_bytes(a, 4); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const float scale = qam_scale<B>();
    const codeword_sums<T> s(a, item);
    golden_channel<T> h = golden_channel_of(s);
    const T root = sqrt(h.a), per_root = T(1.f) / root, beta = h.b * per_root;
    Other<B, T> other(T(scale) * root);
    other.step = T(scale) * beta;
    other.weight = T(scale * scale) * fnma(beta, beta, h.d);
    if constexpr (!slicing) {
      WB_UNROLL for (int j = 0; j < (1 << B) / 2; j++) other.weighted[j] =
          other.weight * T(level_of<B>(j) * level_of<B>(j));
    } else {
      const T whole = T(scale * scale) * h.d;
      other.weight = max(other.weight, T(1e-7f) * whole);
      other.per_g = T(1.f) / other.borders.g();
      other.per_weight = T(0.5f) / other.weight;
      other.per_sum = T(1.f) / whole;
    }
    if constexpr (Soft) {
      const T to_llr = s.llr_scale();
      // The pair that is searched gets its LLRs: both in turn.
      WB_ROLL for (int turn = 0; turn < 2; turn++) {
        pair_minima<B, T> found;
        search_minima(g, condition<B>(h, per_root, beta), other, found);
        store_pair(a, turn ? 0 : 2, item, g, found, to_llr, s.good);
        h.turn();
      }
    } else {
      best_pair<T> best;
      const conditioned<T> problem = condition<B>(h, per_root, beta);
      search_best<B>(g, problem, other, best);
      cx<T> level[4] = {{}, {}, best.level[0], best.level[1]};
      const auto decide_other = [&](cx<T>(&one)[2]) WB_INLINE_LAMBDA {
        cx<T> rest;
        other.decide(best.after.value[0].re, best.after.value[1].re, one[1].re, rest.re);
        other.decide(best.after.value[0].im, best.after.value[1].im, one[1].im, rest.im);
        const T per_g = T(1.f) / other.borders.g();
        one[0] = {nearest_level<B>(rest.re * per_g), nearest_level<B>(rest.im * per_g)};
      };
      cx<T> sliced[2];
      decide_other(sliced);
      level[0] = sliced[0];
      level[1] = sliced[1];
      if constexpr (slicing) {  // conditioned by the other pair too: the better of the two
        const T before = best.least - norm(problem.value[0]);
        h.turn();
        const conditioned<T> turned = condition<B>(h, per_root, beta);
        search_best<B>(g, turned, other, best);
        const auto closer = best.least - norm(turned.value[0]) < before;
        decide_other(sliced);
        WB_UNROLL for (int k = 0; k < 2; k++) {
          level[k].re = select(closer, best.level[k].re, level[k].re);
          level[k].im = select(closer, best.level[k].im, level[k].im);
          level[2 + k].re = select(closer, sliced[k].re, level[2 + k].re);
          level[2 + k].im = select(closer, sliced[k].im, level[2 + k].im);
        }
      }
      const folds<B, T> unit(T(1.f));
      WB_UNROLL for (int k = 0; k < 4; k++) store_decision(a, k, item, g, s.good, unit, level[k]);
    }
    store_status(a, item, g, s.good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
