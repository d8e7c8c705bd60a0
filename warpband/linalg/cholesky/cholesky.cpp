#include <warpband/linalg/cholesky/cholesky.hpp>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/linalg/cholesky/cholesky_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(cholesky)

cholesky_solver::cholesky_solver(int size) : size_(size) { check_range("size", size, 1, 8); }

void cholesky_solver::run(executor& exec, const cholesky_input& in, view<std::complex<float>> x,
                          view<std::uint8_t> status) const {
  const std::size_t items = in.a.items, n = static_cast<std::size_t>(size_);
  check_shape("a", in.a, items, n * n);
  check_shape("b", in.b, items, n);
  check_shape("x", x, items, n);
  check_optional_shape("status", status, items, 1);
  check_apart({{"x", x}, {"status", status}});
  const cholesky_args args{size_, as_pairs(in.a), as_pairs(in.b), as_pairs(x), status};
  exec.run(cholesky_kernels(), &args, items);
}

}  // namespace wb
