#pragma once
// Conjugate gradients for several right sides of a Hermitian positive definite matrix in scratch memory, from
// x = 0:
//   s = A t, alpha = |r|^2 / t^H s, x += alpha t, r -= alpha s, beta = |r|^2 / |r_before|^2, t = r + beta t
// x of a right side stays as it is from the first iteration on in which |r|^2 <= residual^2 |b|^2 or
// t^H A t <= 0. So more iterations than are needed do no harm. Right sides are independent: when one stops
// does not depend on the others. The loop ends once all of a lane or group have stopped.
#include <warpband/linalg/packed_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// What a right side carries from one iteration to the next: |r|^2, and the |r|^2 down to which it changes.
template <class T>
struct cg_state {
  T energy, least;
  WB_HD static cg_state of(T energy, float residual_squared) {
    return {energy, T(residual_squared) * energy};
  }
  /// Where x still changes.
  WB_HD auto goes_on() const { return energy > least; }
  /// From t^H A t.
  WB_HD T alpha(T curvature) {
    const auto convex = curvature > T(0.f);
    least = select(convex, least, T(3e38f));  // stays so
    const auto steps = convex & goes_on();
    return select(steps, energy, T(0.f)) / select(steps, curvature, T(1.f));
  }
  /// From |r|^2 after the step of alpha.
  WB_HD T beta(T new_energy) {
    const T before = energy;
    energy = new_energy;
    return new_energy / select(before > T(0.f), before, T(1.f));
  }
};

/// Vectors of n entries, one for each right side, and three numbers of each.
template <class T>
struct cg_memory {
  packed_vector<T> x, r, t, s;
  T *energy, *least, *factor;
  /// Of the right sides from number k on.
  WB_HD cg_memory from(int k, int n) const {
    return {x.from(k * n), r.from(k * n), t.from(k * n), s.from(k * n), energy + k, least + k, factor + k};
  }
};

/// `conjugate_gradients` by a group, which meets after each step.
template <class T, class G>
WB_HD void group_conjugate_gradients(int n, int sides, const packed_matrix<T>& a, int iterations,
                                     float residual_squared, const cg_memory<T>& v, G g) {
  const auto for_each = [&](int count, auto f) WB_INLINE_LAMBDA {
    for (int i = g.rank; i < count; i += g.size) f(i);
    g.sync();
  };
  g.sync();
  for (int i = g.rank; i < sides * n; i += g.size) {
    v.x.put(i, {T(0.f), T(0.f)});
    v.t.put(i, v.r.get(i));
  }
  for_each(sides, [&](int k) WB_INLINE_LAMBDA {
    const auto state = cg_state<T>::of(energy_of(v.r.from(k * n), n), residual_squared);
    v.energy[k] = state.energy, v.least[k] = state.least;
  });
  for (int iteration = 0; iteration < iterations; iteration++) {
    multiply<1>(n, sides, a, v.t, g,
                [&](int, int i, cx<T> product) WB_INLINE_LAMBDA { v.s.put(i, product); });
    g.sync();
    for_each(sides, [&](int k) WB_INLINE_LAMBDA {
      T curvature = T(0.f);
      for (int i = k * n; i < (k + 1) * n; i++) curvature = dot_fma(v.t.get(i), v.s.get(i), curvature);
      cg_state<T> state{v.energy[k], v.least[k]};
      v.factor[k] = state.alpha(curvature);
      v.least[k] = state.least;
    });
    for_each(sides * n, [&](int i) WB_INLINE_LAMBDA {
      const T alpha = v.factor[i / n];
      v.x.put(i, fma(alpha, v.t.get(i), v.x.get(i)));
      v.r.put(i, fnma(alpha, v.s.get(i), v.r.get(i)));
    });
    if (iteration + 1 == iterations) return;
    for_each(sides, [&](int k) WB_INLINE_LAMBDA {
      cg_state<T> state{v.energy[k], v.least[k]};
      v.factor[k] = state.beta(energy_of(v.r.from(k * n), n));
      v.energy[k] = state.energy;
    });
    for_each(sides * n,
             [&](int i) WB_INLINE_LAMBDA { v.t.put(i, fma(v.factor[i / n], v.t.get(i), v.r.get(i))); });
    bool stopped = true;
    for (int k = 0; k < sides; k++) stopped = stopped & !any(v.energy[k] > v.least[k]);
    if (stopped) return;
  }
}

/// `conjugate_gradients` for P right sides by lanes alone: the same steps, of which those that pass over the
/// same vectors are one pass.
template <int P, class T>
WB_HD_CALL void lane_conjugate_gradients(int n, packed_matrix<T> a, int iterations, float residual_squared,
                                         cg_memory<T> v) {
  cg_state<T> state[P];
  WB_UNROLL for (int p = 0; p < P; p++) state[p] =
      cg_state<T>::of(energy_of(v.r.from(p * n), n), residual_squared);
  for (int i = 0; i < P * n; i++) {
    v.x.put(i, {T(0.f), T(0.f)});
    v.t.put(i, v.r.get(i));
  }
  for (int iteration = 0; iteration < iterations; iteration++) {
    T alpha[P];  // before, t^H s
    WB_UNROLL for (int p = 0; p < P; p++) alpha[p] = T(0.f);
    multiply<P>(n, 1, a, v.t, solo{}, [&](int p, int i, cx<T> product) WB_INLINE_LAMBDA {
      alpha[p] = dot_fma(v.t.get(i), product, alpha[p]);
      v.s.put(i, product);
    });
    WB_UNROLL for (int p = 0; p < P; p++) alpha[p] = state[p].alpha(alpha[p]);
    const bool is_last = iteration + 1 == iterations;
    WB_UNROLL for (int p = 0; p < P; p++) {
      const int first = p * n, last = first + n;
      if (is_last) {
        for (int i = first; i < last; i++) v.x.put(i, fma(alpha[p], v.t.get(i), v.x.get(i)));
        continue;
      }
      T new_energy = T(0.f);
      for (int i = first; i < last; i++) {
        const cx<T> r = fnma(alpha[p], v.s.get(i), v.r.get(i));
        v.r.put(i, r);
        new_energy = norm_fma(r, new_energy);
      }
      const T beta = state[p].beta(new_energy);
      for (int i = first; i < last; i++) {
        const cx<T> t = v.t.get(i);
        v.x.put(i, fma(alpha[p], t, v.x.get(i)));
        v.t.put(i, fma(beta, t, v.r.get(i)));
      }
    }
    bool stopped = true;
    WB_UNROLL for (int p = 0; p < P; p++) stopped = stopped & !any(state[p].goes_on());
    if (stopped) return;
  }
}

/// x of A x = r for `sides` right sides; r is used up. A is whole (`mirror`). Begins with r written by all
/// threads and ends with x so.
template <class T, class G>
WB_HD void conjugate_gradients(int n, int sides, const packed_matrix<T>& a, int iterations,
                               float residual_squared, const cg_memory<T>& v, G g) {
  // By lanes few sides at a time: their vectors stay in the nearest cache.
  if constexpr (width_of<T> > 1)
    in_parts(sides, [&]<int P>(int k) WB_INLINE_LAMBDA {
      lane_conjugate_gradients<P>(n, a, iterations, residual_squared, v.from(k, n));
    });
  else
    group_conjugate_gradients(n, sides, a, iterations, residual_squared, v, g);
}

}  // namespace WB_ISA
}  // namespace wb
