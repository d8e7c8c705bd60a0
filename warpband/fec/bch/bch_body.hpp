#pragma once
// Arithmetic of GF(2^m) on lanes, Berlekamp-Massey and the remainder of a word.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/fec/bch/bch_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// GF(2^degree) modulo `polynomial`, whose leading term is included. I: a 32-bit integer or a lane of them.
struct binary_field {
  int degree, polynomial;

  /// x alpha.
  template <class I>
  WB_HD I next(I x) const {
    x = x << 1;
    return x ^ ((I(0) - ((x >> degree) & I(1))) & I(polynomial));
  }
  template <class I>
  WB_HD I product(I a, I b) const {
    I sum = I(0);
    for (int i = degree - 1; i >= 0; i--) sum = next(sum) ^ ((I(0) - ((b >> i) & I(1))) & a);
    return sum;
  }
  /// alpha^exponent, exponent >= 0.
  WB_HD std::int32_t power(int exponent) const {
    std::int32_t result = 1, square = 2;
    for (; exponent > 0; exponent >>= 1) {
      if (exponent & 1) result = product(result, square);
      square = product(square, square);
    }
    return result;
  }
};

/// Adds to `sum` the remainders of the set bits among the first `count`. All threads get the whole sum.
template <class T, class G>
WB_HD void sum_of_remainders(item<T> item, G g, const view<const std::uint8_t>& bits, int count,
                             const std::int32_t* remainders, typename rebind<T>::i32 (&sum)[bch_words]) {
  using I = typename rebind<T>::i32;
  WB_UNROLL for (int w = 0; w < bch_words; w++) sum[w] = I(0);
  for (int i = g.rank; i < count; i += g.size) {
    const I set = I(0) - (load_int<T>(bits, static_cast<std::size_t>(i), item) & I(1));
    const std::int32_t* remainder = remainders + static_cast<std::size_t>(i) * bch_words;
    WB_UNROLL for (int w = 0; w < bch_words; w++) sum[w] = sum[w] ^ (set & I(remainder[w]));
  }
  WB_UNROLL for (int w = 0; w < bch_words; w++) sum[w] = g.xor_all(sum[w]);
}

/// The error locator of syndromes s[1..2 t], up to a factor, and its degree. The degree is above t where
/// there are more than t errors.
template <class I, class Mask>
WB_HD I error_locator(const binary_field& field, int t, const I* s, I* locator, const Mask*) {
  I shifted[bch_most_errors + 1];  // x^m B(x) of Massey's algorithm
  for (int i = 0; i <= t; i++) locator[i] = I(i == 0 ? 1 : 0), shifted[i] = I(i == 1 ? 1 : 0);
  I scale = I(1), degree = I(0);
  for (int step = 0; step < 2 * t; step += 2) {
    I discrepancy = I(0);
    const int last = step < t ? step : t;
    for (int i = 0; i <= last; i++) discrepancy = discrepancy ^ field.product(locator[i], s[step + 1 - i]);
    const Mask grows = (discrepancy != I(0)) & (degree + degree < I(step + 1));
    I before[bch_most_errors + 1];
    for (int i = 0; i <= t; i++) {
      before[i] = locator[i];
      locator[i] = field.product(scale, locator[i]) ^ field.product(discrepancy, shifted[i]);
    }
    for (int i = t; i >= 0; i--) {
      const I two_lower = i >= 2 ? select(grows, before[i - 2], shifted[i - 2]) : I(0);
      shifted[i] = two_lower;
    }
    scale = select(grows, discrepancy, scale);
    degree = select(grows, I(step + 1) - degree, degree);
  }
  return degree;
}

}  // namespace WB_ISA
}  // namespace wb
