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
    const double n = a.size;
    // Trace and energies, decomposition, solution, stores.
    return 1 + n + n * (n - 1) + 2 * n + n + cholesky_flops(2, n) + back_substitute_flops(2, n) + 2 * n;
  }
  double bytes() const {
    const double n = a.size;
    return sizeof(cx_pair) * (n * (n + 1) / 2 + 2 * n) + (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using E = cx<T>;
    using N = typename S::columns;
    const S s(a.size, a.size);
    E m[N::capacity][N::capacity], b[N::capacity], x[N::capacity];
    T trace = T(0.f), energy = T(0.f);
    loop(s.n, [&](int i) WB_INLINE_LAMBDA {
      loop(s.n, [&](int j) WB_INLINE_LAMBDA {
        if (j < i) return;
        m[i][j] = load_entry(a.a, static_cast<std::size_t>(i * s.n + j), item);
        if (j > i) energy = norm_fma(m[i][j], energy);
      });
      b[i] = load_entry(a.b, static_cast<std::size_t>(i), item);
      trace = trace + m[i][i].re;
      energy = norm_fma(b[i], fma(m[i][i].re, m[i][i].re, energy));
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
    back_substitute(s.n, t, x);
    loop(s.n, [&](int i) WB_INLINE_LAMBDA {
      store_entry(a.x, static_cast<std::size_t>(i), item, or_zero(good, x[i]));
    });
    if (a.status.data) store_status(a.status, item, good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
