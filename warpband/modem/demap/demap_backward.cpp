#include <warpband/modem/demap/demap_backward.hpp>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/modem/demap/demap_backward_args.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

WB_DECLARE_KERNEL(demap_backward)

demapper_backward::demapper_backward(const demapper_config& config)
    : config_((check_settings(demapper_settings(), config), config)), bits_(bits_per_symbol(config.qam)) {}

void demapper_backward::run(executor& exec, const demap_input& in, view<const float> llr_gradient,
                            const demap_gradients& out) const {
  const std::size_t n = in.received.items;
  check_shape("received", in.received, n, 1);
  check_optional_shape("channel", in.channel, n, 1);
  check_shape("noise_var", in.noise_var, n, 1);
  check_shape("llr_gradient", llr_gradient, n, static_cast<std::size_t>(bits_));
  check_optional_shape("received_gradient", out.received, n, 1);
  check_optional_shape("channel_gradient", out.channel, n, 1);
  check_optional_shape("noise_var_gradient", out.noise_var, n, 1);
  check_optional_shape("status", out.status, n, 1);
  check_apart({{"received_gradient", out.received},
               {"channel_gradient", out.channel},
               {"noise_var_gradient", out.noise_var},
               {"status", out.status}});
  const demap_backward_args a{bits_,
                              config_.algorithm == demap_algorithm::exact,
                              as_pairs(in.received),
                              as_pairs(in.channel),
                              in.noise_var,
                              llr_gradient,
                              as_pairs(out.received),
                              as_pairs(out.channel),
                              out.noise_var,
                              out.status};
  exec.run(demap_backward_kernels(), &a, n);
}

}  // namespace wb
