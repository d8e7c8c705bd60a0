#pragma once
// Conjugate gradients for several right sides of a Hermitian positive definite matrix in scratch memory, from
// x = 0:
//   s = A t, alpha = |r|^2 / t^H s, x += alpha t, r -= alpha s, beta = |r|^2 / |r_before|^2, t = r + beta t
// A right side is left as it is from the first iteration on in which |r|^2 <= eps^2 |b|^2 or t^H A t <= 0, so
// that more iterations than are needed do no harm.
#include <warpband/core/group.hpp>
#include <warpband/linalg/ldl/ldl_body.hpp>

namespace wb {
inline namespace WB_ISA {

inline constexpr float cg_eps_squared = 1e-14f;

/// Vectors of n entries, one for each right side, and three numbers of each.
template <class T>
struct cg_memory {
  packed_vector<T> x, r, t, s;
  T *energy, *least, *alpha;
};

/// The other half of A: afterwards A[c][r] is at row r, column c for all of them.
template <class T, class G>
WB_HD void mirror(int n, const packed_matrix<T>& m, G g) {
  const over_matrix<G> at(g);
  for (int r = at.y; r < n; r += at.down)
    for (int c = at.x; c < r; c += at.across) m.put(c, r, conj(m.get(r, c)));
  for (int r = g.rank; r < n; r += g.size) m.data[2 * (r * m.ld + r) + 1] = T(0.f);
  g.sync();
}

template <class T>
WB_HD T energy_of(const packed_vector<T>& v, int first, int n) {
  T sum = T(0.f);
  for (int i = first; i < first + n; i++) sum = norm_fma(v.get(i), sum);
  return sum;
}

/// s = A t for `sides` right sides.
template <class T, class G>
WB_HD void multiply_sides(int n, int sides, const packed_matrix<T>& a, const packed_vector<T>& t,
                          const packed_vector<T>& s, G g) {
  for (int i = g.rank; i < sides * n; i += g.size) {
    const int side = i / n, u = i - side * n;
    cx<T> sum = {T(0.f), T(0.f)};
    for (int c = 0; c < n; c++) sum = fma(a.get(c, u), t.get(side * n + c), sum);
    s.put(side * n + u, sum);
  }
}

/// x of A x = r for `sides` right sides; r is used up. A is whole (`mirror`). Begins with r written by all
/// threads and ends with x so.
template <class T, class G>
WB_HD void conjugate_gradients(int n, int sides, const packed_matrix<T>& a, int iterations,
                               const cg_memory<T>& v, G g) {
  g.sync();
  for (int i = g.rank; i < sides * n; i += g.size) {
    v.x.put(i, {T(0.f), T(0.f)});
    v.t.put(i, v.r.get(i));
  }
  for (int k = g.rank; k < sides; k += g.size) {
    v.energy[k] = energy_of(v.r, k * n, n);
    v.least[k] = T(cg_eps_squared) * v.energy[k];
  }
  g.sync();
  for (int iteration = 0; iteration < iterations; iteration++) {
    multiply_sides(n, sides, a, v.t, v.s, g);
    g.sync();
    for (int k = g.rank; k < sides; k += g.size) {
      T curvature = T(0.f);
      for (int i = k * n; i < (k + 1) * n; i++) {
        const cx<T> t = v.t.get(i), s = v.s.get(i);
        curvature = fma(t.im, s.im, fma(t.re, s.re, curvature));
      }
      const auto convex = curvature > T(0.f);
      v.least[k] = select(convex, v.least[k], T(3e38f));  // stays so
      const auto goes_on = convex & (v.energy[k] > v.least[k]);
      v.alpha[k] = select(goes_on, v.energy[k], T(0.f)) / select(goes_on, curvature, T(1.f));
    }
    g.sync();
    for (int i = g.rank; i < sides * n; i += g.size) {
      const T alpha = v.alpha[i / n];
      const cx<T> t = v.t.get(i), s = v.s.get(i), x = v.x.get(i), r = v.r.get(i);
      v.x.put(i, {fma(alpha, t.re, x.re), fma(alpha, t.im, x.im)});
      v.r.put(i, {fnma(alpha, s.re, r.re), fnma(alpha, s.im, r.im)});
    }
    g.sync();
    if (iteration + 1 == iterations) return;
    for (int k = g.rank; k < sides; k += g.size) {
      const T before = v.energy[k], now = energy_of(v.r, k * n, n);
      v.energy[k] = now;
      v.alpha[k] = now / select(before > T(0.f), before, T(1.f));
    }
    g.sync();
    for (int i = g.rank; i < sides * n; i += g.size) {
      const T beta = v.alpha[i / n];
      const cx<T> t = v.t.get(i), r = v.r.get(i);
      v.t.put(i, {fma(beta, t.re, r.re), fma(beta, t.im, r.im)});
    }
    g.sync();
  }
}

/// s = A t for P right sides and entries u .. u + R - 1, and t^H s so far: a load of A serves P products, one
/// of t serves R.
template <int R, int P, class T>
WB_HD void multiply_tile(int n, int u, const packed_matrix<T>& a, const packed_vector<T>& t,
                         const packed_vector<T>& s, T (&curvature)[P]) {
  cx<T> sum[R][P];
  WB_UNROLL for (int r = 0; r < R; r++) {
    WB_UNROLL for (int p = 0; p < P; p++) sum[r][p] = {T(0.f), T(0.f)};
  }
  WB_ROLL for (int c = 0; c < n; c++) {
    cx<T> z[R];
    WB_UNROLL for (int r = 0; r < R; r++) z[r] = a.get(c, u + r);
    WB_UNROLL for (int p = 0; p < P; p++) {
      const cx<T> of_side = t.get(p * n + c);
      WB_UNROLL for (int r = 0; r < R; r++) sum[r][p] = fma(z[r], of_side, sum[r][p]);
    }
  }
  WB_UNROLL for (int p = 0; p < P; p++) {
    WB_UNROLL for (int r = 0; r < R; r++) {
      const cx<T> of_side = t.get(p * n + u + r);
      curvature[p] = fma(of_side.im, sum[r][p].im, fma(of_side.re, sum[r][p].re, curvature[p]));
      s.put(p * n + u + r, sum[r][p]);
    }
  }
}

/// conjugate_gradients for P right sides by lanes alone: the same steps, of which those that pass over the
/// same vectors are one pass.
template <int P, class T>
WB_HD_CALL void lane_conjugate_gradients(int n, packed_matrix<T> a, int iterations, cg_memory<T> v) {
  constexpr int R = (width_of<T> == 16 ? 8 : 4) / P;  // what 32 registers hold, or 16
  T energy[P], least[P];
  WB_UNROLL for (int p = 0; p < P; p++) {
    energy[p] = energy_of(v.r, p * n, n);
    least[p] = T(cg_eps_squared) * energy[p];
  }
  for (int i = 0; i < P * n; i++) {
    v.x.put(i, {T(0.f), T(0.f)});
    v.t.put(i, v.r.get(i));
  }
  for (int iteration = 0; iteration < iterations; iteration++) {
    T alpha[P];
    WB_UNROLL for (int p = 0; p < P; p++) alpha[p] = T(0.f);
    int u = 0;
    for (; u + R <= n; u += R) multiply_tile<R, P>(n, u, a, v.t, v.s, alpha);
    for (; u < n; u++) multiply_tile<1, P>(n, u, a, v.t, v.s, alpha);
    WB_UNROLL for (int p = 0; p < P; p++) {
      const T curvature = alpha[p];
      const auto convex = curvature > T(0.f);
      least[p] = select(convex, least[p], T(3e38f));  // stays so
      const auto goes_on = convex & (energy[p] > least[p]);
      alpha[p] = select(goes_on, energy[p], T(0.f)) / select(goes_on, curvature, T(1.f));
    }
    const bool is_last = iteration + 1 == iterations;
    WB_UNROLL for (int p = 0; p < P; p++) {
      const int first = p * n, last = first + n;
      if (is_last) {
        for (int i = first; i < last; i++) {
          const cx<T> t = v.t.get(i), x = v.x.get(i);
          v.x.put(i, {fma(alpha[p], t.re, x.re), fma(alpha[p], t.im, x.im)});
        }
        continue;
      }
      T now = T(0.f);
      for (int i = first; i < last; i++) {
        const cx<T> s = v.s.get(i), before = v.r.get(i),
                    r = {fnma(alpha[p], s.re, before.re), fnma(alpha[p], s.im, before.im)};
        v.r.put(i, r);
        now = norm_fma(r, now);
      }
      const T beta = now / select(energy[p] > T(0.f), energy[p], T(1.f));
      energy[p] = now;
      for (int i = first; i < last; i++) {
        const cx<T> t = v.t.get(i), x = v.x.get(i), r = v.r.get(i);
        v.x.put(i, {fma(alpha[p], t.re, x.re), fma(alpha[p], t.im, x.im)});
        v.t.put(i, {fma(beta, t.re, r.re), fma(beta, t.im, r.im)});
      }
    }
  }
}

}  // namespace WB_ISA
}  // namespace wb
