#pragma once
// Iterations for several right sides of a Hermitian positive definite matrix whose diagonal is 1, from x = 0.
// None of them needs inner products. A group synchronises once for each product with A, or once for each
// user.
//
//   Neumann       x = (I + E + E^2 + ..) b, E = I - A: as many terms as iterations. It converges where all
//                 eigenvalues of A are below 2
//   Chebyshev     d = keep d + add r, x += d, r -= A d: the polynomial in A that is least over an interval
//                 of eigenvalues (Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm
//                 12.1). It converges where all eigenvalues are below the sum of both bounds
//   Gauss-Seidel  x_u = b_u - sum over j != u of A_uj x_j, for u = 0, 1, .. with the newest x. It converges
//                 for every such A
#include <warpband/core/llr.hpp>
#include <warpband/linalg/packed_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Terms that grow without end stop here, so that none becomes infinite.
inline constexpr float most_splitting_term = 1e30f;

/// What the eigenvalues of A are taken to lie between, 0 < low < high.
template <class T>
struct eigenvalue_bounds {
  T low, high;
};

/// A term of the Neumann series is what the terms before have left over.
template <class T>
struct neumann_terms {
  WB_HD cx<T> first(cx<T> b) const { return b; }
  WB_HD void advance() {}
  WB_HD cx<T> next(cx<T>, cx<T> r) const { return r; }
};

/// The steps of Chebyshev's method.
template <class T>
struct chebyshev_terms {
  T scale, twice, over, rho;
  T keep = T(0.f), add = T(0.f);
  WB_HD explicit chebyshev_terms(eigenvalue_bounds<T> bounds) {
    const T centre = T(0.5f) * (bounds.high + bounds.low), half = T(0.5f) * (bounds.high - bounds.low);
    scale = T(1.f) / centre;
    over = T(2.f) / half;
    rho = half * scale;
    twice = centre * over;
  }
  WB_HD cx<T> first(cx<T> b) const { return scale * b; }
  WB_HD void advance() {
    const T before = rho;
    rho = T(1.f) / (twice - before);
    keep = rho * before;
    add = rho * over;
  }
  WB_HD cx<T> next(cx<T> d, cx<T> r) const { return fma(keep, d, add * r); }
};

/// Vectors of n entries, one for each right side: the solution, the right side, which is used up, and memory.
template <class T>
struct splitting_memory {
  packed_vector<T> x, r, d;
  WB_HD splitting_memory from(int i) const { return {x.from(i), r.from(i), d.from(i)}; }
};

/// x as a sum of `iterations` terms. P right sides are one part, which lanes alone work on together.
template <int P, class Terms, class T, class G>
WB_HD_CALL void sum_terms(int n, int parts, packed_matrix<T> a, int iterations, Terms terms,
                          splitting_memory<T> v, G g) {
  const int entries = parts * P * n;
  for (int i = g.rank; i < entries; i += g.size) {
    const cx<T> z = terms.first(v.r.get(i));
    v.d.put(i, z);
    v.x.put(i, z);
  }
  g.sync();
  for (int iteration = 1; iteration < iterations; iteration++) {
    multiply<P>(n, parts, a, v.d, g, [&](int, int i, cx<T> product) WB_INLINE_LAMBDA {
      const cx<T> r = v.r.get(i) - product;
      v.r.put(i, {saturate(r.re, most_splitting_term), saturate(r.im, most_splitting_term)});
    });
    g.sync();
    terms.advance();
    for (int i = g.rank; i < entries; i += g.size) {
      const cx<T> z = terms.next(v.d.get(i), v.r.get(i));
      v.d.put(i, z);
      v.x.put(i, v.x.get(i) + z);
    }
    g.sync();
  }
}

