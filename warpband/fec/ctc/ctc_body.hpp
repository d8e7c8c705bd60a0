#pragma once
// The decoder of convolutional turbo codes, once, over semiring M, lane type T and group G. See ctc.hpp for
// the contract.
//
// A symbol u = 2 a + b is a couple. Branch metrics are products of the symbol's weight and that of the two
// parity bits q = 2 y + w, each of four values. In log-MAP the largest of four is about 1, so that products
// of any LLRs stay in range.
//
// The N steps are split into windows, which are on a circle: the last one is the neighbour of the first. As
// in turbo_body.hpp a half-iteration reads border metrics and extrinsics of one buffer and writes the other.
// So every group size gives the same bits.
#include <warpband/core/group.hpp>
#include <warpband/fec/trellis/semiring.hpp>
#include <warpband/fec/turbo/turbo_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// The constituent code: feedback 1 + D + D^3, Y 1 + D^2 + D^3, W 1 + D^3. The state is 4 s1 + 2 s2 + s3.
struct ctc_trellis {
  static constexpr int states = 8, symbols = 4;
  /// What enters the first register.
  WB_HD static constexpr int entering(int s, int u) { return (u >> 1 ^ u ^ s >> 2 ^ s) & 1; }
  WB_HD static constexpr int next(int s, int u) { return entering(s, u) << 2 | (s >> 1 ^ 3 * (u & 1)); }
  /// 2 y + w.
  WB_HD static constexpr int parities(int s, int u) {
    const int in = entering(s, u), w = in ^ (s & 1);
    return 2 * (w ^ (s >> 1 & 1)) | w;
  }
  /// The state from which symbol u leads to s.
  WB_HD static constexpr int previous(int s, int u) {
    const int before = (s ^ 3 * (u & 1)) << 1 & 6;  // s1 and s2
    return before | ((s >> 2 ^ u >> 1 ^ u ^ before >> 2) & 1);
  }
};

/// Where the values of a codeword are in scratch: steps of all windows side by side, so that threads of
/// neighbouring windows touch different banks of shared memory.
struct ctc_layout {
  int couples, windows;
  WB_HD int start(int w) const { return w * couples / windows; }
  WB_HD int steps(int w) const { return start(w + 1) - start(w); }
  WB_HD int address(int w, int j) const { return j * windows + w; }
  WB_HD int address(int i) const {
    const int w = ((i + 1) * windows - 1) / couples;
    return address(w, i - start(w));
  }
  /// Of an array of one value for each couple, with unused ones where windows are not equally long.
  WB_HD int size() const { return (couples + windows - 1) / windows * windows; }
};

/// What a half-iteration reads and writes, in scratch: four arrays for the symbols, or parities, each.
template <class T>
struct ctc_half {
  const T *symbol, *parity, *apriori;
  T *extrinsic, *alpha;
  const std::int32_t* interleaved;  // null for the first decoder
  float scale;
};

/// The values of a step of window w.
template <class M, class T>
struct ctc_step {
  int place;     // of its couple in the arrays of symbols
  bool swapped;  // A and B
  T symbol[4], parity[4];

  /// Where the value of the decoder's symbol u is.
  WB_HD int place_of(int u, int size) const {
    return (swapped && (u == 1 || u == 2) ? 3 - u : u) * size + place;
  }

  WB_HD ctc_step(const ctc_layout& layout, const ctc_half<T>& h, int w, int j) {
    const int size = layout.size(), here = layout.address(w, j);
    place = h.interleaved != nullptr ? h.interleaved[here] : here;
    swapped = h.interleaved != nullptr && (layout.start(w) + j) % 2 == 0;
    WB_UNROLL for (int u = 0; u < 4; u++) {
      symbol[u] = M::product(h.symbol[place_of(u, size)], h.apriori[place_of(u, size)]);
      parity[u] = h.parity[u * size + here];
    }
  }
};

template <class C, class M, class T>
WB_HD void ctc_forward(T (&a)[C::states], const ctc_step<M, T>& step) {
  T branch[C::symbols][4], n[C::states];
  WB_UNROLL for (int u = 0; u < C::symbols; u++) {
    WB_UNROLL for (int q = 0; q < 4; q++) branch[u][q] = M::times(step.symbol[u], step.parity[q]);
  }
  WB_UNROLL for (int s = 0; s < C::states; s++) {
    WB_UNROLL for (int u = 0; u < C::symbols; u++) {
      const int p = C::previous(s, u), q = C::parities(p, u);
      n[s] = u == 0 ? M::times(a[p], branch[u][q]) : M::accumulate(n[s], a[p], branch[u][q]);
    }
  }
  M::normalise_step(n);
  WB_UNROLL for (int s = 0; s < C::states; s++) a[s] = n[s];
}

