#include <warpband/fec/viterbi/viterbi.hpp>

#include <algorithm>
#include <bit>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/conv/conv_runs.hpp>

namespace wb {

WB_DECLARE_KERNEL(viterbi)

const std::vector<setting_of<viterbi_config>>& viterbi_settings() {
  static const std::vector all{conv_k_setting(&viterbi_config::k, 65536),
                               conv_overlap_setting(&viterbi_config::overlap),
                               tail_biting_setting(&viterbi_config::tail_biting)};
  return all;
}

namespace {
/// Of a codeword much longer than survivors need to meet, the decisions of a part are kept at a time.
void keep_decisions(viterbi_args& a, const conv_frame& frame) {
  const int depth = 4 * std::max(frame.usual_overlap(), 48),
            kept = static_cast<int>(std::bit_ceil(static_cast<unsigned>(4 * depth)));
  if (a.code.steps + a.overlap <= 2 * kept || a.overlap > depth) return;
  a.kept = kept;
  a.depth = depth;
}
}  // namespace

viterbi_decoder::viterbi_decoder(const viterbi_config& config)
    : config_(config), frame_(config.code, checked_k(config.code, config.k)) {
  check_settings(viterbi_settings(), config_);
  const bool exact = config_.tail_biting == tail_biting_search::exact;
  if (exact && config.code.ending != conv_ending::tail_biting)
    throw argument_error("tail_biting", "exact", "overlap: the code is not tail-biting");
  if (exact && config_.overlap > 0)
    throw argument_error("overlap", std::to_string(config_.overlap), "0 or -1 with tail_biting = exact");
  config_.overlap = exact ? 0 : checked_overlap(frame_, config_.overlap);
  const conv_trellis host = frame_.on_host();
  add_forward(work_, host, -config_.overlap, host.steps + config_.overlap);
}

void viterbi_decoder::run(executor& exec, view<const float> llr, const viterbi_output& out) const {
  const std::size_t k = static_cast<std::size_t>(config_.k), items = llr.items;
  check_shape("llr", llr, frame_.n(), items);
  check_optional_shape("bits", out.bits, k, items);
  check_optional_shape("metric", out.metric, 1, items);
  check_optional_shape("status", out.status, 1, items);
  viterbi_args a;
  a.code = frame_.on(exec);
  const int coded = (1 << a.code.outputs) - 1;  // the input is not a coded bit here
  a.code.older &= coded;
  a.code.newer &= coded;
  a.overlap = config_.overlap;
  a.exact = config_.tail_biting == tail_biting_search::exact;
  if (!a.exact) keep_decisions(a, frame_);
  a.work = work_;
  a.llr = llr;
  a.bits = out.bits;
  a.metric = out.metric;
  a.status = out.status;
  exec.run(viterbi_kernels(), &a, items);
}

}  // namespace wb
