#pragma once
// Sizes of small matrices: known when a body is compiled, or up to a bound when it runs. A body is written
// once over them; its arrays have `capacity` elements.
#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

template <int N>
struct fixed {
  static constexpr int capacity = N;
  static constexpr bool known = true;
  WB_HD constexpr operator int() const { return N; }
};
template <int N>
struct upto {
  static constexpr int capacity = N;
  static constexpr bool known = false;
  int n;
  WB_HD constexpr operator int() const { return n; }
};

/// f(0), f(1), ... f(n - 1). With a known size the loop is unrolled, so that arrays indexed by it stay in
/// registers. On a CPU arrays of more than a few elements would not, so it is unrolled only up to 4: it
/// compiles faster.
template <class Size, class F>
WB_HD void loop(Size n, F f) {
#if defined(__CUDACC__)
  constexpr bool unrolled = Size::known;
#else
  constexpr bool unrolled = Size::known && Size::capacity <= 4;
#endif
  if constexpr (unrolled) {
    WB_UNROLL for (int i = 0; i < Size::capacity; i++) f(i);
  } else {
    const int count = n;
    for (int i = 0; i < count; i++) f(i);
  }
}

}  // namespace WB_ISA
}  // namespace wb
