#include <warpband/massive/downlink/downlink.hpp>

#include <warpband/core/pairs.hpp>
#include <warpband/massive/massive_args.hpp>
#include <warpband/massive/massive_check.hpp>
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

template <class Input>
massive_args downlink_precoder::checked(const Input& in, view<std::complex<float>> precoded,
                                        view<std::uint8_t> status) const {
  check_range("symbols", in.symbols, 1, 1 << 20);
  const std::size_t frames = in.channel.items, vectors = frames * static_cast<std::size_t>(in.symbols),
                    b = static_cast<std::size_t>(config_.antennas),
                    u = static_cast<std::size_t>(config_.users);
  check_shape("channel", in.channel, b * u, frames);
  check_shape("sent", in.sent, u, vectors);
  check_shape("noise_var", in.noise_var, 1, frames);
  check_shape("precoded", precoded, b, vectors);
  check_optional_shape("status", status, 1, vectors);
  check_apart({{"precoded", precoded}, {"status", status}});
  massive_args args;
  args.antennas = config_.antennas;
  args.users = config_.users;
  args.symbols = in.symbols;
  args.mode = config_.mode;
  args.iterations = config_.iterations;
  args.symbol_energy = config_.symbol_energy;
  args.unit_power = config_.normalization == massive_normalization::unit_power;
  args.in = as_pairs(in.sent);
  args.noise_var = in.noise_var;
  args.out = as_pairs(precoded);
  args.status = status;
  return args;
}

void downlink_precoder::run(executor& exec, const downlink_input& in, view<std::complex<float>> precoded,
                            view<std::uint8_t> status) const {
  massive_args args = checked(in, precoded, status);
  args.channel = as_pairs(in.channel);
  exec.run(downlink_kernels(), &args, in.channel.items);
}
void downlink_precoder::run(executor& exec, const downlink_half_input& in, view<std::complex<float>> precoded,
                            view<std::uint8_t> status) const {
  massive_args args = checked(in, precoded, status);
  args.half_channel = in.channel;
  exec.run(downlink_kernels(), &args, in.channel.items);
}

}  // namespace wb
