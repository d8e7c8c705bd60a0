#include <warpband/channel/awgn/awgn.hpp>

#include <cmath>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(awgn)

void add_awgn(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out,
              float noise_var, random_range range) {
  if (!(noise_var >= 0.f) || !std::isfinite(noise_var))
    throw argument_error("noise_var", std::to_string(noise_var), "a finite variance >= 0");
  check_shape("in", in, in.items, 1);
  check_shape("out", out, in.items, 1);
  const awgn_args a{as_pairs(in), as_pairs(out), std::sqrt(noise_var), range.seed, range.first, range.point};
  exec.run(awgn_kernels(), &a, in.items);
}

void add_awgn(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out,
              view<const float> noise_var, random_range range) {
  check_shape("in", in, in.items, 1);
  check_shape("out", out, in.items, 1);
  check_shape("noise_var", noise_var, in.items, 1);
  const awgn_args a{as_pairs(in), as_pairs(out), 0, range.seed, range.first, range.point, noise_var};
  exec.run(awgn_kernels(), &a, in.items);
}

}  // namespace wb