/// Beta behind a step becomes beta before it.
template <class C, class M, class T>
WB_HD void ctc_backward(T (&b)[C::states], const ctc_step<M, T>& step) {
  T n[C::states];
  WB_UNROLL for (int s = 0; s < C::states; s++) {
    WB_UNROLL for (int u = 0; u < C::symbols; u++) {
      const T x = M::times(b[C::next(s, u)], step.parity[C::parities(s, u)]);
      n[s] = u == 0 ? M::times(x, step.symbol[u]) : M::accumulate(n[s], x, step.symbol[u]);
    }
  }
  M::normalise_step(n);
  WB_UNROLL for (int s = 0; s < C::states; s++) b[s] = n[s];
}

/// The weights that the code itself gives the symbols of a step, from alpha before it and beta behind it.
template <class C, class M, class T>
WB_HD void ctc_extrinsic(const T (&a)[C::states], const T (&b)[C::states], const ctc_step<M, T>& step,
                         T (&e)[C::symbols]) {
  WB_UNROLL for (int u = 0; u < C::symbols; u++) {
    WB_UNROLL for (int s = 0; s < C::states; s++) {
      const T x = M::times(b[C::next(s, u)], step.parity[C::parities(s, u)]);
      e[u] = s == 0 ? M::times(a[s], x) : M::accumulate(e[u], a[s], x);
    }
  }
  M::normalise_step(e);
  M::normalise_segment(e);
}

/// The weights of bit a (first) or b of four symbols, 1 against 0.
template <class M, class T>
WB_HD T ctc_bit(const T (&symbol)[4], bool first) {
  return first ? M::ratio(M::plus(symbol[2], symbol[3]), M::plus(symbol[0], symbol[1]))
               : M::ratio(M::plus(symbol[1], symbol[3]), M::plus(symbol[0], symbol[2]));
}

/// Steps between subtractions that keep metrics of max-log-MAP near zero.
inline constexpr int ctc_segment = 8;

/// The extrinsic weights of parity bits y and w of a step, from alpha before it and beta behind it: sums over
/// branches by their parity bits, without the weights of those.
template <class C, class M, class T>
WB_HD void ctc_parity_extrinsic(const T (&a)[C::states], const T (&b)[C::states], const ctc_step<M, T>& step,
                                T& y, T& w) {
  T e[4];
  bool begun[4] = {};
  WB_UNROLL for (int u = 0; u < C::symbols; u++) {
    WB_UNROLL for (int s = 0; s < C::states; s++) {
      const int q = C::parities(s, u);
      const T x = M::times(b[C::next(s, u)], step.symbol[u]);
      e[q] = begun[q] ? M::accumulate(e[q], a[s], x) : M::times(a[s], x);
      begun[q] = true;
    }
  }
  M::normalise_step(e);
  M::normalise_segment(e);
  // Of two weights that differ in one bit alone the larger is that of the other bit. A factor that is common
  // to both values of that bit cancels in the ratio.
  const T w0 = max(step.parity[0], step.parity[2]), w1 = max(step.parity[1], step.parity[3]);
  const T y0 = max(step.parity[0], step.parity[1]), y1 = max(step.parity[2], step.parity[3]);
  y = M::limit(
      M::ratio(M::accumulate(M::times(e[2], w0), e[3], w1), M::accumulate(M::times(e[0], w0), e[1], w1)));
  w = M::limit(
      M::ratio(M::accumulate(M::times(e[1], y0), e[3], y1), M::accumulate(M::times(e[0], y0), e[2], y1)));
}

/// Alpha before window w of decoder d and beta behind it: from the borders, through `overlap` steps of the
/// neighbours on the circle.
template <class C, class M, class T>
WB_HD void ctc_begin_window(ctc_layout layout, int overlap, const ctc_half<T>& h, turbo_borders<C, T> borders,
                            int buffer, int d, int w, T (&a)[C::states], T (&b)[C::states]) {
  const int P = layout.windows, before = w > 0 ? w - 1 : P - 1, behind = w + 1 < P ? w + 1 : 0;
  borders.fetch(borders.at(buffer, d, 0, w), a);
  borders.fetch(borders.at(buffer, d, 1, behind), b);
  for (int j = layout.steps(before) - overlap; j < layout.steps(before); j++)
    ctc_forward<C, M>(a, ctc_step<M, T>(layout, h, before, j));
  for (int j = overlap - 1; j >= 0; j--) ctc_backward<C, M>(b, ctc_step<M, T>(layout, h, behind, j));
}

