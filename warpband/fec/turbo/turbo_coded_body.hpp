#pragma once
// Extrinsics of what a turbo code sends beside the information bits: parity and tail bits of one constituent
// decoder, from the same alpha and beta as those of its information bits.
#include <warpband/fec/turbo/turbo_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Extrinsic weights of the tail bits x, z of each of the three steps, from alpha before the first of them.
/// A state has one branch, that with its terminating bit.
template <class C, class M, class T>
WB_HD void tail_extrinsics(const T (&alpha)[C::states], const T (&tail)[6], T (&extrinsic)[6]) {
  constexpr int S = C::states;
  T beta[4][S], a[S];
  WB_UNROLL for (int s = 0; s < S; s++) {
    a[s] = alpha[s];
    beta[3][s] = s ? M::template zero<T>() : M::template one<T>();
  }
  WB_UNROLL for (int j = 2; j > 0; j--) {
    WB_UNROLL for (int s = 0; s < S; s++) {
      const int u = C::terminating_bit(s);
      T n = beta[j + 1][C::next(s, u)];
      if (u) n = M::times(n, tail[2 * j]);
      if (C::parity(s, u)) n = M::times(n, tail[2 * j + 1]);
      beta[j][s] = n;
    }
    M::normalise_step(beta[j]);
  }
  WB_UNROLL for (int j = 0; j < 3; j++) {
    T x[2], z[2], n[S];
    bool begun_x[2] = {false, false}, begun_z[2] = {false, false}, begun[S] = {};
    WB_UNROLL for (int s = 0; s < S; s++) {
      const int u = C::terminating_bit(s), p = C::parity(s, u), next = C::next(s, u);
      const T ax = u ? M::times(a[s], tail[2 * j]) : a[s];
      const T az = p ? M::times(a[s], tail[2 * j + 1]) : a[s];
      const T axz = p ? M::times(ax, tail[2 * j + 1]) : ax, b = beta[j + 1][next];
      x[u] = begun_x[u] ? M::accumulate(x[u], az, b) : M::times(az, b);
      z[p] = begun_z[p] ? M::accumulate(z[p], ax, b) : M::times(ax, b);
      n[next] = begun[next] ? M::plus(n[next], axz) : axz;
      begun_x[u] = begun_z[p] = begun[next] = true;
    }
    extrinsic[2 * j] = M::limit(M::ratio(x[1], x[0]));
    extrinsic[2 * j + 1] = M::limit(M::ratio(z[1], z[0]));
    WB_UNROLL for (int s = 0; s < S; s++) a[s] = begun[s] ? n[s] : M::template zero<T>();
    M::normalise_step(a);
  }
}

/// Extrinsic weights of what decoder d has beside the information bits, after its last half-iteration, with
/// the a-priori weights that the other decoder left:
///   out(i, e)   gets that of the parity bit of step i
///   end(alpha)  gets alpha behind the last step
/// Each step and the end come once, to one of the threads. Nothing is written that others read.
template <int Seg, class C, class M, class T, class G, class Out, class End>
WB_HD void turbo_parity_extrinsics(G g, turbo_layout layout, int overlap, turbo_half<T> h,
                                   turbo_borders<C, T> borders, int buffer, int d, T* checkpoints, Out out,
                                   End end) {
  constexpr int S = C::states;
  for (int w = g.rank; w < layout.windows; w += g.size) {
    const turbo_weights<M, T> weights{layout, h};
    T a[S], b[S];
    begin_window<C, M>(weights, overlap, borders, buffer, d, w, a, b);
    map_window<Seg, C, M, parity_bit>(
        a, b, layout.steps(w), 0, checkpoints + g.rank, g.size < layout.windows ? g.size : layout.windows,
        [=](int j, T& ws, T& wp) WB_INLINE_LAMBDA { weights(w, j, ws, wp); },
        [&](int j, T e) WB_INLINE_LAMBDA { out(layout.start(w) + j, M::limit(e)); },
        [&](const T(&m)[S]) WB_INLINE_LAMBDA {
          if (w + 1 == layout.windows) end(m);
        },
        [](const T(&)[S]) WB_INLINE_LAMBDA {});
  }
}

}  // namespace WB_ISA
}  // namespace wb
