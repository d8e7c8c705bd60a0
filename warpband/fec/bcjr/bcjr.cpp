#include <warpband/fec/bcjr/bcjr.hpp>

#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/conv/conv_runs.hpp>

namespace wb {

WB_DECLARE_KERNEL(bcjr_max_log)
WB_DECLARE_KERNEL(bcjr_log_map)
WB_DECLARE_KERNEL(bcjr_table)
WB_DECLARE_KERNEL(bcjr_coded_max_log)
WB_DECLARE_KERNEL(bcjr_coded_log_map)
WB_DECLARE_KERNEL(bcjr_coded_recursive_log_map)
WB_DECLARE_KERNEL(bcjr_coded_table)
WB_DECLARE_KERNEL(bcjr_i16)
WB_DECLARE_KERNEL(bcjr_i16_known)
WB_DECLARE_KERNEL(bcjr_i16_large)

const std::vector<setting_of<bcjr_config>>& bcjr_settings() {
  using c = bcjr_config;
  static const std::vector settings = [] {
    std::vector<setting_of<c>> list{
        conv_k_setting(&c::k, 65536),
        words<c, map_algorithm>(
            "algorithm", &c::algorithm,
            {{"log-map", map_algorithm::log_map},
             {"max-log-map", map_algorithm::max_log_map},
             {"log-map-table", map_algorithm::log_map_table}},
            "log-map is exact but for a tail-biting code; max-log-map replaces every sum of probabilities by "
            "its largest term. log-map-table takes logarithms of sums from a table of 8 values, float32 "
            "only."),
        conv_overlap_setting(&c::overlap)};
    for (auto& s : conv_precision_settings(
             &c::precision, &c::llr_steps, &c::windows,
             "int16: 8-bit LLRs, which may come as int8, and 16-bit metrics. max-log-map of codes without "
             "feedback; bits and soft outputs only.",
             "the power of two that leaves them at least 256 steps and 5 overlaps."))
      list.push_back(std::move(s));
    return list;
  }();
  return settings;
}

namespace {
bcjr_config completed(const bcjr_config& config, const conv_frame& frame) {
  bcjr_config c = config;
  if (c.precision != conv_precision::int16) {
    if (c.windows > 1)
      throw argument_error("windows", std::to_string(*c.windows), "1 with precision float32");
    c.overlap = checked_overlap(frame, c.overlap);
    return c;
  }
  if (c.algorithm != map_algorithm::max_log_map)
    throw argument_error("algorithm",
                         c.algorithm == map_algorithm::log_map ? "\"log-map\"" : "\"log-map-table\"",
                         "\"max-log-map\" with precision int16");
  if (c.code.feedback && c.code.feedback != 1 << (c.code.constraint_length - 1))
    throw argument_error("precision", "int16", "float32: the code has feedback");
  choose_conv_windows(frame, 256, 5, c.windows, c.overlap);
  return c;
}
/// The frame of settings that are allowed.
conv_frame checked_frame(const bcjr_config& config) {
  conv_frame frame(config.code, checked_k(config.code, config.k));
  check_settings(bcjr_settings(), config);
  return frame;
}
}  // namespace

bcjr_config completed(const bcjr_config& config) { return completed(config, checked_frame(config)); }

bcjr_decoder::bcjr_decoder(const bcjr_config& config)
    : config_(config),
      frame_(checked_frame(config)),
      scale_(config.llr_steps, conv_fineness, static_cast<float>(config.k)) {
  config_ = completed(config, frame_);
  // Forward over all runs but the last, backward over all of them.
  const conv_trellis host = frame_.on_host();
  add_forward(work_, host, -*config_.overlap, (host.steps - 1) / conv_run * conv_run);
  add_backward(work_, host, host.steps + *config_.overlap);
  if (host.systematic >= 0)
    for (int t = 0; t < host.k; t++) systematic_ += host.places[t * host.outputs + host.systematic] >= 0;
}

void bcjr_decoder::run_short(executor& exec, bcjr_short_args& a, std::size_t items,
                             const bcjr_output& out) const {
  const std::size_t k = static_cast<std::size_t>(config_.k);
  check_optional_shape("bits", out.bits, items, k);
  check_optional_shape("soft", out.soft, items, k);
  check_optional_shape("status", out.status, items, 1);
  check_apart({{"bits", out.bits}, {"soft", out.soft}, {"status", out.status}});
  for (const auto& [name, given] : {std::pair{"extrinsic", out.extrinsic.data != nullptr},
                                    {"coded_extrinsic", out.coded_extrinsic.data != nullptr}})
    if (given) throw argument_error(name, "an array", "none with precision int16");
  fill_conv_short(a, frame_, exec, *config_.windows, *config_.overlap);
  a.bits = out.bits;
  a.soft = out.soft;
  a.status = out.status;
  const kernel_set& any = a.code.memory > 5 ? bcjr_i16_large_kernels() : bcjr_i16_kernels();
  a.by_warp = &exec.build_of(any) == any.cuda;
  // Punctured LLRs are loaded one by one, which the kernels of known codes hide less well.
  const bool known = a.by_warp && !a.punctured && a.known != conv_known::none;
  const kernel_set& kernels = known ? bcjr_i16_known_kernels() : any;
  exec.run(kernels, &a, items);
}

void bcjr_decoder::run(executor& exec, view<const std::int8_t> llr, const bcjr_output& out) const {
  if (config_.precision == conv_precision::float32)
    throw argument_error("llr", "8-bit integers", "float32 unless precision is int16");
  check_shape("llr", llr, llr.items, frame_.n());
  bcjr_short_args a;
  a.llr8 = llr;
  a.quanta = scale_.of_integers();
  run_short(exec, a, llr.items, out);
}

void bcjr_decoder::run(executor& exec, view<const float> llr, view<const float> prior,
                       const bcjr_output& out) const {
  const std::size_t k = static_cast<std::size_t>(config_.k), items = llr.items;
  check_shape("llr", llr, items, frame_.n());
  if (config_.precision == conv_precision::int16) {
    if (prior.data != nullptr) throw argument_error("prior", "an array", "none with precision int16");
    bcjr_short_args a;
    a.llr = llr;
    a.quanta = scale_.of(exec, llr);
    return run_short(exec, a, items, out);
  }
  check_optional_shape("prior", prior, items, k);
  check_optional_shape("bits", out.bits, items, k);
  check_optional_shape("soft", out.soft, items, k);
  check_optional_shape("extrinsic", out.extrinsic, items, k);
  check_optional_shape("coded_extrinsic", out.coded_extrinsic, items, frame_.n());
  check_optional_shape("status", out.status, items, 1);
  check_apart({{"bits", out.bits},
               {"soft", out.soft},
               {"extrinsic", out.extrinsic},
               {"coded_extrinsic", out.coded_extrinsic},
               {"status", out.status}});
  bcjr_args a;
  a.code = frame_.on(exec);
  a.overlap = *config_.overlap;
  a.punctured = frame_.punctured();
  a.known = frame_.known();
  a.work = work_;
  a.systematic = systematic_;
  a.llr = llr;
  a.prior = prior;
  a.bits = out.bits;
  a.soft = out.soft;
  a.extrinsic = out.extrinsic;
  a.coded = out.coded_extrinsic;
  a.status = out.status;
  const bool coded = a.coded.data != nullptr, recursive = a.code.feedback != 1 << a.code.memory;
  const auto kernels = [&]() -> const kernel_set& {
    switch (config_.algorithm) {
      case map_algorithm::max_log_map:
        return coded ? bcjr_coded_max_log_kernels() : bcjr_max_log_kernels();
      case map_algorithm::log_map_table:
        return coded ? bcjr_coded_table_kernels() : bcjr_table_kernels();
      default:
        if (!coded) return bcjr_log_map_kernels();
        return recursive ? bcjr_coded_recursive_log_map_kernels() : bcjr_coded_log_map_kernels();
    }
  };
  exec.run(kernels(), &a, items);
}

}  // namespace wb
