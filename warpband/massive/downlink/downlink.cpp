#include <warpband/massive/downlink/downlink.hpp>

#include <warpband/massive/massive_arguments.hpp>
#include <warpband/massive/massive_settings.hpp>

namespace wb {

WB_DECLARE_KERNEL(downlink)

const std::vector<setting_of<downlink_config>>& downlink_settings() {
  using c = downlink_config;
  static const std::vector<setting_of<c>> settings{
      antennas_setting<c>(),
      users_setting<c>(),
      solver_setting(&c::solver),
      iterations_setting<c>(),
      residual_setting<c>(),
      number("symbol_energy", &c::symbol_energy, 1e-6, 1e6,
             "Es, the energy that is sent for one user: A = H^H H + "
             "(N0 / Es) I. Left out: 1 / users, so that A = H^H H + "
             "users N0 I is best for a vector of energy 1; 1 with "
             "normalization as-printed."),
      words("normalization", &c::normalization,
            {{"as-printed", massive_normalization::as_printed},
             {"unit-power", massive_normalization::unit_power},
             {"unscaled", massive_normalization::unscaled}},
            "Of what is sent, m = H A^-1 s: to a norm of Es, to one of "
            "1, or m itself.")};
  return settings;
}

void check(const downlink_config& config) {
  check_massive(config.antennas, config.users, config.solver, config.iterations, config.residual);
  if (config.symbol_energy && !(*config.symbol_energy >= 1e-6f && *config.symbol_energy <= 1e6f))
    throw argument_error("symbol_energy", as_message(*config.symbol_energy), "1e-6 to 1e6");
  if (config.normalization != massive_normalization::as_printed &&
      config.normalization != massive_normalization::unit_power &&
      config.normalization != massive_normalization::unscaled)
    throw argument_error("normalization", std::to_string(static_cast<int>(config.normalization)),
                         "as_printed, unit_power or unscaled");
}

float symbol_energy_of(const downlink_config& c) noexcept {
  const bool printed = c.normalization == massive_normalization::as_printed;
  return c.symbol_energy.value_or(printed ? 1.f : 1.f / static_cast<float>(c.users));
}
float sent_norm_of(const downlink_config& c) noexcept {
  return c.normalization == massive_normalization::unscaled     ? 0
         : c.normalization == massive_normalization::unit_power ? 1
                                                                : symbol_energy_of(c);
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
