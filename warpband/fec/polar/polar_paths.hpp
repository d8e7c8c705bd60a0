#pragma once
// Numbers of each path of a list, under one set of names. On a CPU the lanes of a vector are the paths of a
// codeword, and of several codewords where a vector has more lanes than a list has paths; a longer list takes
// several vectors. On CUDA a thread has one path, and polar_tile threads have each path size / L times:
// these replicas share the elements.
#include <warpband/fec/polar/polar_body.hpp>

// Loops over the steps of a network: shuffles want constant steps. Scalar code has no shuffles, but a value
// for each path.
#if WB_WIDTH > 1 || defined(__CUDACC__)
#define WB_UNROLL_VECTORS WB_UNROLL
#else
#define WB_UNROLL_VECTORS WB_ROLL
#endif

// Loops over the elements or words of a path, and over words with such a loop inside. `P`, the polar_paths,
// is in scope. GCC decides by itself.
#if defined(__CUDACC__)
#define WB_LIST_LOOP _Pragma("unroll P::unrolled")
#define WB_WORD_LOOP WB_ROLL
#else
#define WB_LIST_LOOP
#define WB_WORD_LOOP
#endif

namespace wb {
inline namespace WB_ISA {

WB_HD constexpr int polar_log2(int x) { return x > 1 ? 1 + polar_log2(x / 2) : 0; }

/// A number of each path that a thread has.
template <class X, int C>
struct of_paths {
  X x[C];
};
/// f of each path's numbers.
template <class F, class X, int C, class... Y>
WB_HD auto each(F f, of_paths<X, C> a, of_paths<Y, C>... b) {
  of_paths<decltype(f(a.x[0], b.x[0]...)), C> r;
  WB_UNROLL_VECTORS for (int c = 0; c < C; c++) r.x[c] = f(a.x[c], b.x[c]...);
  return r;
}

template <class X, int C>
WB_HD of_paths<X, C> plus(of_paths<X, C> a, of_paths<X, C> b) {
  return each([](X x, X y) WB_INLINE_LAMBDA { return x + y; }, a, b);
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
  /// Values of a thread for each element, codewords of a call, threads that share the elements of a path.
  static constexpr int C = over_threads || L <= W ? 1 : L / W;
  static constexpr int items = over_threads || W <= L ? 1 : W / L;
  static constexpr int replicas = over_threads ? G::size / L : 1;
  /// How often loops over elements are unrolled. Longer code than the instruction cache holds costs more than
  /// it gains where a multiprocessor has many lists, each at its own place of the code
  /// (docs/notes/2026-11-polar-lists.md).
  static constexpr int unrolled = L <= 2 || L == 32 ? 4 : L == 4 ? 2 : 1;
  /// Sums over elements have so many partial sums, in every build.
  static constexpr int partial_sums = 32 / L;
  using value = of_paths<T, C>;
  using number = of_paths<I, C>;
  using flag = of_paths<M, C>;

  G g;
  WB_HD int replica() const { return g.rank / L; }

  template <class X>
  WB_HD static auto all(X x) {
    of_paths<X, C> r;
    WB_UNROLL_VECTORS for (int c = 0; c < C; c++) r.x[c] = x;
    return r;
  }
  /// 0..L - 1.
  WB_HD number paths() const {
    number r;
    if constexpr (over_threads)
      r.x[0] = I(g.rank & (L - 1));
    else
      WB_UNROLL_VECTORS for (int c = 0; c < C; c++) r.x[c] =
          (as_int(iota<typename rebind<T>::u32>()) & I(L - 1)) + I(c * W);
    return r;
  }

  /// Element i of each path in scratch memory; one that all paths share where `shared` (on a CPU it is there
  /// for each).
  WB_HD value load(const E* p, int i, bool shared = false) const {
    value r;
    if constexpr (over_threads)
      r.x[0] = shared ? p[i] : p[i * L + (g.rank & (L - 1))];
    else
      WB_UNROLL_VECTORS for (int c = 0; c < C; c++) r.x[c] = p[i * C + c];
    return r;
  }
  /// The same of path at(p) for path p.
  WB_HD value load_of(const E* p, int i, number at) const {
    if constexpr (over_threads) {
      value r;
      r.x[0] = p[i * L + static_cast<int>(at.x[0])];
      return r;
    } else if constexpr (W == 1) {
      value r;
      WB_UNROLL_VECTORS for (int c = 0; c < C; c++) r.x[c] = p[i * C + static_cast<int>(at.x[c])];
      return r;
    } else {
      return permuted(load(p, i), at);
    }
  }
  WB_HD void store(E* p, int i, value v) const {
    if constexpr (over_threads)
      put<T>(p + i * L + (g.rank & (L - 1)), v.x[0]);
    else
      WB_UNROLL_VECTORS for (int c = 0; c < C; c++) put<T>(p + i * C + c, v.x[c]);
  }
  /// How many of the first `count` elements a thread has: those that share a path take turns. Functions with
  /// `_own` number them.
  WB_HD int own(int count) const {
    return over_threads ? (count - replica() + replicas - 1) / replicas : count;
  }
  WB_HD value load_own(const E* p, int k, bool shared = false) const {
    if constexpr (over_threads)
      return {p[(shared ? replica() : g.rank) + (shared ? replicas : threads) * k]};
    else
      return load(p, k);
  }
  WB_HD value load_own_of(const E* p, int k, number at, bool shared = false) const {
    if constexpr (over_threads)
      return {p[(shared ? replica() : replica() * L + static_cast<int>(at.x[0])) +
                (shared ? replicas : threads) * k]};
    else
      return load_of(p, k, at);
  }
  WB_HD void store_own(E* p, int k, value v) const {
    if constexpr (over_threads)
      put<T>(p + g.rank + threads * k, v.x[0]);
    else
      store(p, k, v);
  }
  /// From an element in memory to the one that is `count` further.
  WB_HD static int distance(int count, bool shared = false) {
    return over_threads ? (shared ? count : count * L) : count * C;
  }

#if WB_WIDTH > 1
  /// Lane i is lane at[i] of v.
  WB_HD static T shuffled(T v, I at) {
    if constexpr (is_whole<T> && L <= 8)
      return permute_in_eights(v, at);
    else if constexpr (is_whole<T>)
      return T(permute({v.x}, {at.x}).x);
    else
      return T(__builtin_shuffle(v.x, at.x));
  }
#endif
#if WB_WIDTH > 1
  WB_HD static T other(T v, int step) {
    if constexpr (is_whole<T>)
      return other_lane(v, step);
    else
      return T(__builtin_shuffle(v.x, (as_int(iota<typename rebind<T>::u32>()) ^ I(step)).x));
  }
#endif
  /// x of the thread whose rank differs in the bits of `step`.
  template <class X>
  WB_HD X of_other_thread(X x, int step) const {
    if constexpr (is_whole<X>)
      return X(static_cast<int>(g.exchange(static_cast<int>(x), step)));
    else
      return g.exchange(x, step);
  }
  /// The number of path at(p) for path p.
  WB_HD value permuted(value v, number at) const {
    if constexpr (L == 1) return v;
    value r;
#if defined(__CUDACC__)
    if constexpr (is_whole<T>)
      r.x[0] = T(__shfl_sync(g.members, static_cast<int>(v.x[0]), static_cast<int>(at.x[0]), L));
    else
      r.x[0] = __shfl_sync(g.members, v.x[0], at.x[0], L);
#elif WB_WIDTH == 1
    WB_UNROLL_VECTORS for (int c = 0; c < C; c++) r.x[c] = v.x[static_cast<int>(at.x[c])];
#else
    const I lane = as_int(iota<typename rebind<T>::u32>());
    WB_UNROLL_VECTORS for (int c = 0; c < C; c++) {
      const I from = L < W ? at.x[c] | (lane & I(~(L - 1))) : at.x[c];
      r.x[c] = shuffled(v.x[0], from);
      WB_UNROLL_VECTORS for (int b = 1; b < C; b++) r.x[c] =
          select((at.x[c] >> polar_log2(W)) == I(b), shuffled(v.x[b], from), r.x[c]);
    }
#endif
    return r;
  }
  WB_HD number permuted(number v, number at) const
    requires(!is_whole<T>)
  {
    return as_numbers(permuted(as_values(v), at));
  }
  WB_HD static value as_values(number v) {
    return each([](I x) WB_INLINE_LAMBDA { return as_float(x); }, v);
  }
  WB_HD static number as_numbers(value v) {
    return each([](T x) WB_INLINE_LAMBDA { return as_int(x); }, v);
  }

  /// The number of the path whose index differs in the bit `step`.
  WB_HD value exchanged(value v, int step) const {
    value r;
    if constexpr (over_threads) {
      r.x[0] = of_other_thread(v.x[0], step);
    } else if constexpr (W == 1) {
      WB_UNROLL_VECTORS for (int c = 0; c < C; c++) r.x[c] = v.x[c ^ step];
    } else {
#if WB_WIDTH > 1
      WB_UNROLL_VECTORS for (int c = 0; c < C; c++) r.x[c] =
          C > 1 && step >= W ? v.x[c ^ (step / W)] : other(v.x[c], step);
#endif
    }
    return r;
  }
  /// f of the numbers of all paths of a codeword.
  template <class F>
  WB_HD value reduced(value v, F f) const {
    WB_UNROLL_VECTORS for (int step = 1; step < L; step *= 2) v = each(f, v, exchanged(v, step));
    return v;
  }
  /// f of what the threads that share a path have.
  template <class F>
  WB_HD value over_replicas(value v, F f) const {
    if constexpr (replicas > 1)
      WB_UNROLL for (int step = L; step < G::size; step *= 2) v.x[0] =
          f(v.x[0], of_other_thread(v.x[0], step));
    return v;
  }
  WB_HD number xor_of_replicas(number v) const {
    if constexpr (replicas > 1)
      WB_UNROLL for (int step = L; step < G::size; step *= 2) v.x[0] = v.x[0] ^ of_other_thread(v.x[0], step);
    return v;
  }
  /// Is a condition true for all paths of all codewords?
  WB_HD bool always(flag m) const {
    if constexpr (over_threads) {
      return !g.any(!m.x[0]);
    } else {
      bool yes = true;
      WB_UNROLL_VECTORS for (int c = 0; c < C; c++) yes = yes && wb::all(m.x[c]);
      return yes;
    }
  }

  /// Sorts the keys of each codeword by path; a bitonic network (K. E. Batcher, 1968). Not negative. The
  /// steps of the network are template arguments: a loop over them was not unrolled by GCC 12, and its
  /// shuffles then took branches and divisions.
  template <int Run = 2, int Step = 1>
  WB_HD value sorted(value v, bool descending) const {
    if constexpr (Run > L) {
      return v;
    } else {
      const number p = paths();
      const value w = exchanged(v, Step);
      WB_UNROLL_VECTORS for (int c = 0; c < C; c++) {
        // The lower one of a pair gets the smaller key, and in every other run the larger one.
        const I turned = ((p.x[c] & I(Run)) * I(L / Run)) ^ ((p.x[c] & I(Step)) * I(L / Step));
        const M straight = turned == I(0);
        const T least = min(v.x[c], w.x[c]), most = max(v.x[c], w.x[c]);
        v.x[c] = descending ? select(straight, most, least) : select(straight, least, most);
      }
      return sorted<(Step > 1 ? Run : 2 * Run), (Step > 1 ? Step / 2 : Run)>(v, descending);
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
