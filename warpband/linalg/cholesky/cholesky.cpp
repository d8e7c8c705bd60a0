#include <warpband/linalg/cholesky/cholesky.hpp>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/linalg/cholesky/cholesky_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(cholesky)

cholesky_solver::cholesky_solver(int size) : size_(size) { check_range("size", size, 1, 8); }

void cholesky_solver::run(executor& exec, const cholesky_input& in, const cholesky_output& out) const {
  const std::size_t items = in.a.items, n = static_cast<std::size_t>(size_);
  check_shape("a", in.a, items, n * n);
  check_optional_shape("b", in.b, items, n);
  check_optional_shape("r", out.r, items, n * n);
  check_optional_shape("x", out.x, items, n);
  check_optional_shape("status", out.status, items, 1);
  check_apart({{"r", out.r}, {"x", out.x}, {"status", out.status}});
  if (out.x.data != nullptr && in.b.data == nullptr)
    throw argument_error("x", "given", "none without a right side b");
  const cholesky_args args{size_,           as_pairs(in.a),  as_pairs(in.b),
                           as_pairs(out.r), as_pairs(out.x), out.status};
  exec.run(cholesky_kernels(), &args, items);
}

}  // namespace wb
