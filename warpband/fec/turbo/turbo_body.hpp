#pragma once
// The turbo decoder, once, over code C, semiring M, lane type T and group G. See turbo.hpp for the contract.
//
// A codeword's K steps are split into P windows; window w has the steps [wK/P, (w+1)K/P) (floors). The
// windows of a half-iteration are independent: each starts from boundary metrics that its neighbours kept in
// the previous iteration, `overlap` steps outside, and warms up over those steps. Boundary metrics are
// double-buffered, and a half-iteration reads one extrinsic array and writes the other. So no phase writes
// what it reads, and every group size gives the same bits.
#include <warpband/core/group.hpp>
#include <warpband/fec/trellis/map_window.hpp>

namespace wb {
inline namespace WB_ISA {

/// One LLR beyond it has its codeword decoded on LLRs. Behind fading some exceed the limit of probabilities,
/// 30, and all is well.
inline constexpr float turbo_far_llr = 1000.f;

/// Where the values of a codeword lie in scratch. Window w's elements are shifted by w * pad so that threads
/// working on neighbouring windows touch different shared-memory banks.
struct turbo_layout {
  int k, windows, pad;
  WB_HD int start(int w) const { return w * k / windows; }
  WB_HD int steps(int w) const { return start(w + 1) - start(w); }
  WB_HD int window_of(int i) const { return ((i + 1) * windows - 1) / k; }
  WB_HD int address(int i) const { return i + window_of(i) * pad; }
  WB_HD int padded() const { return k + windows * pad; }
};

/// Metrics of all states at the P + 1 window borders, for both decoders and directions, twice.
template <class C, class T>
struct turbo_borders {
  T* data;
  int windows;
  WB_HD T* at(int buffer, int decoder, int direction, int border) const {
    return data + ((buffer * 2 + decoder) * 2 + direction) * C::states * (windows + 1) + border;
  }
  WB_HD void keep(T* p, const T (&a)[C::states]) const {
    WB_UNROLL for (int s = 0; s < C::states; s++) p[s * (windows + 1)] = a[s];
  }
  WB_HD void fetch(const T* p, T (&a)[C::states]) const {
    WB_UNROLL for (int s = 0; s < C::states; s++) a[s] = p[s * (windows + 1)];
  }
};

/// beta before the tail: the three termination steps lead to state 0. tail = x, z of each step.
template <class C, class M, class T>
WB_HD void beta_of_tail(const T (&tail)[6], T (&b)[C::states]) {
  constexpr int S = C::states;
  WB_UNROLL for (int s = 0; s < S; s++) b[s] = s ? M::template zero<T>() : M::template one<T>();
  WB_UNROLL for (int j = 2; j >= 0; j--) {
    T n[S];
    WB_UNROLL for (int s = 0; s < S; s++) {
      const int u = C::terminating_bit(s);
      n[s] = b[C::next(s, u)];
      if (u) n[s] = M::times(n[s], tail[2 * j]);
      if (C::parity(s, u)) n[s] = M::times(n[s], tail[2 * j + 1]);
    }
    M::normalise_step(n);
    WB_UNROLL for (int s = 0; s < S; s++) b[s] = n[s];
  }
  M::normalise_segment(b);
}

/// What a half-iteration reads and writes, in scratch.
template <class T>
struct turbo_half {
  const T *systematic, *parity, *apriori;
  T* extrinsic;
  const std::int32_t* interleaved;  // null for the first decoder
  float scale;
};

/// The weights of the steps of a half-iteration.
template <class M, class T>
struct turbo_weights {
  turbo_layout layout;
  turbo_half<T> h;
  WB_HD int address(int window, int j) const {
    return h.interleaved != nullptr ? h.interleaved[j * layout.windows + window]
                                    : layout.start(window) + j + window * layout.pad;
  }
  WB_HD void operator()(int window, int j, T& ws, T& wp) const {
    const int i = address(window, j);
    ws = M::limit(M::times(h.systematic[i], h.apriori[i]));
    wp = h.parity[layout.start(window) + j + window * layout.pad];
  }
};
/// alpha before window w of decoder d and beta behind it: from the borders, through `overlap` steps.
template <class C, class M, class T>
WB_HD void begin_window(const turbo_weights<M, T>& weights, int overlap, turbo_borders<C, T> borders,
                        int buffer, int d, int w, T (&a)[C::states], T (&b)[C::states]) {
  const turbo_layout& layout = weights.layout;
  borders.fetch(borders.at(buffer, d, 0, w), a);
  borders.fetch(borders.at(buffer, d, 1, w + 1), b);
  if (w > 0) {
    for (int j = layout.steps(w - 1) - overlap; j < layout.steps(w - 1); j++) {
      T ws, wp;
      weights(w - 1, j, ws, wp);
      forward_step<C, M>(a, ws, wp);
    }
  }
  if (w + 1 < layout.windows) {
    for (int j = overlap - 1; j >= 0; j--) {
      T ws, wp;
      weights(w + 1, j, ws, wp);
      backward_step<C, M>(b, ws, wp);
    }
  }
}

/// One half-iteration of decoder d. With `watch`, returns per lane whether a decision differs from the one
/// before it.
template <int Seg, class C, class M, class T, class G>
WB_HD typename rebind<T>::mask turbo_half_iteration(G g, turbo_layout layout, int overlap, turbo_half<T> h,
                                                    turbo_borders<C, T> borders, int buffer, int d,
                                                    T* checkpoints, bool watch) {
  constexpr int S = C::states;
  using mask = typename rebind<T>::mask;
  mask differs = mask_from<mask>(false);
  for (int w = g.rank; w < layout.windows; w += g.size) {
    const turbo_weights<M, T> weights{layout, h};
    T a[S], b[S];
    begin_window<C, M>(weights, overlap, borders, buffer, d, w, a, b);
    map_window<Seg, C, M>(
        a, b, layout.steps(w), overlap, checkpoints + g.rank,
        g.size < layout.windows ? g.size : layout.windows,
        [=](int j, T& ws, T& wp) WB_INLINE_LAMBDA { weights(w, j, ws, wp); },
        [&](int j, T e) WB_INLINE_LAMBDA {
          const int i = weights.address(w, j);
          e = M::limit(M::scale(e, h.scale));
          if (watch) {
            const T one = M::template one<T>(), rest = M::times(h.systematic[i], h.apriori[i]);
            const T before = M::times(rest, h.extrinsic[i]), after = M::times(rest, e);
            differs = differs | ((before > one) & (after <= one)) | ((before <= one) & (after > one));
          }
          h.extrinsic[i] = e;
        },
        [=](const T(&m)[S]) WB_INLINE_LAMBDA {
          if (w + 1 < layout.windows) borders.keep(borders.at(1 - buffer, d, 0, w + 1), m);
        },
        [=](const T(&m)[S]) WB_INLINE_LAMBDA {
          if (w > 0) borders.keep(borders.at(1 - buffer, d, 1, w), m);
        });
  }
  return differs;
}

}  // namespace WB_ISA
}  // namespace wb
