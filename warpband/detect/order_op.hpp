#pragma once
// Which stream a search has at each position: as they come, in the caller's order, or sorted for each use by
// its channel.
#include <type_traits>

#include <warpband/core/cx.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/size.hpp>
#include <warpband/detect/search_args.hpp>

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

/// The columns of H by falling or rising energy, or as a sorted QR decomposition takes them. `stream[k]` is
/// that of position k; always a permutation, also where H is not finite.
template <class S, class T>
struct sorted_streams {
  using I = typename rebind<T>::i32;
  using M = typename rebind<T>::mask;
  I stream[S::streams::capacity];

  WB_HD sorted_streams(const search_args& a, S s, item<T> item) {
    T key[S::streams::capacity];
    if (a.sort == sort_by_qr) {
      by_qr(a, s, item, key);
      return;
    }
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
  /// Modified Gram-Schmidt that goes on with the least of the columns that are left (D. Wübben, R. Böhnke, J.
  /// Rinas, V. Kühn, K. Kammeyer, "Efficient algorithm for decoding layered space-time codes", Electronics
  /// Letters 37(22), 2001).
  WB_HD void by_qr(const search_args& a, S s, item<T> item, T (&key)[S::streams::capacity]) {
    cx<T> h[S::streams::capacity][S::rows::capacity];
    loop(s.n, [&](int k) WB_INLINE_LAMBDA {
      stream[k] = I(k);
      loop(s.rx, [&](int r) WB_INLINE_LAMBDA {
        h[k][r] = load_cx(a.channel, static_cast<std::size_t>(r * s.n + k), item, a.uses_per_channel);
      });
    });
    loop(s.n, [&](int i) WB_INLINE_LAMBDA {
      loop(s.n, [&](int j) WB_INLINE_LAMBDA {
        if (j < i) return;
        key[j] = T(0.f);
        loop(s.rx, [&](int r) WB_INLINE_LAMBDA { key[j] = norm_fma(h[j][r], key[j]); });
      });
      loop(s.n, [&](int j) WB_INLINE_LAMBDA {
        if (j <= i) return;
        const M less = key[j] < key[i];
        exchange(less, key, i, j);
        loop(s.rx, [&](int r) WB_INLINE_LAMBDA {
          exchange(less, h[i][r].re, h[j][r].re);
          exchange(less, h[i][r].im, h[j][r].im);
        });
      });
      const M some = key[i] >= T(1e-37f);
      const T inverse = select(some, T(1.f) / select(some, key[i], T(1.f)), T(0.f));
      loop(s.n, [&](int j) WB_INLINE_LAMBDA {
        if (j <= i) return;
        cx<T> along = {T(0.f), T(0.f)};
        loop(s.rx, [&](int r) WB_INLINE_LAMBDA { along = conj_fma(h[i][r], h[j][r], along); });
        along = inverse * along;
        loop(s.rx, [&](int r) WB_INLINE_LAMBDA { h[j][r] = fnma(along, h[i][r], h[j][r]); });
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
