#include <warpband/massive/uplink/uplink.hpp>

#include <warpband/massive/massive_arguments.hpp>
#include <warpband/massive/massive_settings.hpp>

namespace wb {

WB_DECLARE_KERNEL(uplink)

const char* name_of(massive_sums sums) noexcept {
  return sums == massive_sums::split_f16 ? "split_f16" : "float32";
}

const std::vector<setting_of<uplink_config>>& uplink_settings() {
  using c = uplink_config;
  static const std::vector<setting_of<c>> settings{
      antennas_setting<c>(),
      users_setting<c>(),
      qam_setting<c>(),
      solver_setting(&c::solver),
      iterations_setting<c>(),
      residual_setting<c>(),
      words("sinr", &c::sinr, {{"exact", massive_sinr::exact}, {"approximate", massive_sinr::approximate}},
            "Where the SINR that scales LLRs comes from. exact: from the inverse of the Gram matrix. "
            "approximate: from its diagonal, all that solvers with iterations have."),
      words("sums", &c::sums, {{"float32", massive_sums::float32}, {"split-f16", massive_sums::split_f16}},
            "Sums over antennas: split-f16 makes those of 16 and 32 users on a GPU's tensor cores "
            "(uplink.hpp says which); results then depend on the device in their last bits."),
      llr_clip_setting<c>(),
      number("llr_steps", &c::llr_steps, 0.25, 64,
             "LLRs of 8 bits are rounded to steps, this many for an LLR of 1, and limited to +-127 steps.")};
  return settings;
}

void check(const uplink_config& config) {
  check_massive(config.antennas, config.users, config.solver, config.iterations, config.residual);
  check_symbols(config.qam, config.llr_clip);
  if (config.sinr != massive_sinr::exact && config.sinr != massive_sinr::approximate)
    throw argument_error("sinr", std::to_string(static_cast<int>(config.sinr)), "exact or approximate");
  if (config.sinr == massive_sinr::exact && is_iterative(config.solver))
    throw argument_error("sinr", "exact",
                         std::string("approximate: ") + name_of(config.solver) + " does not invert A");
  if (config.sums != massive_sums::float32 && config.sums != massive_sums::split_f16)
    throw argument_error("sums", std::to_string(static_cast<int>(config.sums)), "float32 or split_f16");
  if (!(config.llr_steps >= 0.25f && config.llr_steps <= 64.f))
    throw argument_error("llr_steps", std::to_string(config.llr_steps), "0.25 to 64");
}

uplink_detector::uplink_detector(const uplink_config& config) : config_((check(config), config)) {}

std::size_t uplink_detector::bits_per_vector() const noexcept {
  return static_cast<std::size_t>(config_.users * bits_per_symbol(config_.qam));
}

massive_args uplink_arguments(const uplink_config& config, int symbols) {
  check_range("symbols", symbols, 1, 1 << 20);
  massive_args args;
  args.antennas = config.antennas, args.users = config.users, args.symbols = symbols;
  args.solver = config.solver, args.iterations = config.iterations.value_or(0);
  args.residual_squared = squared_residual(config.residual);
  args.pam_bits = bits_per_symbol(config.qam) / 2;
  args.exact_sinr = config.sinr == massive_sinr::exact;
  args.split_f16 = config.sums == massive_sums::split_f16;
  args.clip = config.llr_clip.value_or(std::numeric_limits<float>::infinity()), args.steps = config.llr_steps;
  return args;
}

double uplink_detector::flops(int symbols) const {
  massive_args args = uplink_arguments(config_, symbols);
  float wanted = 0;
  args.llr.data = &wanted;
  return any_build_of(uplink_kernels())->flops(&args);
}

void uplink_detector::run(executor& exec, const uplink_input& in, const uplink_output& out) const {
  const massive_args args = uplink_arguments(config_, in, out, config_.antennas, in.received.items);
  exec.run(uplink_kernels(), &args, in.channel.items);
}
void uplink_detector::run(executor& exec, const uplink_half_input& in, const uplink_output& out) const {
  const massive_args args = uplink_arguments(config_, in, out, config_.antennas, in.received.items);
  exec.run(uplink_kernels(), &args, in.channel.items);
}

}  // namespace wb
