#pragma once
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/linalg/cholesky/cholesky_args.hpp>
#include <warpband/linalg/cholesky/cholesky_body.hpp>
#include <warpband/linalg/matrix_op.hpp>
#include <warpband/linalg/solve/solve_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// S: sizes as in matrix_op.hpp.
template <class S>
struct cholesky_op : thread_op<cholesky_args> {
  double flops() const {
    const double n = a.size, pairs = n * (n - 1) / 2;
    // Trace and energies, decomposition; solution; stores.
    return 1 + n + 2 * pairs + (a.b.data ? 2 * n : 0) + n + cholesky_flops(2, n) +
           (a.x.data ? back_substitute_flops(2, n) + 2 * n : 0) + (a.r.data ? n + 2 * pairs : 0);
  }
  double bytes() const {
    const double n = a.size;
    return sizeof(cx_pair) *
               (n * (n + 1) / 2 + (a.b.data ? n : 0) + (a.x.data ? n : 0) + (a.r.data ? n * n : 0)) +
           (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using E = cx<T>;
    using N = typename S::columns;
    const S s(a.size, a.size);
    const auto element = [&](int r, int c) WB_INLINE_LAMBDA { return static_cast<std::size_t>(r * s.n + c); };
    E m[N::capacity][N::capacity], b[N::capacity];
    T trace = T(0.f), energy = T(0.f);
    loop(s.n, [&](int i) WB_INLINE_LAMBDA {
      loop(s.n, [&](int j) WB_INLINE_LAMBDA {
        if (j < i) return;
        m[i][j] = load_entry(a.a, element(i, j), item);
        if (j > i) energy = norm_fma(m[i][j], energy);
      });
      trace = trace + m[i][i].re;
      energy = fma(m[i][i].re, m[i][i].re, energy);
      b[i] = entry<E>::of(T(0.f));
      if (!a.b.data) return;
      b[i] = load_entry(a.b, static_cast<std::size_t>(i), item);
      energy = norm_fma(b[i], energy);
    });
    auto good = (trace >= T(1e-30f)) & (trace <= T(1e15f)) & (energy <= T(1e30f));
    trace = select(good, trace, T(1.f));
    loop(s.n, [&](int i) WB_INLINE_LAMBDA {
      b[i] = or_zero(good, b[i]);
      loop(s.n, [&](int j) WB_INLINE_LAMBDA {
        if (j >= i) m[i][j] = or_zero(good, m[i][j]);
      });
    });
    triangle<N, E> t;
    good = good & cholesky(s.n, m, b, trace * T(least_gram_pivot), t);
    if (a.x.data) {
      E x[N::capacity];
      back_substitute(s.n, t, x);
      loop(s.n, [&](int i) WB_INLINE_LAMBDA {
        store_entry(a.x, static_cast<std::size_t>(i), item, or_zero(good, x[i]));
      });
    }
    if (a.r.data) store_triangle(a.r, item, s.n, t, good);
    if (a.status.data) store_status(a.status, item, good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
