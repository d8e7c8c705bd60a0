#pragma once
// Which stream a search has at each position: as they come, in the caller's order, or sorted for each use by
// its channel.
#include <type_traits>

#include <warpband/core/cx.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/size.hpp>
#include <warpband/detect/search_args.hpp>
#include <warpband/linalg/qr/qr_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// The streams at the positions 0 .. n - 1 of a detector: as they come.
struct as_they_come {
  static constexpr bool lanes = false;  // one order for all lanes
  static constexpr bool given = false;
  static constexpr int first = 0;
  WB_HD int operator()(int, int k) const { return k; }
};
/// In the caller's order, turned: position k is entry (first + k) mod n. A word, so that no thread of a CUDA
/// device indexes its arguments or registers by what it learns at run time.
struct in_order {
  static constexpr bool lanes = false;
  std::uint32_t order;
  int first;
  bool given;  // any but that of the columns
  WB_HD in_order(const search_args& a, int start)
      : order(a.order), first(start), given(a.order != order_of_columns) {}
  WB_HD int operator()(int n, int k) const {
    const int entry = first + k;
    return static_cast<int>(order >> 4 * (entry < n ? entry : entry - n) & 7);
  }
};

/// The columns of H by falling or rising energy, as a sorted QR decomposition takes them, or by noise
/// amplification. `stream[k]` is that of position k; always a permutation, also where H is not finite.
template <class S, class T>
struct sorted_streams {
  using I = typename rebind<T>::i32;
  using M = typename rebind<T>::mask;
  I stream[S::streams::capacity];

  WB_HD sorted_streams(const search_args& a, S s, item<T> item) {
    if (a.sort == sort_by_qr) {
      by_qr(a, s, item);
      return;
    }
    if constexpr (requires { S::by_amplification; }) {
      if (a.sort == sort_fsd) {
        by_amplification(a, s, item);
        return;
      }
    }
    T key[S::streams::capacity];
    loop(s.n, [&](int k) WB_INLINE_LAMBDA {
      T energy = T(0.f);
      loop(s.rx, [&](int r) WB_INLINE_LAMBDA {
        energy = norm_fma(load_cx(a.channel, static_cast<std::size_t>(r * s.n + k), item, a.uses_per_channel),
                          energy);
      });
      key[k] = a.sort == sort_falling ? energy : -energy;
      stream[k] = I(k);
    });
    // Neighbours change places in n rounds, equal ones never: the first of them stays the first.
    loop(s.n, [&](int round) WB_INLINE_LAMBDA {
      loop(s.n, [&](int k) WB_INLINE_LAMBDA {
        const int next = k + 1 < S::streams::capacity ? k + 1 : k;
        if ((k + round) % 2 != 0 || k + 1 >= s.n) return;
        exchange(key[k] < key[next], key, k, next);
      });
    });
  }

 private:
  WB_HD static void exchange(M m, T& a, T& b) {
    const T before = a;
    a = select(m, b, a);
    b = select(m, before, b);
  }
  WB_HD void exchange(M m, T (&key)[S::streams::capacity], int k, int other) {
    exchange(m, key[k], key[other]);
    const I before = stream[k];
    stream[k] = select(m, stream[other], stream[k]);
    stream[other] = select(m, before, stream[other]);
  }
  WB_HD static void load_columns(const search_args& a, S s, item<T> item,
                                 cx<T> (&h)[S::streams::capacity][S::rows::capacity]) {
    loop(s.n, [&](int k) WB_INLINE_LAMBDA {
      loop(s.rx, [&](int r) WB_INLINE_LAMBDA {
        h[k][r] = load_cx(a.channel, static_cast<std::size_t>(r * s.n + k), item, a.uses_per_channel);
      });
    });
  }
  /// Sorted QR decomposition (D. Wübben, R. Böhnke, J. Rinas, V. Kühn, K. Kammeyer, "Efficient algorithm for
  /// decoding layered space-time codes", Electronics Letters 37(22), 2001).
  WB_HD void by_qr(const search_args& a, S s, item<T> item) {
    cx<T> h[S::streams::capacity][S::rows::capacity];
    load_columns(a, s, item, h);
    loop(s.n, [&](int k) WB_INLINE_LAMBDA { stream[k] = I(k); });
    take(s, s.rx, h, 0);
  }
  /// The order of a fixed-complexity sphere decoder (L. Barbero, J. Thompson, "Fixing the complexity of the
  /// sphere decoder for MIMO detection", IEEE Trans. Wireless Commun. 7(6), 2008). From the top of the tree
  /// down it takes the stream of the least noise amplification, at full levels that of the largest. The
  /// amplification is the squared norm of a row of the pseudo-inverse of the streams left.
  ///
  /// With H = Q R the rows of R^-1 have the inner products of those of the pseudo-inverse. Without a stream
  /// the rows of the others lose their part along its row.
  WB_HD void by_amplification(const search_args& a, S s, item<T> item) {
    cx<T> h[S::streams::capacity][S::rows::capacity], none[S::rows::capacity];
    load_columns(a, s, item, h);
    T trace = T(0.f);
    loop(s.rx, [&](int r) WB_INLINE_LAMBDA {
      none[r] = {T(0.f), T(0.f)};
      loop(s.n, [&](int k) WB_INLINE_LAMBDA { trace = norm_fma(h[k][r], trace); });
    });
    triangle<typename S::streams, cx<T>> t;
    gram_schmidt(s.rx, s.n, h, none, trace * T(1e-12f), t);
    cx<T> row[S::streams::capacity][S::streams::capacity];  // of R^-1 times its first pivot, from the top
    loop(s.n, [&](int level) WB_INLINE_LAMBDA {
      const int k = level == 0 ? 0 : s.n - level;
      stream[level] = I(k);
      loop(s.n, [&](int j) WB_INLINE_LAMBDA { row[level][j] = {j == k ? t.diagonal[0] : T(0.f), T(0.f)}; });
      loop(s.n, [&](int j) WB_INLINE_LAMBDA {
        loop(s.n, [&](int i) WB_INLINE_LAMBDA {
          if (i < j) row[level][j] = fnma(row[level][i], t.above[i][j], row[level][j]);
        });
        row[level][j] = t.inverse[j] * row[level][j];
      });
    });
    take(s, s.n, row, a.full_levels);
    I from_top[S::streams::capacity];
    loop(s.n, [&](int level) WB_INLINE_LAMBDA { from_top[level] = stream[level]; });
    loop(s.n, [&](int k) WB_INLINE_LAMBDA { stream[k] = from_top[k == 0 ? 0 : s.n - k]; });
  }
  /// Modified Gram-Schmidt that goes on with the least of the vectors that are left, in steps whose bit of
  /// `largest` is set with the largest.
  template <class R>
  WB_HD void take(S s, R rows, cx<T> (&h)[S::streams::capacity][R::capacity], std::uint32_t largest) {
    T key[S::streams::capacity];
    loop(s.n, [&](int i) WB_INLINE_LAMBDA {
      loop(s.n, [&](int j) WB_INLINE_LAMBDA {
        if (j < i) return;
        key[j] = T(0.f);
        loop(rows, [&](int r) WB_INLINE_LAMBDA { key[j] = norm_fma(h[j][r], key[j]); });
      });
      loop(s.n, [&](int j) WB_INLINE_LAMBDA {
        if (j <= i) return;
        const M better = (largest >> i & 1) != 0 ? key[i] < key[j] : key[j] < key[i];
        exchange(better, key, i, j);
        loop(rows, [&](int r) WB_INLINE_LAMBDA {
          exchange(better, h[i][r].re, h[j][r].re);
          exchange(better, h[i][r].im, h[j][r].im);
        });
      });
      const M some = key[i] >= T(1e-37f);
      const T inverse = select(some, T(1.f) / select(some, key[i], T(1.f)), T(0.f));
      loop(s.n, [&](int j) WB_INLINE_LAMBDA {
        if (j <= i) return;
        cx<T> along = {T(0.f), T(0.f)};
        loop(rows, [&](int r) WB_INLINE_LAMBDA { along = conj_fma(h[i][r], h[j][r], along); });
        along = inverse * along;
        loop(rows, [&](int r) WB_INLINE_LAMBDA { h[j][r] = fnma(along, h[i][r], h[j][r]); });
      });
    });
  }
};

