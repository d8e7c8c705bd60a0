#pragma once
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/linalg/cholesky/cholesky_body.hpp>
#include <warpband/linalg/matrix_op.hpp>
#include <warpband/linalg/qr/householder_body.hpp>
#include <warpband/linalg/qr/householder_flops.hpp>
#include <warpband/linalg/qr/qr_args.hpp>
#include <warpband/linalg/qr/qr_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// P: float or cx_pair; S: sizes as in matrix_op.hpp.
template <class P, class S, qr_method Method>
struct qr_op {
  qr_args<P> a;
  static constexpr bool by_block = false, has_q = Method != qr_method::cholesky;
  int threads() const { return 1; }
  std::size_t scratch(int) const { return 0; }
  /// The right side goes through the decomposition, of zeros where there is none.
  double flops() const {
    const double parts = parts_of<P>, m = a.rows, n = a.columns, pairs = n * (n - 1) / 2;
    const double checked = 1 + parts * m * (n + (a.y.data ? 1 : 0));
    const double stored =
        n + parts * pairs + (a.z.data ? parts * n : 0) + (has_q && a.q.data ? parts * m * n : 0);
    if (Method == qr_method::gram_schmidt) return checked + stored + gram_schmidt_flops(parts, m, n);
    if (Method == qr_method::cholesky)
      return checked + stored + gram_flops(parts, m, n) + cholesky_flops(parts, n);
    return checked + stored + householder_flops(parts, m, n) +
           (a.q.data ? householder_q_flops(parts, m, n) : 0);
  }
  double bytes() const {
    const double m = a.rows, n = a.columns;
    return sizeof(P) * (m * n + (a.y.data ? m : 0) + n * n + (a.q.data ? m * n : 0) + (a.z.data ? n : 0)) +
           (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using E = entry_as<P, T>;
    using N = typename S::columns;
    const S s(a.rows, a.columns);
    const auto element = [&](int r, int k) WB_INLINE_LAMBDA { return static_cast<std::size_t>(r * s.n + k); };

    E h[S::columns::capacity][S::rows::capacity], y[S::rows::capacity];
    T trace = T(0.f), energy = T(0.f);  // of H^H H and of y
    loop(s.n, [&](int k) WB_INLINE_LAMBDA {
      loop(s.m, [&](int r) WB_INLINE_LAMBDA {
        h[k][r] = load_entry(a.h, element(r, a.order[k]), item);
        trace = norm_fma(h[k][r], trace);
      });
    });
    if (a.y.data) {
      loop(s.m, [&](int r) WB_INLINE_LAMBDA {
        y[r] = load_entry(a.y, static_cast<std::size_t>(r), item);
        energy = norm_fma(y[r], energy);
      });
    } else {
      loop(s.m, [&](int r) WB_INLINE_LAMBDA { y[r] = entry<E>::of(T(0.f)); });
    }
    auto good = (trace >= T(1e-30f)) & (trace <= T(1e30f)) & (energy <= T(1e30f));
    trace = select(good, trace, T(1.f));
    loop(s.m, [&](int r) WB_INLINE_LAMBDA {
      y[r] = or_zero(good, y[r]);
      loop(s.n, [&](int k) WB_INLINE_LAMBDA { h[k][r] = or_zero(good, h[k][r]); });
    });

    triangle<N, E> t;
    if constexpr (Method == qr_method::gram_schmidt) {
      good = good & gram_schmidt(s.m, s.n, h, y, trace * T(least_pivot), t);
    } else if constexpr (Method == qr_method::householder) {
      reflections<N, E> f;
      good = good & householder(s.m, s.n, h, y, trace * T(least_pivot), t, f);
      if (a.q.data) householder_q(s.m, s.n, h, f);
    } else {
      E g[N::capacity][N::capacity], b[N::capacity];
      gram(s.m, s.n, h, y, g, b);
      good = good & cholesky(s.n, g, b, trace * T(least_gram_pivot), t);
    }

    store_triangle(a.r, item, s.n, t, good);
    if (a.z.data)
      loop(s.n, [&](int i) WB_INLINE_LAMBDA {
        store_entry(a.z, static_cast<std::size_t>(i), item, or_zero(good, t.z[i]));
      });
    if constexpr (has_q) {
      if (a.q.data)
        loop(s.m, [&](int r) WB_INLINE_LAMBDA {
          loop(s.n, [&](int k)
                        WB_INLINE_LAMBDA { store_entry(a.q, element(r, k), item, or_zero(good, h[k][r])); });
        });
    }
    if (a.status.data) store_status(a.status, item, good);
  }
};

/// Calls f with the op that serves the arguments.
template <class P, class F>
auto with_qr_op(const qr_args<P>& a, F f) {
  return with_matrix_sizes<16, 16 / parts_of<P>>(a.rows, a.columns, [&]<class S>() {
    if (a.method == qr_method::cholesky) return f(qr_op<P, S, qr_method::cholesky>{a});
    if (a.method == qr_method::householder) return f(qr_op<P, S, qr_method::householder>{a});
    return f(qr_op<P, S, qr_method::gram_schmidt>{a});
  });
}

}  // namespace WB_ISA
}  // namespace wb
