#include <warpband/massive/downlink/downlink.hpp>

#include <warpband/massive/massive_arguments.hpp>
#include <warpband/massive/massive_settings.hpp>

namespace wb {

WB_DECLARE_KERNEL(downlink)

const std::vector<setting_of<downlink_config>>& downlink_settings() {
  using c = downlink_config;
  static const std::vector<setting_of<c>> all{antennas_setting<c>(),
                                              users_setting<c>(),
                                              solver_setting(&c::mode),
                                              iterations_setting<c>(),
                                              number("symbol_energy", &c::symbol_energy, 1e-6, 1e6, "Es."),
                                              words("normalization", &c::normalization,
                                                    {{"as-printed", massive_normalization::as_printed},
                                                     {"unit-power", massive_normalization::unit_power}},
                                                    "Of what is sent: to a norm of Es, or of 1.")};
  return all;
}

void check(const downlink_config& config) {
  check_massive(config.antennas, config.users, config.mode, config.iterations);
  if (!(config.symbol_energy >= 1e-6f && config.symbol_energy <= 1e6f))
    throw argument_error("symbol_energy", std::to_string(config.symbol_energy), "1e-6 to 1e6");
  if (config.normalization != massive_normalization::as_printed &&
      config.normalization != massive_normalization::unit_power)
    throw argument_error("normalization", std::to_string(static_cast<int>(config.normalization)),
                         "as_printed or unit_power");
}

downlink_precoder::downlink_precoder(const downlink_config& config) : config_((check(config), config)) {}

void downlink_precoder::run(executor& exec, const downlink_input& in, view<std::complex<float>> precoded,
                            view<std::uint8_t> status) const {
  const massive_args args = downlink_arguments(config_, in, precoded, status, config_.antennas);
  exec.run(downlink_kernels(), &args, in.channel.items);
}
void downlink_precoder::run(executor& exec, const downlink_half_input& in, view<std::complex<float>> precoded,
                            view<std::uint8_t> status) const {
  const massive_args args = downlink_arguments(config_, in, precoded, status, config_.antennas);
  exec.run(downlink_kernels(), &args, in.channel.items);
}

}  // namespace wb