/// The caller's order, or one that is sorted for each use. A thread with one use knows its order as a word.
/// Uses in the lanes of a vector have one each; then `sorted` holds and positions are found lane by lane.
template <class S, class T>
struct order_of_use : in_order {
  using I = typename rebind<T>::i32;
  static constexpr bool lanes = width_of<T> > 1;
  bool sorted;
  I stream[lanes ? S::streams::capacity : 1];  // before the turn

  WB_HD order_of_use(const search_args& a, S s, item<T> item, int start)
      : in_order(a, start), sorted(a.sort != sort_none) {
    if (!sorted) return;
    const sorted_streams<S, T> found(a, s, item);
    if constexpr (lanes) {
      loop(s.n, [&](int k) WB_INLINE_LAMBDA { stream[k] = found.stream[k]; });
    } else {
      order = 0;
      given = true;
      loop(s.n, [&](int k) WB_INLINE_LAMBDA { order = order | as_uint(found.stream[k]) << 4 * k; });
    }
  }
  /// The stream of position k in each lane.
  WB_HD I at(int n, int k) const {
    const int entry = first + k;
    return stream[entry < n ? entry : entry - n];
  }
};

/// The order of a search with kernels of its own for known sizes. On a CUDA device these take no sorted one,
/// which would cost all calls registers: calls with one go to the kernel for any sizes.
#if defined(__CUDACC__)
struct order_of_call : in_order {
  template <class S, class T>
  WB_HD order_of_call(const search_args& a, S, item<T>, int start) : in_order(a, start) {}
};
template <class S, class T>
using order_for = std::conditional_t<S::streams::known, order_of_call, order_of_use<S, T>>;
#else
template <class S, class T>
using order_for = order_of_use<S, T>;
#endif

/// f(k) of the position that has a stream; `order` sorted lane by lane.
template <class N, class Order, class F>
WB_HD auto of_stream(N n, const Order& order, int stream, F f) {
  auto x = f(0);
  using T = decltype(x);
  using I = typename rebind<T>::i32;
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    if (k > 0) x = select(order.at(n, k) == I(stream), f(k), x);
  });
  return x;
}
/// difference(k, i) by stream instead of position.
template <class N, class Order, class F>
WB_HD auto of_streams(N n, const Order& order, F difference) {
  return [=, &order](int stream, int i) WB_INLINE_LAMBDA {
    return of_stream(n, order, stream, [&](int k) WB_INLINE_LAMBDA { return difference(k, i); });
  };
}
/// f(stream) of the stream at position k; `order` sorted lane by lane.
template <class N, class Order, class F>
WB_HD auto at_position(N n, const Order& order, int k, F f) {
  auto x = f(0);
  using T = decltype(x);
  using I = typename rebind<T>::i32;
  const I stream = order.at(n, k);
  loop(n, [&](int s) WB_INLINE_LAMBDA {
    if (s > 0) x = select(stream == I(s), f(s), x);
  });
  return x;
}

}  // namespace WB_ISA
}  // namespace wb
