#pragma once
// QR decomposition of many small matrices with full column rank: H P = Q R, R with real positive diagonal,
// and z = Q^H y of a right side y. P orders the columns of H.
//   gram_schmidt   modified Gram-Schmidt on [H | y]: Q loses orthogonality with the condition of H
//   householder    Householder reflections of [H | y]: Q is orthonormal up to rounding. From 4x4 on R
//                  and z take 0.8 to 1.3 times the operations of gram_schmidt, with Q 1.4 to 1.7 times
//                  (by linalg/qr/householder_flops.hpp)
//   cholesky       R of H^H H = R^H R, z of R^H z = H^H y, no Q: fewer operations on tall matrices; the error
//                  of R grows with the squared condition of H
#include <complex>
#include <cstdint>
#include <span>

#include <warpband/exec/executor.hpp>
#include <warpband/linalg/qr/qr_args.hpp>

namespace wb {

struct qr_config {
  int rows = 2;     // columns..16
  int columns = 2;  // 1..8 complex, 1..16 real
  qr_method method = qr_method::gram_schmidt;
};

/// E: std::complex<float> or float.
template <class E>
struct qr_input {
  view<const E> h = {};             // [batch, rows * columns], element r * columns + c
  view<const E> y = {};             // [batch, rows], or no data
  int first = 0;                    // cyclic order: column k of H P is column (first + k) mod columns of H,
  std::span<const int> order = {};  // or column order[k], each of 0..columns-1 once
};
template <class E>
struct qr_output {
  view<E> r = {};                  // [batch, columns * columns], zeros below the diagonal
  view<E> q = {};                  // [batch, rows * columns], or no data; not of cholesky
  view<E> z = {};                  // [batch, columns], or no data
  view<std::uint8_t> status = {};  // [batch, 1], or no data
};

/// An item gets status_erased and zeros if an entry of H or y is not finite, or |y|^2 is above 1e30. The same
/// holds if |H|^2 (Frobenius) is not in 1e-30..1e30, or if H is singular: a squared pivot is below 1e-12
/// |H|^2. With cholesky that is 1e-7 |H|^2, about what rounding leaves of a zero: H of a condition above 1000
/// may be erased, and one that is singular may not.
/// Threads: any number may call one object at once, each with an executor of its own.
template <class E>
class basic_qr_decomposition {
 public:
  /// Throws argument_error for what is not allowed.
  explicit basic_qr_decomposition(const qr_config& config);
  void run(executor& exec, const qr_input<E>& in, const qr_output<E>& out) const;
  const qr_config& config() const noexcept { return config_; }

 private:
  qr_config config_;
};

using qr_decomposition = basic_qr_decomposition<std::complex<float>>;
using real_qr_decomposition = basic_qr_decomposition<float>;
extern template class basic_qr_decomposition<std::complex<float>>;
extern template class basic_qr_decomposition<float>;

}  // namespace wb
