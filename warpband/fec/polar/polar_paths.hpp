#pragma once
// Values of the L paths of a list, with one interface for vectors and CUDA threads: polar_paths<T, G, L>.
//
// CPU: the lanes of a vector are paths. A vector wider than L holds several codewords; a longer list takes
// L / W vectors. CUDA: the thread of rank r has path r mod L. The G::size / L threads of a path are its
// replicas and share the elements of its arrays.
//
// All functions are collectives of the list's threads unless they only load or store. They use shuffles, no
// shared memory, and no barrier. Loads and stores need a barrier (g.sync()) between threads from the caller.
#include <warpband/fec/polar/polar_body.hpp>

// Loops over vectors of a value. Shuffles of vectors need constant steps; scalar code has no shuffles but
// many values, and stays rolled. polar_list.hpp, the last user, undefines these macros.
#if WB_WIDTH > 1 || defined(__CUDACC__)
#define WB_POLAR_VECTOR_LOOP WB_UNROLL
#else
#define WB_POLAR_VECTOR_LOOP WB_ROLL
#endif

// Loops over elements or words of a path, and loops over words with such a loop inside. CUDA: unrolled by
// P::unrolled, with P = polar_paths. CPU: the compiler decides.
#if defined(__CUDACC__)
#define WB_POLAR_ELEMENT_LOOP _Pragma("unroll P::unrolled")
#define WB_POLAR_WORD_LOOP WB_ROLL
#else
#define WB_POLAR_ELEMENT_LOOP
#define WB_POLAR_WORD_LOOP
#endif

