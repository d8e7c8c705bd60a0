#pragma once
#include <warpband/detect/detect_op.hpp>
#include <warpband/detect/linear/linear_args.hpp>
#include <warpband/detect/linear/linear_body.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class S, linear_algorithm Algorithm>
struct linear_op : thread_op<linear_args> {
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
  template <class T, class G, class N, class B>
  WB_HD void demap(item<T> item, G g, N n, B pam, const equalized<N, T>& e,
                   typename rebind<T>::mask good) const {
    minima<N, B, T> found;
    found.clear(n, pam);
    loop(n, [&](int k) WB_INLINE_LAMBDA { demap_symbol(pam, k, e.x[k], found); });
    store_llrs(a, n, pam, item, g, as_they_come{}, T(1.f), good,
               [&](int k, int i) WB_INLINE_LAMBDA { return found.difference(pam, k, i) * e.sinr[k]; });
  }
};

}  // namespace WB_ISA
}  // namespace wb
