#pragma once
// Cholesky decomposition of many small Hermitian positive definite A: A = R^H R, R upper triangular with real
// positive diagonal; and the solution of A x = b: R^H z = b, R x = z.
#include <complex>
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

struct cholesky_input {
  view<const std::complex<float>> a = {};  // [batch, size * size], element r * size + c; read where c >= r,
                                           // and of the diagonal the real part
  view<const std::complex<float>> b = {};  // [batch, size], or no data
};
struct cholesky_output {
  view<std::complex<float>> r = {};  // [batch, size * size], zeros below the diagonal; or no data
  view<std::complex<float>> x = {};  // [batch, size], or no data
  view<std::uint8_t> status = {};    // [batch, 1], or no data
};

/// An item gets zeros and status_erased if an entry of A or b is not finite or A or b is out
/// of range. The range is a trace of 1e-30..1e15 and sums of squares up to 1e30. The same holds if A is not
/// positive definite: a squared pivot is below 1e-7 of the trace, about what rounding leaves of a zero.
/// Threads: any number may call one object at once, each with an executor of its own.
class cholesky_solver {
 public:
  /// 1..8; throws argument_error for another size.
  explicit cholesky_solver(int size);
  void run(executor& exec, const cholesky_input& in, const cholesky_output& out) const;
  int size() const noexcept { return size_; }

 private:
  int size_;
};

}  // namespace wb
