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

/// s = A t for the right sides from `first` on, `times` times P of them.
template <int P, class T, class G>
WB_HD void multiply_sides(int n, int first, int times, const packed_matrix<T>& a, const packed_vector<T>& t,
                          const packed_vector<T>& s, G g) {
  for (int i = g.rank; i < times * n; i += g.size) {
    const int block = i / n, u = i - block * n, side = first + block * P;
    cx<T> sum[P];
    WB_UNROLL for (int p = 0; p < P; p++) sum[p] = {T(0.f), T(0.f)};
    for (int c = 0; c < n; c++) {
      const cx<T> z = a.get(c, u);
      WB_UNROLL for (int p = 0; p < P; p++) sum[p] = fma(z, t.get((side + p) * n + c), sum[p]);
    }
    WB_UNROLL for (int p = 0; p < P; p++) s.put((side + p) * n + u, sum[p]);
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
    int done = 0;
    if constexpr (width_of<T> > 1)
      for (; done + 4 <= sides; done += 4) multiply_sides<4>(n, done, 1, a, v.t, v.s, g);
    multiply_sides<1>(n, done, sides - done, a, v.t, v.s, g);
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

}  // namespace WB_ISA
}  // namespace wb