/// x by Gauss-Seidel. r has b - (A - I) x, so that an entry of it is the next x there.
template <int P, class T, class G>
WB_HD_CALL void gauss_seidel_sweeps(int n, int parts, packed_matrix<T> a, int iterations,
                                    splitting_memory<T> v, G g) {
  for (int i = g.rank; i < parts * P * n; i += g.size) v.x.put(i, {T(0.f), T(0.f)});
  g.sync();
  for (int iteration = 0; iteration < iterations; iteration++)
    for (int u = 0; u < n; u++) {
      // x of the user before is stored here, as other threads read it until now.
      const int before = iteration + u == 0 ? n : u == 0 ? n - 1 : u - 1;
      const auto change = [&](int side)
                              WB_INLINE_LAMBDA { return v.r.get(side * n + u) - v.x.get(side * n + u); };
      const auto update = [&](int side, int c, cx<T> z, cx<T> step) WB_INLINE_LAMBDA {
        const cx<T> r = v.r.get(side * n + c);
        if (c == before) v.x.put(side * n + c, r);
        v.r.put(side * n + c, fnma(z, step, r));
      };
      if (g.size == 1) {
        for (int part = 0; part < parts; part++) {
          cx<T> step[P];
          WB_UNROLL for (int p = 0; p < P; p++) step[p] = change(part * P + p);
          for (int c = 0; c < n; c++) {
            if (c == u) continue;
            const cx<T> z = a.get(u, c);
            WB_UNROLL for (int p = 0; p < P; p++) update(part * P + p, c, z, step[p]);
          }
        }
      } else {  // P is 1
        for (int i = g.rank; i < parts * n; i += g.size) {
          const int side = i / n, c = i - side * n;
          if (c != u) update(side, c, a.get(u, c), change(side));
        }
      }
      g.sync();
    }
  for (int side = g.rank; side < parts * P; side += g.size)
    v.x.put(side * n + n - 1, v.r.get(side * n + n - 1));
  g.sync();
}

/// Calls f<P>(parts, memory, group) for all right sides: lanes alone take up to four of them at once, in
/// parts that stay in the nearest cache; a group takes all.
template <class T, class G, class F>
WB_HD void in_side_parts(int n, int sides, const splitting_memory<T>& v, G g, F f) {
  if constexpr (width_of<T> > 1)
    in_parts(sides, [&]<int P>(int k) WB_INLINE_LAMBDA { f.template operator()<P>(1, v.from(k * n), g); });
  else
    f.template operator()<1>(sides, v, g);
}

/// x of A x = r for `sides` right sides, after so many iterations of a method. A is whole (`mirror`). Each
/// begins with r written and all threads having met, and ends so with x.
template <class T, class G>
WB_HD void neumann_series(int n, int sides, const packed_matrix<T>& a, int iterations,
                          const splitting_memory<T>& v, G g) {
  in_side_parts(n, sides, v, g,
                [&]<int P>(int parts, const splitting_memory<T>& m, G group) WB_INLINE_LAMBDA {
                  sum_terms<P>(n, parts, a, iterations, neumann_terms<T>(), m, group);
                });
}
template <class T, class G>
WB_HD void chebyshev(int n, int sides, const packed_matrix<T>& a, int iterations, eigenvalue_bounds<T> bounds,
                     const splitting_memory<T>& v, G g) {
  in_side_parts(n, sides, v, g,
                [&]<int P>(int parts, const splitting_memory<T>& m, G group) WB_INLINE_LAMBDA {
                  sum_terms<P>(n, parts, a, iterations, chebyshev_terms<T>(bounds), m, group);
                });
}
template <class T, class G>
WB_HD void gauss_seidel(int n, int sides, const packed_matrix<T>& a, int iterations,
                        const splitting_memory<T>& v, G g) {
  in_side_parts(n, sides, v, g,
                [&]<int P>(int parts, const splitting_memory<T>& m, G group)
                    WB_INLINE_LAMBDA { gauss_seidel_sweeps<P>(n, parts, a, iterations, m, group); });
}

}  // namespace WB_ISA
}  // namespace wb