/// One half-iteration of decoder d. With `watch`, returns per lane whether a decision differs from the one
/// before it.
template <class C, class M, class T, class G>
WB_HD_CALL typename rebind<T>::mask ctc_half_iteration(G g, ctc_layout layout, int overlap, ctc_half<T> h,
                                                       turbo_borders<C, T> borders, int buffer, int d,
                                                       bool watch) {
  using step = ctc_step<M, T>;
  using mask = typename rebind<T>::mask;
  constexpr int S = C::states;
  const int P = layout.windows, size = layout.size();
  mask differs = mask_from<mask>(false);
  for (int w = g.rank; w < P; w += g.size) {
    const int behind = w + 1 < P ? w + 1 : 0, steps = layout.steps(w);
    T a[S], b[S];
    ctc_begin_window<C, M>(layout, overlap, h, borders, buffer, d, w, a, b);
    for (int j = 0; j < steps; j++) {
      if (j % ctc_segment == 0) M::normalise_segment(a);
      if (j == steps - overlap) borders.keep(borders.at(1 - buffer, d, 0, behind), a);
      const int here = layout.address(w, j);
      WB_UNROLL for (int s = 0; s < S; s++) h.alpha[s * size + here] = a[s];
      ctc_forward<C, M>(a, step(layout, h, w, j));
    }
    if (overlap == 0) borders.keep(borders.at(1 - buffer, d, 0, behind), a);
    for (int j = steps - 1; j >= 0; j--) {
      if (j % ctc_segment == ctc_segment - 1) M::normalise_segment(b);
      const int here = layout.address(w, j);
      const step current(layout, h, w, j);
      WB_UNROLL for (int s = 0; s < S; s++) a[s] = h.alpha[s * size + here];
      T e[4];
      ctc_extrinsic<C, M>(a, b, current, e);
      ctc_backward<C, M>(b, current);
      if (j == overlap) borders.keep(borders.at(1 - buffer, d, 1, w), b);
      WB_UNROLL for (int u = 0; u < 4; u++) e[u] = M::scale(e[u], h.scale);
      if (watch) {
        T old[4], fresh[4];
        WB_UNROLL for (int u = 0; u < 4; u++) {
          old[u] = M::times(current.symbol[u], h.extrinsic[current.place_of(u, size)]);
          fresh[u] = M::times(current.symbol[u], e[u]);
        }
        WB_UNROLL for (int bit = 0; bit < 2; bit++) {
          const mask old_one = ctc_bit<M>(old, bit == 0) > M::template one<T>(),
                     fresh_one = ctc_bit<M>(fresh, bit == 0) > M::template one<T>();
          differs = differs | (old_one & !fresh_one) | (fresh_one & !old_one);
        }
      }
      WB_UNROLL for (int u = 0; u < 4; u++) h.extrinsic[current.place_of(u, size)] = e[u];
    }
  }
  return differs;
}

/// Extrinsic weights of the parity bits of decoder d, after its last half-iteration, with the a-priori
/// weights that the other decoder left: out(j, y, w) of each step j, once. Writes h.alpha alone.
template <class C, class M, class T, class G, class Out>
WB_HD_CALL void ctc_parity_extrinsics(G g, ctc_layout layout, int overlap, ctc_half<T> h,
                                      turbo_borders<C, T> borders, int buffer, int d, Out out) {
  constexpr int S = C::states;
  const int size = layout.size();
  for (int w = g.rank; w < layout.windows; w += g.size) {
    const int steps = layout.steps(w);
    T a[S], b[S];
    ctc_begin_window<C, M>(layout, overlap, h, borders, buffer, d, w, a, b);
    for (int j = 0; j < steps; j++) {
      if (j % ctc_segment == 0) M::normalise_segment(a);
      const int here = layout.address(w, j);
      WB_UNROLL for (int s = 0; s < S; s++) h.alpha[s * size + here] = a[s];
      ctc_forward<C, M>(a, ctc_step<M, T>(layout, h, w, j));
    }
    for (int j = steps - 1; j >= 0; j--) {
      if (j % ctc_segment == ctc_segment - 1) M::normalise_segment(b);
      const int here = layout.address(w, j);
      const ctc_step<M, T> current(layout, h, w, j);
      WB_UNROLL for (int s = 0; s < S; s++) a[s] = h.alpha[s * size + here];
      T y, parity_w;
      ctc_parity_extrinsic<C, M>(a, b, current, y, parity_w);
      ctc_backward<C, M>(b, current);
      out(layout.start(w) + j, y, parity_w);
    }
  }
}

}  // namespace WB_ISA
}  // namespace wb
