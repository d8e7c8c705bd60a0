#pragma once
#include <warpband/detect/detect_op.hpp>
#include <warpband/detect/linear/linear_args.hpp>
#include <warpband/detect/linear/linear_body.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Args: linear_args, or mmse_word_args for fixed point.
template <class S, linear_algorithm Algorithm, class Args = linear_args>
struct linear_op : thread_op<Args> {
  using thread_op<Args>::a;
  double flops() const {
    const double n = a.streams, levels = 1 << a.pam_bits;
    const double gram = 3 * n + 4 * n * (n - 1) + 2 * n * (n - 1) * (n - 2) / 3;
    const double regularized = square_root_flops + n * (square_root_flops + division_flops) +
                               4 * n * (n + 1) + 16 * n * (n + 1) * (n + 2) / 6;
    const double inverted = back_substitute_flops(2, n) + inverse_gram_diagonal_flops(2, n);
    const double equalizer =
        Algorithm == linear_algorithm::mf   ? gram + n * (2 + 4 * (n - 1) + 2 * division_flops)
        : Algorithm == linear_algorithm::zf ? inverted + n * (2 + division_flops)
                                            : regularized + inverted + n * (6 + 2 * division_flops);
    return triangle_flops(a) + equalizer + n * levels * (4 + 2 * a.pam_bits) + n * (4 + 2 * a.pam_bits) +
           llr_flops(a, false);
  }
  double bytes() const { return detect_bytes(a); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const S s(a);
    if constexpr (std::is_same_v<Args, mmse_word_args>) return in_words(s, item, g, rule_of<T>(a));
    use_of_channel<S, T> use(a, s, item, as_they_come{});
    equalized<typename S::streams, T> e;
    triangle<typename S::streams, cx<T>> r;
    const auto good = use.good & gram_schmidt(s.rx, s.n, use.h, use.y, use.least_pivot(), r);
    if constexpr (Algorithm == linear_algorithm::mf)
      matched_filter(s.n, r, use.n0, e);
    else if constexpr (Algorithm == linear_algorithm::zf)
      zero_forcing(s.n, r, use.n0, e);
    else
      mmse(s.n, r, use.n0, e);
#if defined(__CUDACC__)
    switch (a.pam_bits) {
      case 1:
        return demap(item, g, s.n, fixed<1>{}, e, good);
      case 2:
        return demap(item, g, s.n, fixed<2>{}, e, good);
      case 3:
        return demap(item, g, s.n, fixed<3>{}, e, good);
      default:
        return demap(item, g, s.n, fixed<4>{}, e, good);
    }
#else
    demap(item, g, s.n, s.b, e, good);
#endif
  }

 private:
  /// By the QR decomposition of [H; sqrt(N0) I]. Its Q has sqrt(N0) R^-1 below: entries of at most 1, and the
  /// squared norm of row k is the mean square error N0 [A^-1]_kk. R^-1 itself would need longer words.
  template <class T, class G>
  WB_HD void in_words(S s, item<T> item, G g, fixed_point<T> word) const {
    using N = typename S::streams;
    use_of_channel<S, T> use(a, s, item, as_they_come{});
    const T sigma = word(sqrt(use.n0));
    to_words(s, word, use);
    const upto<S::rows::capacity + N::capacity> rows{s.rx + s.n};
    cx<T> h[N::capacity][rows.capacity], y[rows.capacity];
    loop(rows, [&](int r) WB_INLINE_LAMBDA {
      y[r] = r < s.rx ? use.y[r] : cx<T>{T(0.f), T(0.f)};
      loop(s.n, [&](int k) WB_INLINE_LAMBDA {
        h[k][r] = r < s.rx ? use.h[k][r] : cx<T>{r == s.rx + k ? sigma : T(0.f), T(0.f)};
      });
    });
    triangle<N, cx<T>> t;
    const auto good = use.good & gram_schmidt(rows, s.n, h, y, T(word.step * word.step), t, word);
    cx<T> x[N::capacity];
    T gain[N::capacity], noise[N::capacity];  // of x; of x / gain, times gain
    minima<N, typename S::pam, T> found;
    found.clear(s.n, s.b);
    back_substitute(s.n, t, x, word);
    loop(s.n, [&](int k) WB_INLINE_LAMBDA {
      T error = T(0.f);
      for (int j = k; j < s.n; j++) error = norm_fma(h[j][s.rx + k], error);
      gain[k] = word.positive(T(1.f) - error);
      noise[k] = word.positive(T(spacing_of(s.b)) * error);
      demap_symbol(s.b, 0.5f, k, word.ratio(x[k], gain[k]), found);
    });
    store_llrs(a, s.n, s.b, item, g, as_they_come{}, T(1.f), good, [&](int k, int i) WB_INLINE_LAMBDA {
      return word.ratio(word(found.difference(s.b, k, i)) * gain[k], noise[k]);
    });
  }
  template <class T, class G, class N, class B>
  WB_HD void demap(item<T> item, G g, N n, B pam, const equalized<N, T>& e,
                   typename rebind<T>::mask good) const {
    minima<N, B, T> found;
    found.clear(n, pam);
    loop(n, [&](int k) WB_INLINE_LAMBDA { demap_symbol(pam, scale_of(pam), k, e.x[k], found); });
    store_llrs(a, n, pam, item, g, as_they_come{}, T(1.f), good,
               [&](int k, int i) WB_INLINE_LAMBDA { return found.difference(pam, k, i) * e.sinr[k]; });
  }
};

}  // namespace WB_ISA
}  // namespace wb
