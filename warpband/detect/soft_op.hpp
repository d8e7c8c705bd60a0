#pragma once
// What the ops of the detectors with soft symbols share: their sizes, and the operations (exec/kernel.hpp) of
// soft_body.hpp, which bench/flops_soft_test.cpp holds against it.
#include <warpband/detect/detect_op.hpp>
#include <warpband/detect/soft_args.hpp>
#include <warpband/detect/soft_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Of the detectors that take more streams.
using wide_sizes = sizes_up_to<16>;
/// Calls f with the sizes that serve the arguments: those of 2x2 and 4x4, any up to 8 streams, or any.
template <class F>
auto with_soft_sizes(const soft_args& a, F f) {
  switch (a.streams == a.rx_antennas ? a.streams : 0) {
    case 2:
      return f.template operator()<square_sizes<2>>();
    case 4:
      return f.template operator()<square_sizes<4>>();
    default:
      return a.streams > 8 ? f.template operator()<wide_sizes>() : f.template operator()<any_sizes>();
  }
}

/// What they begin with: the triangular system of a use, its N0, and the costs of its a-priori LLRs. Returns
/// where the use can be worked with.
template <class S, class T>
WB_HD auto load_soft(const soft_args& a, S s, item<T> item, triangle<typename S::streams, cx<T>>& r,
                     prior_costs<S, T>& costs, T& n0) {
  use_of_channel<S, T> use(a, s, item, as_they_come{});
  n0 = use.n0;
  return use.good & gram_schmidt(s.rx, s.n, use.h, use.y, use.least_pivot(), r) &
         costs.load_from(a, s, item, as_they_come{}, T(1.f));
}
/// And what they end with.
template <class S, class T, class G>
WB_HD void store_soft(const soft_args& a, S s, item<T> item, G g, typename rebind<T>::mask good,
                      const soft_llrs<typename S::streams, typename S::pam, T>& llrs) {
  store_llrs<S::takes_prior>(a, s.n, s.b, item, g, as_they_come{}, T(1.f), good,
                             [&](int k, int i) WB_INLINE_LAMBDA { return llrs.values[k][i]; });
}

/// Of e^x and ln x (core/math.hpp).
inline constexpr double exp_flops = 14, log_flops = 17;

inline double moments_flops(double pam_bits) {
  const double levels = 1 << static_cast<int>(pam_bits);
  return levels * (1 + 1 + exp_flops + 2 + 3) + division_flops + 2;
}
inline double metrics_flops(double pam_bits) { return 3.0 * (1 << static_cast<int>(pam_bits)); }
/// Metrics and LLRs of one dimension, but for the difference of the minima, which llr_flops() has.
inline double soft_llr_flops(double pam_bits, bool exact) {
  const double levels = 1 << static_cast<int>(pam_bits);
  return metrics_flops(pam_bits) + pam_bits * levels +
         (exact ? pam_bits * (levels * (2 + exp_flops) + 2 * log_flops + 2) : 0);
}
/// parts: 1 of a real system, 2 of a complex one.
inline double estimates_flops(double parts, double n) {
  const double product = parts * parts, pairs = n * (n - 1) / 2, half = n * (n + 1) / 2;
  double off = 0;  // of each column of Q those after it, the rest of z, and all columns of R
  for (int j = 0; j < n; j++) off += (n - j + n) * (j + 1) * 4 * product;
  const double system = pairs * parts + n + (n + pairs) * product;
  const double unit = 4 * parts * half + n * (square_root_flops + division_flops);
  const double sums = parts * half + 2 * n * n * (parts + product);
  return square_root_flops + division_flops + system + unit + off + sums +
         n * (1 + division_flops + 6 + 10 * parts);
}

}  // namespace WB_ISA
}  // namespace wb
