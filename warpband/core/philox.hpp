#pragma once
// Counter-based random numbers: Philox 4x32 with 10 rounds (J. K. Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC'11). A number depends on key and counter alone. So a result depends on the seed and
// the index of the item, never on threads, batch size or backend.
#include <warpband/core/cx.hpp>
#include <warpband/core/math.hpp>

namespace wb {
inline namespace WB_ISA {

template <class U>
struct philox_block {
  U w[4];
};

template <class U>
WB_HD philox_block<U> philox(philox_block<U> c, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; round++) {
    const U m0 = U(0xD2511F53u), m1 = U(0xCD9E8D57u);
    const U h0 = mulhi(m0, c.w[0]), l0 = m0 * c.w[0], h1 = mulhi(m1, c.w[2]), l1 = m1 * c.w[2];
    c = {{h1 ^ c.w[1] ^ U(key0), l1, h0 ^ c.w[3] ^ U(key1), l0}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

/// Counters of consecutive 64-bit indices first, first + 1, ..., one in each lane; `stream` separates uses
/// (source, noise, fading), `point` the points of a sweep.
template <class T>
WB_HD philox_block<typename rebind<T>::u32> counter(std::uint64_t first, std::uint32_t stream,
                                                    std::uint32_t point) {
  using U = typename rebind<T>::u32;
  const std::uint32_t low = static_cast<std::uint32_t>(first), high = static_cast<std::uint32_t>(first >> 32);
  const U c0 = U(low) + iota<U>();
  const U c1 = select(c0 < U(low), U(high + 1), U(high));
  return {{c0, c1, U(stream), U(point)}};
}

/// A complex Gaussian CN(0, 1) from two words (Box-Muller). The modulus is at most sqrt(33 ln 2) = 4.78, that
/// is 6.76 standard deviations of a real part.
template <class T>
WB_HD cx<T> complex_normal(typename rebind<T>::u32 w0, typename rebind<T>::u32 w1) {
  const T u = (unsigned_to_float<T>(w0) + T(0.5f)) * T(2.32830644e-10f);  // (0, 1]
  const T r = sqrt(max(T(0.f) - log(u), T(0.f)));
  T s, c;
  sincos_turn(w1, s, c);
  return {r * c, r * s};
}

}  // namespace WB_ISA
}  // namespace wb
