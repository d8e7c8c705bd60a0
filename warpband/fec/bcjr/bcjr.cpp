#include <warpband/fec/bcjr/bcjr.hpp>

#include <warpband/core/check.hpp>
#include <warpband/fec/conv/conv_runs.hpp>

namespace wb {

WB_DECLARE_KERNEL(bcjr_max_log)
WB_DECLARE_KERNEL(bcjr_log_map)
WB_DECLARE_KERNEL(bcjr_coded_max_log)
WB_DECLARE_KERNEL(bcjr_coded_log_map)
WB_DECLARE_KERNEL(bcjr_coded_recursive_log_map)

const std::vector<setting_of<bcjr_config>>& bcjr_settings() {
  using c = bcjr_config;
  static const std::vector<setting_of<c>> all{
      conv_k_setting(&c::k, 65536),
      words<c, map_algorithm>(
          "algorithm", &c::algorithm,
          {{"log-map", map_algorithm::log_map}, {"max-log-map", map_algorithm::max_log_map}},
          "log-map is exact but for a tail-biting code; max-log-map replaces every sum of probabilities by "
          "its largest term."),
      conv_overlap_setting(&c::overlap)};
  return all;
}

bcjr_decoder::bcjr_decoder(const bcjr_config& config)
    : config_(config), frame_(config.code, checked_k(config.code, config.k)) {
  check_settings(bcjr_settings(), config_);
  config_.overlap = checked_overlap(frame_, config_.overlap);
  // Forward over all runs but the last, backward over all of them.
  const conv_trellis host = frame_.on_host();
  add_forward(work_, host, -config_.overlap, (host.steps - 1) / conv_run * conv_run);
  add_backward(work_, host, host.steps + config_.overlap);
  if (host.systematic >= 0)
    for (int t = 0; t < host.k; t++) systematic_ += host.places[t * host.outputs + host.systematic] >= 0;
}

void bcjr_decoder::run(executor& exec, view<const float> llr, view<const float> prior,
                       const bcjr_output& out) const {
  const std::size_t k = static_cast<std::size_t>(config_.k), items = llr.items;
  check_shape("llr", llr, frame_.n(), items);
  check_optional_shape("prior", prior, k, items);
  check_optional_shape("bits", out.bits, k, items);
  check_optional_shape("soft", out.soft, k, items);
  check_optional_shape("extrinsic", out.extrinsic, k, items);
  check_optional_shape("coded_extrinsic", out.coded_extrinsic, frame_.n(), items);
  check_optional_shape("status", out.status, 1, items);
  check_apart({{"bits", out.bits},
               {"soft", out.soft},
               {"extrinsic", out.extrinsic},
               {"coded_extrinsic", out.coded_extrinsic},
               {"status", out.status}});
  bcjr_args a;
  a.code = frame_.on(exec);
  a.overlap = config_.overlap;
  a.work = work_;
  a.systematic = systematic_;
  a.llr = llr;
  a.prior = prior;
  a.bits = out.bits;
  a.soft = out.soft;
  a.extrinsic = out.extrinsic;
  a.coded = out.coded_extrinsic;
  a.status = out.status;
  const bool log = config_.algorithm == map_algorithm::log_map,
             recursive = a.code.feedback != 1 << a.code.memory;
  const kernel_set& kernels = a.coded.data == nullptr
                                  ? (log ? bcjr_log_map_kernels() : bcjr_max_log_kernels())
                              : !log      ? bcjr_coded_max_log_kernels()
                              : recursive ? bcjr_coded_recursive_log_map_kernels()
                                          : bcjr_coded_log_map_kernels();
  exec.run(kernels, &a, items);
}

}  // namespace wb
