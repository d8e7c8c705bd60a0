#include <warpband/link/gain/gain.hpp>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(gain)

void vector_factors(executor& exec, view<const std::complex<float>> sent,
                    view<const std::complex<float>> received, view<float> factor) {
  check_shape("sent", sent, sent.elements, sent.items);
  check_shape("received", received, sent.elements, sent.items);
  check_shape("factor", factor, sent.elements, sent.items);
  const gain_args a{as_pairs(sent), as_pairs(received), {}, {}, factor};
  exec.run(gain_kernels(), &a, sent.items);
}

void fit_gains(executor& exec, view<const std::complex<float>> sent, view<const float> factor,
               view<const std::complex<float>> received, view<std::complex<float>> out,
               view<float> noise_var) {
  check_shape("sent", sent, sent.elements, sent.items);
  check_shape("factor", factor, sent.elements, sent.items);
  check_shape("received", received, sent.elements, sent.items);
  check_shape("out", out, sent.elements, sent.items);
  check_shape("noise_var", noise_var, sent.elements, sent.items);
  const gain_args a{as_pairs(sent), as_pairs(received), factor, as_pairs(out), noise_var};
  exec.run(gain_kernels(), &a, sent.items);
}

}  // namespace wb
