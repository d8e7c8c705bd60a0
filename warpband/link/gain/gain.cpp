#include <warpband/link/gain/gain.hpp>

#include <cmath>
#include <numbers>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(vector_power)
WB_DECLARE_KERNEL(effective_gain)
WB_DECLARE_KERNEL(gain_division)

std::vector<std::complex<float>> reference_vectors(int users) {
  std::vector<std::complex<float>> s;
  for (int t = 0; t < users; t++)
    for (int u = 0; u < users; u++) {
      const double phase = 2 * std::numbers::pi * (u * t % users) / users;
      s.emplace_back(static_cast<float>(std::cos(phase)), static_cast<float>(std::sin(phase)));
    }
  return s;
}

void normalize_vectors(executor& exec, view<std::complex<float>> sent, int parts, view<float> factor) {
  if (parts < 1 || sent.elements % as_size(parts) != 0)
    throw argument_error("parts", std::to_string(parts),
                         "a divisor of the " + std::to_string(sent.elements) + " elements");
  check_shape("factor", factor, sent.items, 1);
  const vector_power_args a{.parts = parts,
                            .scale = 1 / std::sqrt(static_cast<float>(parts)),
                            .sent = as_pairs(sent),
                            .factor = factor};
  exec.run(vector_power_kernels(), &a, sent.items);
}

void effective_gains(executor& exec, view<const std::complex<float>> reference,
                     view<const std::complex<float>> received, view<const float> factor,
                     view<std::complex<float>> gain, view<float> interference) {
  const std::size_t users = gain.elements, matrices = gain.items;
  check_shape("reference", reference, 1, users * users);
  check_shape("received", received, matrices, users * users);
  check_optional_shape("factor", factor, matrices, users);
  check_shape("interference", interference, matrices, users);
  reference.items = matrices, reference.item_stride = 0;
  const effective_gain_args a{.users = static_cast<int>(users),
                              .reference = as_pairs(reference),
                              .received = as_pairs(received),
                              .factor = factor,
                              .gain = as_pairs(gain),
                              .interference = interference};
  exec.run(effective_gain_kernels(), &a, matrices);
}

void divide_by_gains(executor& exec, view<const std::complex<float>> gain, view<const float> interference,
                     view<const float> factor, view<const float> noise_var,
                     view<const std::complex<float>> received, view<std::complex<float>> out,
                     view<float> out_noise_var) {
  const std::size_t users = gain.elements, matrices = gain.items, vectors = factor.elements;
  check_shape("interference", interference, matrices, users);
  check_shape("factor", factor, matrices, vectors);
  check_shape("noise_var", noise_var, matrices, 1);
  check_shape("received", received, matrices, vectors * users);
  check_shape("out", out, matrices, vectors * users);
  check_shape("out_noise_var", out_noise_var, matrices, vectors * users);
  const gain_division_args a{.users = static_cast<int>(users),
                             .vectors = static_cast<int>(vectors),
                             .gain = as_pairs(gain),
                             .interference = interference,
                             .factor = factor,
                             .noise_var = noise_var,
                             .received = as_pairs(received),
                             .out = as_pairs(out),
                             .out_noise_var = out_noise_var};
  exec.run(gain_division_kernels(), &a, matrices);
}

}  // namespace wb