namespace wb {
inline namespace WB_ISA {

WB_HD constexpr int polar_log2(int x) { return x > 1 ? 1 + polar_log2(x / 2) : 0; }

/// The part of a thread of one value per path: C vectors or scalars.
template <class X, int C>
struct per_path {
  X x[C];
};
/// f of the values of each path.
template <class F, class X, int C, class... Y>
WB_HD auto map(F f, per_path<X, C> a, per_path<Y, C>... b) {
  per_path<decltype(f(a.x[0], b.x[0]...)), C> r;
  WB_POLAR_VECTOR_LOOP for (int c = 0; c < C; c++) r.x[c] = f(a.x[c], b.x[c]...);
  return r;
}

template <class X, int C>
WB_HD per_path<X, C> operator^(per_path<X, C> a, per_path<X, C> b) {
  return map([](X x, X y) WB_INLINE_LAMBDA { return x ^ y; }, a, b);
}
template <class X, int C>
WB_HD per_path<X, C> min(per_path<X, C> a, per_path<X, C> b) {
  return map([](X x, X y) WB_INLINE_LAMBDA { return min(x, y); }, a, b);
}
template <class X, int C>
WB_HD per_path<X, C> max(per_path<X, C> a, per_path<X, C> b) {
  return map([](X x, X y) WB_INLINE_LAMBDA { return max(x, y); }, a, b);
}
template <class M, class X, int C>
WB_HD per_path<X, C> select(per_path<M, C> m, per_path<X, C> a, per_path<X, C> b) {
  return map([](M c, X x, X y) WB_INLINE_LAMBDA { return select(c, x, y); }, m, a, b);
}

template <class T, class G, int L>
struct polar_paths {
  using I = typename rebind<T>::i32;
  using M = typename rebind<T>::mask;
  using E = polar_element<T>;
  using lane_type = T;
  static constexpr int W = width_of<T>, paths_of_list = L;
  static constexpr int threads = G::size;
  static constexpr bool over_threads = threads > 1;
  /// Vectors or scalars of a thread per value.
  static constexpr int C = over_threads || L <= W ? 1 : L / W;
  /// Codewords that share the vectors.
  static constexpr int codewords = over_threads || W <= L ? 1 : W / L;
  /// Threads of a path.
  static constexpr int replicas = over_threads ? G::size / L : 1;
  /// Unroll factor of loops over elements on CUDA. The lists of a multiprocessor run different parts of the
  /// code: beyond the instruction cache, unrolling costs more than it gains. Measured on an H100
  /// (docs/notes/2026-11-polar-lists.md).
  static constexpr int unrolled = L <= 2 || L == 32 ? 4 : L == 4 ? 2 : 1;
  /// Independent accumulators of a sum over elements, the same in all builds.
  static constexpr int accumulators = 32 / L;
  using value = per_path<T, C>;
  using integer = per_path<I, C>;
  using mask = per_path<M, C>;

  G g;
  WB_HD int replica() const { return g.rank / L; }

  template <class X>
  WB_HD static auto broadcast(X x) {
    per_path<X, C> r;
    WB_POLAR_VECTOR_LOOP for (int c = 0; c < C; c++) r.x[c] = x;
    return r;
  }
  /// The index 0..L - 1 of each path.
  WB_HD integer paths() const {
    integer r;
    if constexpr (over_threads)
      r.x[0] = I(g.rank & (L - 1));
    else
      WB_POLAR_VECTOR_LOOP for (int c = 0; c < C; c++) r.x[c] =
          (as_int(iota<typename rebind<T>::u32>()) & I(L - 1)) + I(c * W);
    return r;
  }

  // Arrays in scratch memory have an element per path. A shared array has one element for all paths on CUDA;
  // on a CPU its elements are repeated in all lanes.

  /// Element i of each path.
  WB_HD value load(const E* p, int i, bool shared = false) const {
    value r;
    if constexpr (over_threads)
      r.x[0] = shared ? p[i] : p[i * L + (g.rank & (L - 1))];
    else
      WB_POLAR_VECTOR_LOOP for (int c = 0; c < C; c++) r.x[c] = p[i * C + c];
    return r;
  }
  /// Element i of path source(p) for path p.
  WB_HD value load_from(const E* p, int i, integer source) const {
    if constexpr (over_threads) {
      value r;
      r.x[0] = p[i * L + static_cast<int>(source.x[0])];
      return r;
    } else if constexpr (W == 1) {
      value r;
      WB_POLAR_VECTOR_LOOP for (int c = 0; c < C; c++) r.x[c] = p[i * C + static_cast<int>(source.x[c])];
      return r;
    } else {
      return gathered(load(p, i), source);
    }
  }
  WB_HD void store(E* p, int i, value v) const {
    if constexpr (over_threads)
      put<T>(p + i * L + (g.rank & (L - 1)), v.x[0]);
    else
      WB_POLAR_VECTOR_LOOP for (int c = 0; c < C; c++) put<T>(p + i * C + c, v.x[c]);
  }
  /// Replicas own elements in a striped arrangement: the k-th element of a thread is k * replicas +
  /// replica(). Returns how many of the first `count` elements this thread owns.
  WB_HD int striped_count(int count) const {
    return over_threads ? (count - replica() + replicas - 1) / replicas : count;
  }
  /// The k-th element of this thread.
  WB_HD value load_striped(const E* p, int k, bool shared = false) const {
    if constexpr (over_threads)
      return {p[(shared ? replica() : g.rank) + (shared ? replicas : threads) * k]};
    else
      return load(p, k);
  }
  WB_HD value load_striped_from(const E* p, int k, integer source, bool shared = false) const {
    if constexpr (over_threads)
      return {p[(shared ? replica() : replica() * L + static_cast<int>(source.x[0])) +
                (shared ? replicas : threads) * k]};
    else
      return load_from(p, k, source);
  }
  WB_HD void store_striped(E* p, int k, value v) const {
    if constexpr (over_threads)
      put<T>(p + g.rank + threads * k, v.x[0]);
    else
      store(p, k, v);
  }
  /// Offset in memory of element `count`.
  WB_HD static int offset(int count, bool shared = false) {
    return over_threads ? (shared ? count : count * L) : count * C;
  }

#if WB_WIDTH > 1
  /// Lane i is lane source[i] of v.
  WB_HD static T shuffled(T v, I source) {
    if constexpr (is_whole<T> && L <= 8)
      return permute_in_eights(v, source);
    else if constexpr (is_whole<T>)
      return T(permute({v.x}, {source.x}).x);
    else
      return T(WB_SHUFFLE(v.x, source.x));
  }
  /// Lane i is lane i ^ step of v.
  WB_HD static T from_lane_xor(T v, int step) {
    if constexpr (is_whole<T>)
      return other_lane(v, step);
    else
      return T(WB_SHUFFLE(v.x, (as_int(iota<typename rebind<T>::u32>()) ^ I(step)).x));
  }
#endif
  /// x of the thread of rank ^ step.
  template <class X>
  WB_HD X from_thread_xor(X x, int step) const {
    if constexpr (is_whole<X>)
      return X(static_cast<int>(g.exchange(static_cast<int>(x), step)));
    else
      return g.exchange(x, step);
  }
  /// The value of path source(p) for path p.
  WB_HD value gathered(value v, integer source) const {
    if constexpr (L == 1) return v;
    value r;
#if defined(__CUDACC__)
    if constexpr (is_whole<T>)
      r.x[0] = T(__shfl_sync(g.members, static_cast<int>(v.x[0]), static_cast<int>(source.x[0]), L));
    else
      r.x[0] = __shfl_sync(g.members, v.x[0], source.x[0], L);
#elif WB_WIDTH == 1
    WB_POLAR_VECTOR_LOOP for (int c = 0; c < C; c++) r.x[c] = v.x[static_cast<int>(source.x[c])];
#else
    const I lane = as_int(iota<typename rebind<T>::u32>());
    WB_POLAR_VECTOR_LOOP for (int c = 0; c < C; c++) {
      const I from = L < W ? source.x[c] | (lane & I(~(L - 1))) : source.x[c];
      r.x[c] = shuffled(v.x[0], from);
      WB_POLAR_VECTOR_LOOP for (int b = 1; b < C; b++) r.x[c] =
          select((source.x[c] >> polar_log2(W)) == I(b), shuffled(v.x[b], from), r.x[c]);
    }
#endif
    return r;
  }
  WB_HD integer gathered(integer v, integer source) const
    requires(!is_whole<T>)
  {
    return as_integers(gathered(as_values(v), source));
  }
  WB_HD static value as_values(integer v) {
    return map([](I x) WB_INLINE_LAMBDA { return as_float(x); }, v);
  }
  WB_HD static integer as_integers(value v) {
    return map([](T x) WB_INLINE_LAMBDA { return as_int(x); }, v);
  }

  /// Words of bits, such as partial sums, in arrays of values.
  WB_HD integer load_word(const E* p, int i) const { return as_integers(load(p, i)); }
  WB_HD integer load_word_from(const E* p, int i, integer source) const {
    return as_integers(load_from(p, i, source));
  }
  WB_HD void store_word(E* p, int i, integer word) const { store(p, i, as_values(word)); }

  /// The value of path p ^ step for path p.
  WB_HD value from_path_xor(value v, int step) const {
    value r;
    if constexpr (over_threads) {
      r.x[0] = from_thread_xor(v.x[0], step);
    } else if constexpr (W == 1) {
      WB_POLAR_VECTOR_LOOP for (int c = 0; c < C; c++) r.x[c] = v.x[c ^ step];
    } else {
#if WB_WIDTH > 1
      WB_POLAR_VECTOR_LOOP for (int c = 0; c < C; c++) r.x[c] =
          C > 1 && step >= W ? v.x[c ^ (step / W)] : from_lane_xor(v.x[c], step);
#endif
    }
    return r;
  }
  /// The smallest value of the paths of each codeword; all paths get it.
  WB_HD value smallest(value v) const {
    WB_POLAR_VECTOR_LOOP for (int step = 1; step < L; step *= 2) v = min(v, from_path_xor(v, step));
    return v;
  }
  WB_HD value largest(value v) const {
    WB_POLAR_VECTOR_LOOP for (int step = 1; step < L; step *= 2) v = max(v, from_path_xor(v, step));
    return v;
  }
  /// Reduction by f over the replicas of each path.
  template <class F>
  WB_HD value reduced_over_replicas(value v, F f) const {
    if constexpr (replicas > 1)
      WB_UNROLL for (int step = L; step < G::size; step *= 2) v.x[0] =
          f(v.x[0], from_thread_xor(v.x[0], step));
    return v;
  }
  WB_HD integer xor_over_replicas(integer v) const {
    if constexpr (replicas > 1)
      WB_UNROLL for (int step = L; step < G::size; step *= 2) v.x[0] = v.x[0] ^ from_thread_xor(v.x[0], step);
    return v;
  }
  /// Is a condition true for all paths of all codewords?
  WB_HD bool is_true_for_all(mask m) const {
    if constexpr (over_threads) {
      return !g.any(!m.x[0]);
    } else {
      bool yes = true;
      WB_POLAR_VECTOR_LOOP for (int c = 0; c < C; c++) yes = yes && wb::all(m.x[c]);
      return yes;
    }
  }

  /// Sorts the keys of each codeword by path index with a bitonic network (K. E. Batcher, 1968). Keys are not
  /// negative. Run and Step are template arguments because GCC 12 does not unroll a loop over them: its
  /// shuffles then take branches and divisions.
  template <int Run = 2, int Step = 1>
  WB_HD value sorted(value v, bool descending) const {
    if constexpr (Run > L) {
      return v;
    } else {
      const integer p = paths();
      const value w = from_path_xor(v, Step);
      WB_POLAR_VECTOR_LOOP for (int c = 0; c < C; c++) {
        // The lower path of a pair keeps the smaller key, in odd runs the larger one.
        const I swapped = ((p.x[c] & I(Run)) * I(L / Run)) ^ ((p.x[c] & I(Step)) * I(L / Step));
        const M keeps_smaller = swapped == I(0);
        const T smaller = min(v.x[c], w.x[c]), larger = max(v.x[c], w.x[c]);
        v.x[c] = descending ? select(keeps_smaller, larger, smaller) : select(keeps_smaller, smaller, larger);
      }
      return sorted<(Step > 1 ? Run : 2 * Run), (Step > 1 ? Step / 2 : Run)>(v, descending);
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
