#include <warpband/massive/soft_uplink/soft_uplink.hpp>

#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/massive/massive_settings.hpp>
#include <warpband/massive/soft_uplink/soft_uplink_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(soft_uplink)

const std::vector<setting_of<soft_uplink_config>>& soft_uplink_settings() {
  using c = soft_uplink_config;
  static const std::vector<setting_of<c>> settings{
      antennas_setting<c>(), users_setting<c>(), qam_setting<c>(), llr_clip_setting<c>(),
      boolean("extrinsic", &c::extrinsic, "Take the a-priori LLRs off the output again.").not_of_links()};
  return settings;
}

void check(const soft_uplink_config& config) {
  check_massive(config.antennas, config.users, massive_solver::cholesky, {});
  check_symbols(config.qam, config.llr_clip);
}

soft_uplink_detector::soft_uplink_detector(const soft_uplink_config& config)
    : config_((check(config), config)) {}

std::size_t soft_uplink_detector::bits_per_vector() const noexcept {
  return static_cast<std::size_t>(config_.users * bits_per_symbol(config_.qam));
}

void soft_uplink_detector::run(executor& exec, const soft_uplink_input& in,
                               const soft_uplink_output& out) const {
  check_range("symbols", in.symbols, 1, 1 << 20);
  const std::size_t frames = in.channel.items, vectors = frames * static_cast<std::size_t>(in.symbols),
                    b = static_cast<std::size_t>(config_.antennas),
                    u = static_cast<std::size_t>(config_.users);
  check_shape("channel", in.channel, frames, b * u);
  check_shape("received", in.received, vectors, b);
  check_shape("noise_var", in.noise_var, frames, 1);
  check_optional_shape("prior", in.prior, vectors, bits_per_vector());
  check_optional_shape("llr", out.llr, vectors, bits_per_vector());
  check_optional_shape("bits", out.bits, vectors, bits_per_vector());
  check_optional_shape("status", out.status, vectors, 1);
  check_apart({{"llr", out.llr}, {"bits", out.bits}, {"status", out.status}});
  soft_uplink_args a;
  a.antennas = config_.antennas;
  a.users = config_.users;
  a.pam_bits = bits_per_symbol(config_.qam) / 2;
  a.symbols = in.symbols;
  a.extrinsic = config_.extrinsic;
  a.clip = config_.llr_clip.value_or(std::numeric_limits<float>::infinity());
  a.channel = as_pairs(in.channel);
  a.received = as_pairs(in.received);
  a.noise_var = in.noise_var;
  a.prior = in.prior;
  a.llr = out.llr;
  a.bits = out.bits;
  a.status = out.status;
  exec.run(soft_uplink_kernels(), &a, frames);
}

}  // namespace wb
