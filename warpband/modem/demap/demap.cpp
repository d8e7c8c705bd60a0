#include <warpband/modem/demap/demap.hpp>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

WB_DECLARE_KERNEL(demap)

const std::vector<setting_of<demapper_config>>& demapper_settings() {
  using c = demapper_config;
  static const std::vector<setting_of<c>> settings{
      qam_setting(&c::qam),
      demap_algorithm_setting("algorithm", &c::algorithm, "The two are the same for BPSK and QPSK.")};
  return settings;
}

demapper::demapper(const demapper_config& config)
    : config_((check_settings(demapper_settings(), config), config)), bits_(bits_per_symbol(config.qam)) {}

void demapper::run(executor& exec, const demap_input& in, view<float> llr, view<std::uint8_t> status) const {
  const std::size_t n = in.received.items;
  check_shape("received", in.received, n, 1);
  check_optional_shape("channel", in.channel, n, 1);
  check_shape("noise_var", in.noise_var, n, 1);
  check_optional_shape("llr", llr, n, static_cast<std::size_t>(bits_));
  check_optional_shape("status", status, n, 1);
  check_apart({{"llr", llr}, {"status", status}});
  const demap_args a{bits_,
                     config_.algorithm == demap_algorithm::exact,
                     as_pairs(in.received),
                     as_pairs(in.channel),
                     in.noise_var,
                     llr,
                     status};
  exec.run(demap_kernels(), &a, n);
}

}  // namespace wb
