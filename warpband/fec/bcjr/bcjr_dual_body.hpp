#pragma once
// log-MAP on Walsh-Hadamard transforms of the metrics, A(x) = sum over states s of (-1)^(x.s) alpha(s):
// decoding by the dual code (C. R. P. Hartmann, L. D. Rudolph, "An optimum symbol-by-symbol decoding rule for
// linear codes", IEEE Trans. Inf. Theory, 1976).
//
// From LLRs near 0 metrics and the sums over input 0 and 1 are nearly equal, and float32 loses their
// differences. Here A(0) is the sum of all metrics, and the other A(x) are these differences themselves: sums
// of products of tanh(L / 2). The opposite holds for large LLRs: a bit's LLR ends at 17, where 1 - D/S below
// is 2^-23.
//
// With w(e) the transform of the weights of a step's coded bits, and g(e) the sum of the generators of the
// bits in e, as register bits,
//
//   A_{t+1}(x) = sum over e of w(e) A_t(2 x + g(e))     where that is a state: the newest bit cancels
//   B_t(x)     = sum over e of w(e) B_{t+1}((x + g(e)) / 2)   where that is even: the oldest bit cancels
//   S = sum over x of A_{t+1}(x) B_{t+1}(x), D the same with the input bit's polynomial added to g(e)
//   L_t = ln((S + D) / (S - D))
#include <warpband/fec/bcjr/bcjr_body.hpp>

namespace wb {
inline namespace WB_ISA {

struct log_map_on_dual : log_map {
  template <class T>
  WB_HD static T limit_twice(T ratio) {
    return saturate(ratio, 1.f - 0x1p-23f);
  }
  /// ln((1 + x) / (1 - x)), for small x without the cancellation of a logarithm near 1.
  template <class T>
  WB_HD static T llr(T x) {
    const T q = x * x;
    T p = fma(T(2.f / 9), q, T(2.f / 7));
    p = fma(p, q, T(2.f / 5));
    p = fma(p, q, T(2.f / 3));
    return select(abs(x) < T(0.17f), fma(x * q, p, x + x), log((T(1.f) + x) / (T(1.f) - x)));
  }
};
/// The largest transform is that at 0. It sets the power of two of the next step.
template <>
struct bcjr_range<log_map_on_dual> : bcjr_range<log_map> {
  template <class T>
  WB_HD static T zero() {
    return T(0.f);
  }
};

/// The trellis of the transforms. Each thread has its own. Other semirings have none.
template <class M>
struct bcjr_dual {
  WB_HD bcjr_dual(const conv_trellis&, int) {}
};
template <>
struct bcjr_dual<log_map_on_dual> {
  static constexpr int most_bits = 5;  // 4 coded bits and the input bit
  int states, input;                   // input: its polynomial
  int sums;                            // 2^bits
  int generators[1 << most_bits];      // g(e)

  WB_HD bcjr_dual(const conv_trellis& c, int bits)
      : states(1 << c.memory), input(c.feedback), sums(1 << bits) {
    for (int e = 0; e < sums; e++) {
      generators[e] = 0;
      for (int i = 0; i <= c.memory; i++) {
        const int flipped = i == 0 ? c.older : i == c.memory ? c.newer : c.codes[1 << (i - 1)];
        generators[e] |= parity_of(e & flipped) << i;
      }
    }
  }

  /// Weights of `count` steps to their transforms, in place.
  template <class T, class G>
  WB_HD void transform(G g, T* weights, int count) const {
    for (int s = g.rank; s < count; s += g.size) {
      T* w = weights + s * sums;
      for (int n = 1; n < sums; n *= 2)
        for (int e = 0; e < sums; e++)
          if ((e & n) == 0) {
            const T a = w[e], b = w[e + n];
            w[e] = a + b;
            w[e + n] = a - b;
          }
    }
    g.sync();
  }
  /// A_{t+1}(x), with `flipped` added to g(e).
  template <class T>
  WB_HD T ahead(const T* before, const T* weights, int x, int flipped) const {
    T sum(0.f);
    for (int e = 0; e < sums; e++) {
      const int from = 2 * x ^ generators[e] ^ flipped;
      if (from < states) sum = fma(weights[e], before[from], sum);
    }
    return sum;
  }
  template <class T, class G>
  WB_HD_CALL void forward(G g, const T* before, T* after, const T* weights) const {
    const T factor = bcjr_factor(before[0]);
    for (int x = g.rank; x < states; x += g.size) after[x] = factor * ahead(before, weights, x, 0);
    g.sync();
  }
  template <class T, class G>
  WB_HD_CALL void backward(G g, const T* after, T* before, const T* weights) const {
    const T factor = bcjr_factor(after[0]);
    for (int x = g.rank; x < states; x += g.size) {
      T sum(0.f);
      for (int e = 0; e < sums; e++) {
        const int from = x ^ generators[e];
        if (from % 2 == 0) sum = fma(weights[e], after[from / 2], sum);
      }
      before[x] = factor * sum;
    }
    g.sync();
  }
  /// S and D, right in thread 0. Overwrites `alpha_next` and `after`. Halves are added, for every group size
  /// in the same order.
  template <class T, class G>
  WB_HD_CALL void sums_of(G g, const T* alpha, T* alpha_next, T* after, const T* weights, T& sum,
                          T& difference) const {
    const T factor = bcjr_factor(alpha[0]);  // as that of alpha_next
    for (int x = g.rank; x < states; x += g.size) {
      alpha_next[x] = alpha_next[x] * after[x];
      after[x] = factor * ahead(alpha, weights, x, input) * after[x];
    }
    g.sync();
    for (int n = states / 2; n > 0; n /= 2) {
      for (int x = g.rank; x < n; x += g.size) {
        alpha_next[x] = alpha_next[x] + alpha_next[x + n];
        after[x] = after[x] + after[x + n];
      }
      g.sync();
    }
    sum = alpha_next[0];
    difference = after[0];
    g.sync();
  }
};

}  // namespace WB_ISA
}  // namespace wb
