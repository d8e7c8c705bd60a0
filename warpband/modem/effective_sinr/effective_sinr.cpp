#include <warpband/modem/effective_sinr/effective_sinr.hpp>

#include <climits>
#include <cmath>
#include <map>
#include <utility>

#include <warpband/core/check.hpp>
#include <warpband/modem/effective_sinr/effective_sinr_args.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

WB_DECLARE_KERNEL(effective_sinr)

const std::vector<setting_of<effective_sinr_config>>& effective_sinr_settings() {
  using c = effective_sinr_config;
  static const std::vector<setting_of<c>> settings{
      words("method", &c::method,
            {{"eesm", effective_method::eesm},
             {"miesm", effective_method::miesm},
             {"rbir", effective_method::rbir}},
            "Exponential mapping, or mean mutual information of single bits (miesm) or of symbols (rbir)."),
      qam_setting(&c::qam),
      number("beta", &c::beta, 1e-3, 1e5, "Divides SINRs before the mapping, linear; fitted for each MCS."),
      boolean("decibel", &c::decibel, "SINRs in and out are in dB; else linear."),
      integers("mixed", &c::mixed, 2, 4096,
               "Points of each element's constellation; none: qam for all. Not with eesm.",
               "a list of 2, 4, 16, 64, 256, 1024 or 4096")};
  return settings;
}

effective_sinr::effective_sinr(const effective_sinr_config& config)
    : config_((check_settings(effective_sinr_settings(), config), config)) {
  const int bits = bits_per_symbol(config.qam);
  if (config.method == effective_method::eesm) {
    if (!config.mixed.empty())
      throw argument_error("mixed", std::to_string(config.mixed.size()) + " constellations",
                           "none with method = eesm, whose beta depends on the constellation");
    return;
  }
  const information_kind kind =
      config.method == effective_method::miesm ? information_kind::bit : information_kind::symbol;
  std::vector<float> tables;
  std::map<int, std::int32_t> begins;
  const auto begin_of = [&](int qam) {
    const auto [found, fresh] = begins.try_emplace(qam, static_cast<std::int32_t>(tables.size()));
    if (fresh)
      for (const double x : information_table(qam, kind)) tables.push_back(static_cast<float>(x));
    return found->second;
  };
  begin_of(config.qam);
  std::vector<std::int32_t> offsets;
  std::vector<float> ratios;
  for (const int qam : config.mixed) {
    int element_bits = 0;
    try {
      element_bits = bits_per_symbol(qam);
    } catch (const argument_error&) {
      throw argument_error("mixed", std::to_string(qam), "2, 4, 16, 64, 256, 1024 or 4096");
    }
    offsets.push_back(begin_of(qam));
    ratios.push_back(static_cast<float>(element_bits) / static_cast<float>(bits));
  }
  tables_ = resident<float>(std::move(tables));
  offsets_ = resident<std::int32_t>(std::move(offsets));
  bits_ = resident<float>(std::move(ratios));
}

void effective_sinr::run(executor& exec, const effective_sinr_input& in, view<float> effective,
                         view<std::uint8_t> status) const {
  tables_.check_held();
  const std::size_t n = in.sinr.items, elements = in.sinr.elements;
  if (elements == 0 || elements > INT_MAX / 2 || (!config_.mixed.empty() && elements != config_.mixed.size()))
    throw shape_error("sinr", shape_text(n, elements),
                      config_.mixed.empty()
                          ? "1 or more elements"
                          : std::to_string(config_.mixed.size()) + " elements, as mixed has");
  check_shape("sinr", in.sinr, n, elements);
  check_optional_shape("weight", in.weight, n, elements);
  check_optional_shape("effective", effective, n, 1);
  check_optional_shape("status", status, n, 1);
  check_apart({{"effective", effective}, {"status", status}});
  const double bits = bits_per_symbol(config_.qam);
  effective_sinr_args a;
  a.exponential = config_.method == effective_method::eesm;
  a.decibel = config_.decibel;
  a.beta = static_cast<float>(config_.beta);
  a.beta_db = static_cast<float>(10 * std::log10(config_.beta));
  a.log_half_bits = static_cast<float>(std::log(bits / 2));
  if (!a.exponential) {
    a.table = tables_.on(exec);
    if (!config_.mixed.empty()) {
      a.offset = offsets_.on(exec);
      a.bits = bits_.on(exec);
    }
  }
  a.sinr = in.sinr;
  a.weight = in.weight;
  a.effective = effective;
  a.status = status;
  exec.run(effective_sinr_kernels(), &a, n);
}

}  // namespace wb
