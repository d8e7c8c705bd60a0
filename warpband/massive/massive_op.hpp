#pragma once
// The engine of the detector and the precoder: Gram matrix and matched filters of a frame, regularisation,
// and the solver. An item is a frame.
//
// On a CPU a call takes as many frames as a vector has lanes (host_products.hpp). On a CUDA device a call is
// one frame and a thread block (device_products.hpp).
#include <warpband/core/group.hpp>
#include <warpband/linalg/cg/cg_body.hpp>
#include <warpband/linalg/ldl/ldl_body.hpp>
#include <warpband/linalg/splitting/splitting_body.hpp>
#include <warpband/massive/massive_body.hpp>
#if defined(__CUDACC__)
#include <warpband/massive/device_products.hpp>
#else
#include <warpband/massive/host_products.hpp>
#endif

namespace wb {
inline namespace WB_ISA {

/// In fading that is correlated over antennas the largest eigenvalue can exceed the bound of Marchenko and
/// Pastur, and Chebyshev's method diverges without a margin. Without correlation the margin costs accuracy.
inline constexpr float chebyshev_margin = 1.1f;

/// Scratch of a call in lanes T, and the steps of both uses of the engine.
template <class Users, class T, class G>
struct massive_engine : massive_products<Users, T, G> {
  using products_of = massive_products<Users, T, G>;
  using M = typename rebind<T>::mask;
  using products_of::a, products_of::p, products_of::g, products_of::first, products_of::valid,
      products_of::n;
  using products_of::m, products_of::b, products_of::memory, products_of::width;

  T *inverse, *diagonal, *gain, *sinr, *numbers;
  packed_vector<T> v, t, s;
  T* llr;
  T n0 = T(1.f);
  T trace = T(0.f);                                // of H^H H, after `prepare`
  T most_energy = T(1e24f);                        // of a vector that is not erased
  eigenvalue_bounds<T> bounds = {T(0.f), T(0.f)};  // of the scaled A, for Chebyshev
  M good = mask_from<M>(false);                    // of the frame

  WB_HD massive_engine(const massive_args& args, const massive_plan& plan, G group, std::size_t frame,
                       int frames, T* scratch)
      : products_of(args, plan, group, frame, frames, scratch) {
    const int vectors = 2 * p.sides * n;
    v = {b.data + vectors};
    t = {v.data + vectors};
    s = {t.data + vectors};
    inverse = s.data + vectors;
    diagonal = inverse + n;
    gain = diagonal + n;
    sinr = gain + n;
    numbers = sinr + n;
    llr = numbers + 4 * p.sides;
  }

  template <class S>
  WB_HD view<S> of_symbol(const view<S>& x, int symbol) const {
    return symbol_of(x, symbol, a.symbols);
  }
  WB_HD item<T> frames() const { return {first, valid}; }
  /// Regularises A and makes it ready for the solver; `good` and n0 are set, which is no less than
  /// `least_n0`. Without a Gram matrix only N0 is looked at.
  WB_HD void prepare(bool gram, float least_n0) {
    n0 = load(a.noise_var, 0, frames());
    good = is_valid_noise(n0, least_n0);
    if (!gram) return;
    for (int u = 0; u < n; u++) trace = trace + m.diagonal(u);
    good = good & is_valid_trace(trace);
    n0 = select(good, n0, T(1.f));
    const T added = regularization(a, n0);
    for (int u = g.rank; u < n; u += g.size) diagonal[u] = m.diagonal(u);
    g.sync();
    for_triangle<true>(n, g, [&](int r, int c) WB_INLINE_LAMBDA {
      cx<T> z = entry_if(good, m.get(r, c), c == r);
      if (c == r) z.re = z.re + select(good, added, T(0.f));
      m.put(r, c, z);
    });
    g.sync();
    if (decomposes(a.solver)) {
      // `gain` has the diagonal of A until the weights are made.
      for (int u = g.rank; u < n; u += g.size) gain[u] = m.diagonal(u);
      g.sync();
      good = good & invert_factor(n, m, gain, inverse, g);
    } else if (iterates(a.solver)) {
      if (scales(a.solver)) scale();
      mirror(n, m, g);
      if (a.solver == massive_solver::chebyshev) bounds = bound_eigenvalues(select(good, added, T(0.f)));
    }
  }

  /// b of `count` vectors to z = A^-1 b, in v; b for the matched filter. `fine[k]` is 1 where b of vector k
  /// is a number and at most `most_energy` in energy.
  WB_HD packed_vector<T> solve(int count) const {
    T* fine = numbers;
    for (int k = g.rank; k < count; k += g.size)
      fine[k] = select(energy_of(b.from(k * n), n) <= most_energy, T(1.f), T(0.f));
    g.sync();
    const bool scaled = scales(a.solver);
    for (int i = g.rank; i < count * n; i += g.size) {
      const auto is_fine = fine[i / n] > T(0.f);
      cx<T> z = b.get(i);
      z = {select(is_fine, z.re, T(0.f)), select(is_fine, z.im, T(0.f))};
      if (scaled) z = inverse[i % n] * z;
      b.put(i, z);
    }
    g.sync();
    if (a.solver == massive_solver::mf) return b;
    if (decomposes(a.solver)) {
      substitute(n, count, m, inverse, b, t, v, g);
      return v;
    }
    iterate(count);
    if (scaled) {
      for (int i = g.rank; i < count * n; i += g.size) v.put(i, inverse[i % n] * v.get(i));
      g.sync();
    }
    return v;
  }

 private:
  WB_HD void iterate(int count) const {
    if (a.solver == massive_solver::neumann) return neumann_series(n, count, m, a.iterations, {v, b, t}, g);
    if (a.solver == massive_solver::gauss_seidel)
      return gauss_seidel(n, count, m, a.iterations, {v, b, t}, g);
    if (a.solver == massive_solver::chebyshev)
      return chebyshev(n, count, m, a.iterations, bounds, {v, b, t}, g);
    T* of_sides = numbers + p.sides;
    conjugate_gradients(n, count, m, a.iterations, a.residual_squared,
                        {v, b, t, s, of_sides, of_sides + p.sides, of_sides + 2 * p.sides}, g);
  }

  /// Bounds for Chebyshev's method, from the scaled A with N0 / Es = `added`. s^2 is the mean over users of
  /// the sum of |A_uj|^2, j != u, in independent fading about U / B. Eigenvalues are then between (1 - s)^2
  /// and (1 + s)^2 (Marchenko and Pastur). For a finite matrix the largest eigenvalue can exceed this
  /// slightly, hence `chebyshev_margin`. The upper bound is never more than that of Gershgorin, which always
  /// holds. The noise alone keeps eigenvalues above N0 / Es over the largest entry of A's diagonal.
  WB_HD eigenvalue_bounds<T> bound_eigenvalues(T added) const {
    for (int u = g.rank; u < n; u += g.size) {  // `gain` and `sinr` are memory until the weights are made
      T radius = T(0.f), energy = T(0.f);
      for (int j = 0; j < n; j++) {
        if (j == u) continue;
        const T e = norm(m.get(u, j));
        energy = energy + e;
        radius = radius + sqrt(e);
      }
      gain[u] = radius;
      sinr[u] = energy;
    }
    g.sync();
    T radius = T(0.f), energy = T(0.f), weakest = inverse[0];
    for (int u = 0; u < n; u++) {
      radius = max(radius, gain[u]);
      energy = energy + sinr[u];
      weakest = min(weakest, inverse[u]);
    }
    g.sync();
    const T spread = sqrt(energy * T(1.f / static_cast<float>(n))), above = T(1.f) + spread,
            below = max(T(1.f) - spread, T(0.f)),
            high = min(T(1.f) + radius, T(chebyshev_margin) * above * above);
    return {min(fma(below, below, added * weakest * weakest), T(0.9f) * high), high};
  }

  /// A scaled to a diagonal of ones; `inverse` gets the factors.
  WB_HD void scale() const {
    for (int u = g.rank; u < n; u += g.size) {
      const T d = m.diagonal(u);
      inverse[u] = T(1.f) / sqrt(select(d > T(0.f), d, T(1.f)));
    }
    g.sync();
    for_triangle<true>(
        n, g, [&](int r, int c) WB_INLINE_LAMBDA { m.put(r, c, (inverse[r] * inverse[c]) * m.get(r, c)); });
    g.sync();
  }
};

}  // namespace WB_ISA
}  // namespace wb
