#pragma once
// The forward-backward (BCJR) recursions over a window of a binary recursive systematic trellis.
//   alpha_{k+1}(s') = sum over branches s -> s' of alpha_k(s) gamma,  beta_k(s) = sum of beta_{k+1}(s')
//   gamma, gamma = ws^u wp^p with the weights of systematic bit u and parity bit p (wu2010 eqs 3.12-3.14).
// C is the code, M the semiring (semiring.hpp), T the lane type.
#include <warpband/fec/trellis/rsc.hpp>
#include <warpband/fec/trellis/semiring.hpp>

namespace wb {
inline namespace WB_ISA {

/// a times the weight of a parity bit, by a way of its own where M has one.
template <class M, class T>
WB_HD T times_parity(T a, T wp) {
  if constexpr (requires { M::times_parity(a, wp); })
    return M::times_parity(a, wp);
  else
    return M::times(a, wp);
}

template <class C, class M, class T>
WB_HD void forward_step(T (&a)[C::states], T ws, T wp) {
  constexpr int S = C::states;
  const T wsp = times_parity<M>(ws, wp);
  T n[S];
  WB_UNROLL for (int s = 0; s < S; s++) {
    const int p = C::previous(s, 0), q = C::previous(s, 1), up = C::input(p, s), uq = C::input(q, s);
    const int pp = C::parity(p, up), pq = C::parity(q, uq);
    const T first = up ? M::times(a[p], pp ? wsp : ws) : pp ? times_parity<M>(a[p], wp) : a[p];
    n[s] = uq   ? M::accumulate(first, a[q], pq ? wsp : ws)
           : pq ? M::accumulate(first, a[q], wp)
                : M::plus(first, a[q]);
  }
  M::normalise_step(n);
  WB_UNROLL for (int s = 0; s < S; s++) a[s] = n[s];
}

/// One step back: beta_{k+1} becomes beta_k. Returns the extrinsic weight of the systematic bit of step k,
/// that is the ratio of its two hypotheses without its own weight ws.
template <class C, class M, class T>
WB_HD T backward_step(T (&b)[C::states], const T (&a)[C::states], T ws, T wp) {
  constexpr int S = C::states, Chains = M::chains;  // sums side by side: a shorter wait for each
  T m[2][Chains], n[S];
  WB_UNROLL for (int s = 0; s < S; s++) {
    T x[2];
    WB_UNROLL for (int u = 0; u < 2; u++) {
      const T v = b[C::next(s, u)];
      x[u] = C::parity(s, u) ? times_parity<M>(v, wp) : v;
      T& sum = m[u][s % Chains];
      sum = s >= Chains ? M::accumulate(sum, a[s], x[u]) : M::times(a[s], x[u]);
    }
    n[s] = M::accumulate(x[0], x[1], ws);
  }
  M::normalise_step(n);
  WB_UNROLL for (int s = 0; s < S; s++) b[s] = n[s];
  WB_UNROLL for (int u = 0; u < 2; u++) {
    WB_UNROLL for (int c = 1; c < Chains; c++) m[u][0] = M::plus(m[u][0], m[u][c]);
  }
  return M::ratio(m[1][0], m[0][0]);
}

/// One step back without an output.
template <class C, class M, class T>
WB_HD void backward_step(T (&b)[C::states], T ws, T wp) {
  constexpr int S = C::states;
  T n[S];
  WB_UNROLL for (int s = 0; s < S; s++) {
    T x[2];
    WB_UNROLL for (int u = 0; u < 2; u++) {
      const T v = b[C::next(s, u)];
      x[u] = C::parity(s, u) ? times_parity<M>(v, wp) : v;
    }
    n[s] = M::accumulate(x[0], x[1], ws);
  }
  M::normalise_step(n);
  WB_UNROLL for (int s = 0; s < S; s++) b[s] = n[s];
}

/// The same, but it returns the extrinsic weight of the parity bit: without its own weight wp.
template <class C, class M, class T>
WB_HD T backward_parity_step(T (&b)[C::states], const T (&a)[C::states], T ws, T wp) {
  T m[2];
  bool begun[2] = {false, false};
  WB_UNROLL for (int s = 0; s < C::states; s++) {
    WB_UNROLL for (int u = 0; u < 2; u++) {
      const int p = C::parity(s, u);
      const T v = b[C::next(s, u)];
      if (!begun[p])
        m[p] = u ? M::times(M::times(a[s], v), ws) : M::times(a[s], v);
      else
        m[p] = u ? M::accumulate(m[p], M::times(a[s], v), ws) : M::accumulate(m[p], a[s], v);
      begun[p] = true;
    }
  }
  backward_step<C, M>(b, ws, wp);
  return M::ratio(m[1], m[0]);
}

/// Of which bit of a step map_window gives the extrinsic weight.
struct systematic_bit {
  template <class C, class M, class T>
  WB_HD static T step_back(T (&b)[C::states], const T (&a)[C::states], T ws, T wp) {
    return backward_step<C, M>(b, a, ws, wp);
  }
};
struct parity_bit {
  template <class C, class M, class T>
  WB_HD static T step_back(T (&b)[C::states], const T (&a)[C::states], T ws, T wp) {
    return backward_parity_step<C, M>(b, a, ws, wp);
  }
};

/// Values of T that map_window needs for checkpoints of alpha, one every Seg steps.
template <int Seg, class C>
constexpr std::size_t map_window_checkpoints(int steps) {
  return static_cast<std::size_t>((steps + Seg - 1) / Seg) * C::states;
}

/// Steps 0..steps-1 of a window. On entry a is alpha before the first step and b is beta after the last.
///   in(j, ws, wp)     the weights of step j; called twice, always before out(j)
///   out(j, w)         takes the extrinsic weight of step j, of Bit
///   keep_alpha(a)     gets alpha before step steps - margin, keep_beta(b) beta before step margin: what the
///                     neighbouring windows start from in the next iteration
/// Alpha is stored every Seg steps and recomputed, so that a window fits on chip. `checkpoints` are `stride`
/// apart.
template <int Seg, class C, class M, class Bit = systematic_bit, class T, class In, class Out,
          class KeepAlpha, class KeepBeta>
WB_HD void map_window(T (&a)[C::states], T (&b)[C::states], int steps, int margin, T* checkpoints, int stride,
                      In in, Out out, KeepAlpha keep_alpha, KeepBeta keep_beta) {
  constexpr int S = C::states;
  int segments = 0;
  for (int k = 0; k < steps; k += Seg, segments++) {
    M::normalise_segment(a);
    WB_UNROLL for (int s = 0; s < S; s++) checkpoints[(segments * S + s) * stride] = a[s];
    const int end = k + Seg < steps ? k + Seg : steps;
    for (int j = k; j < end; j++) {
      if (j == steps - margin) keep_alpha(a);
      T ws, wp;
      in(j, ws, wp);
      forward_step<C, M>(a, ws, wp);
    }
  }
  if (margin == 0) keep_alpha(a);
  T alpha[Seg][S], systematic[Seg], parity[Seg];
  for (int i = segments - 1; i >= 0; i--) {
    const int k = i * Seg;
    T t[S];
    WB_UNROLL for (int s = 0; s < S; s++) t[s] = checkpoints[(i * S + s) * stride];
    WB_UNROLL_ON_DEVICE for (int j = 0; j < Seg; j++) {
      if (k + j < steps) {
        WB_UNROLL for (int s = 0; s < S; s++) alpha[j][s] = t[s];
        T ws, wp;
        in(k + j, ws, wp);
        systematic[j] = ws;
        parity[j] = wp;
        forward_step<C, M>(t, ws, wp);
      }
    }
    M::normalise_segment(b);
    WB_UNROLL_ON_DEVICE for (int j = Seg - 1; j >= 0; j--) {
      if (k + j < steps) {
        out(k + j, Bit::template step_back<C, M>(b, alpha[j], systematic[j], parity[j]));
        if (k + j == margin) keep_beta(b);
      }
    }
  }
}

/// The same for windows whose margins lie on segments: nothing is asked at a step.
///   in(j, ws, wp)     the weights of step j; parity(j) that of its parity bit alone
///   out(j, w, ws)     takes the extrinsic weight of step j and the weight that went in
///   keep_alpha(a)     gets alpha before the segment that begins at step first_kept (or is `steps`)
///   keep_beta(b)      gets beta before step last_kept, a multiple of Seg
///   save(i, a)        keeps alpha before segment i, restore(i, a) gives it back
/// Metrics are normalised every M::interval steps, a divisor of Seg: alpha before step j and beta after it
/// have together gone interval - 1 steps since.
///
/// A GPU has a segment in registers, its loads before its recursions. On a CPU storing alpha takes longer
/// than computing it: alpha of a segment is stored while beta goes through the segment that follows it. The
/// weights of systematic bits are kept for the backward recursion in `kept`, of `steps` values.
template <int Seg, class C, class M, class T, class Save, class Restore, class In, class Parity, class Out,
          class KeepAlpha, class KeepBeta>
WB_HD void map_window_by_segments(T (&a)[C::states], T (&b)[C::states], int steps, int first_kept,
                                  int last_kept, [[maybe_unused]] T* kept, Save save, Restore restore, In in,
                                  [[maybe_unused]] Parity parity, Out out, KeepAlpha keep_alpha,
                                  KeepBeta keep_beta) {
  constexpr int S = C::states;
  const int whole = steps / Seg * Seg;
  auto begin_segment = [&](int k) WB_INLINE_LAMBDA {
    M::normalise_segment(a);
    if (k == first_kept) keep_alpha(a);
    save(k / Seg, a);
  };
  for (int k = 0; k < whole; k += Seg) {
    begin_segment(k);
#if defined(__CUDACC__)
    T ws[Seg], wp[Seg];
    WB_UNROLL for (int j = 0; j < Seg; j++) in(k + j, ws[j], wp[j]);
    WB_UNROLL for (int j = 0; j < Seg; j++) {
      if (j != 0 && j % M::interval == 0) M::normalise_segment(a);
      forward_step<C, M>(a, ws[j], wp[j]);
    }
#else
    for (int j = 0; j < Seg; j++) {
      if (j != 0 && j % M::interval == 0) M::normalise_segment(a);
      T wp;
      in(k + j, kept[k + j], wp);
      forward_step<C, M>(a, kept[k + j], wp);
    }
#endif
  }
  if (whole < steps) {
    begin_segment(whole);
    WB_ROLL for (int j = whole; j < steps; j++) {
      if (j != whole && (j - whole) % M::interval == 0) M::normalise_segment(a);
      T ws, wp;
      in(j, ws, wp);
      forward_step<C, M>(a, ws, wp);
    }
  }
  if (first_kept == steps) {
    M::normalise_segment(a);
    keep_alpha(a);
  }
  if (whole < steps) {  // at most Seg - 1 steps, each from the checkpoint anew
    WB_ROLL for (int j = steps - 1; j >= whole; j--) {
      if (j == steps - 1 || (j + 1 - whole) % M::interval == 0) M::normalise_segment(b);
      T t[S], ws, wp;
      restore(whole / Seg, t);
      WB_ROLL for (int i = whole; i < j; i++) {
        if (i != whole && (i - whole) % M::interval == 0) M::normalise_segment(t);
        in(i, ws, wp);
        forward_step<C, M>(t, ws, wp);
      }
      if (j != whole && (j - whole) % M::interval == 0) M::normalise_segment(t);
      in(j, ws, wp);
      out(j, backward_step<C, M>(b, t, ws, wp), ws);
    }
    if (whole == last_kept) keep_beta(b);
  }
#if defined(__CUDACC__)
  for (int k = whole - Seg; k >= 0; k -= Seg) {
    T t[S], alpha[Seg][S], ws[Seg], wp[Seg];
    WB_UNROLL for (int j = 0; j < Seg; j++) in(k + j, ws[j], wp[j]);
    restore(k / Seg, t);
    WB_UNROLL for (int j = 0; j < Seg; j++) {
      if (j != 0 && j % M::interval == 0) M::normalise_segment(t);
      WB_UNROLL for (int s = 0; s < S; s++) alpha[j][s] = t[s];
      if (j + 1 < Seg) forward_step<C, M>(t, ws[j], wp[j]);
    }
    WB_UNROLL for (int j = Seg - 1; j >= 0; j--) {
      if ((j + 1) % M::interval == 0) M::normalise_segment(b);
      out(k + j, backward_step<C, M>(b, alpha[j], ws[j], wp[j]), ws[j]);
    }
    if (k == last_kept) keep_beta(b);
  }
#else
  // While beta goes through the segment at k, alpha goes through the one before it.
  T alpha[2][Seg][S];
  for (int k = whole; k >= 0; k -= Seg) {
    const int before = k - Seg;
    T(&current)[Seg][S] = alpha[k / Seg % 2];
    T(&next)[Seg][S] = alpha[(k / Seg + 1) % 2];
    T t[S];
    restore(before >= 0 ? before / Seg : 0, t);
    for (int j = 0; j < Seg; j++) {
      if (before >= 0) {
        if (j != 0 && j % M::interval == 0) M::normalise_segment(t);
        WB_UNROLL for (int s = 0; s < S; s++) next[j][s] = t[s];
        if (j + 1 < Seg) forward_step<C, M>(t, kept[before + j], parity(before + j));
      }
      if (k < whole) {
        const int i = Seg - 1 - j;
        if ((i + 1) % M::interval == 0) M::normalise_segment(b);
        const T ws = kept[k + i];
        out(k + i, backward_step<C, M>(b, current[i], ws, parity(k + i)), ws);
      }
    }
    if (k < whole && k == last_kept) keep_beta(b);
  }
#endif
}

}  // namespace WB_ISA
}  // namespace wb
