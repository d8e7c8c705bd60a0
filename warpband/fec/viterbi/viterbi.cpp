#include <warpband/fec/viterbi/viterbi.hpp>

#include <algorithm>
#include <bit>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/conv/conv_runs.hpp>

namespace wb {

WB_DECLARE_KERNEL(viterbi)
WB_DECLARE_KERNEL(viterbi_i16)
WB_DECLARE_KERNEL(viterbi_i16_known)
WB_DECLARE_KERNEL(viterbi_i16_large)

const std::vector<setting_of<viterbi_config>>& viterbi_settings() {
  using c = viterbi_config;
  static const std::vector settings = [] {
    std::vector<setting_of<c>> list{conv_k_setting(&c::k, 65536), conv_overlap_setting(&c::overlap),
                                    tail_biting_setting(&c::tail_biting)};
    for (auto& s : conv_precision_settings(
             &c::precision, &c::llr_steps, &c::windows,
             "int16: 8-bit LLRs, which may come as int8, and 16-bit metrics. Decisions only.",
             "the power of two that leaves them at least 1024 steps and 12 overlaps."))
      list.push_back(std::move(s));
    return list;
  }();
  return settings;
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

viterbi_config completed(const viterbi_config& config, const conv_frame& frame) {
  viterbi_config c = config;
  const bool exact = c.tail_biting == tail_biting_search::exact, int16 = c.precision == conv_precision::int16;
  if (exact && c.code.ending != conv_ending::tail_biting)
    throw argument_error("tail_biting", "exact", "overlap: the code is not tail-biting");
  if (exact && c.overlap > 0)
    throw argument_error("overlap", std::to_string(*c.overlap), "0 with tail_biting = exact");
  if (exact && int16) throw argument_error("tail_biting", "exact", "overlap with precision int16");
  if (int16)
    choose_conv_windows(frame, 1024, 12, c.windows, c.overlap);
  else if (c.windows > 1)
    throw argument_error("windows", std::to_string(*c.windows), "1 with precision float32");
  else
    c.overlap = exact ? 0 : checked_overlap(frame, c.overlap);
  return c;
}
/// The frame of settings that are allowed.
conv_frame checked_frame(const viterbi_config& config) {
  conv_frame frame(config.code, checked_k(config.code, config.k));
  check_settings(viterbi_settings(), config);
  return frame;
}
}  // namespace

viterbi_config completed(const viterbi_config& config) { return completed(config, checked_frame(config)); }

viterbi_decoder::viterbi_decoder(const viterbi_config& config)
    : config_(config),
      frame_(checked_frame(config)),
      scale_(config.llr_steps, conv_fineness, static_cast<float>(config.k)) {
  config_ = completed(config, frame_);
  const conv_trellis host = frame_.on_host();
  add_forward(work_, host, -*config_.overlap, host.steps + *config_.overlap);
}

void viterbi_decoder::run_short(executor& exec, viterbi_short_args& a, std::size_t items,
                                const viterbi_output& out) const {
  constexpr int meet_at_least = 32, decided_at_once = 96;  // steps
  const std::size_t k = static_cast<std::size_t>(config_.k);
  check_optional_shape("bits", out.bits, items, k);
  check_optional_shape("status", out.status, items, 1);
  check_apart({{"bits", out.bits}, {"status", out.status}});
  if (out.metric.data != nullptr)
    throw argument_error("metric", "an array", "none with precision int16, which gives decisions only");
  fill_conv_short(a, frame_, exec, *config_.windows, *config_.overlap);
  a.depth = std::max(meet_at_least, frame_.usual_overlap());
  // Stages whose survivors are kept; each of five segments has up to three that are single steps.
  const int steps = viterbi_stage_steps(a.code.memory, a.code.outputs, a.code.older == a.code.newer);
  a.kept = std::min(conv_ceiling(a.depth + decided_at_once, steps) + 4,
                    conv_ceiling(a.length + a.overlap, steps) + 15);
  a.bits = out.bits;
  a.status = out.status;
  const kernel_set& any = a.code.memory > 5 ? viterbi_i16_large_kernels() : viterbi_i16_kernels();
  a.by_warp = &exec.build_of(any) == any.cuda;
  const kernel_set& kernels = a.by_warp && a.known != conv_known::none ? viterbi_i16_known_kernels() : any;
  exec.run(kernels, &a, items);
}

void viterbi_decoder::run(executor& exec, view<const std::int8_t> llr, const viterbi_output& out) const {
  if (config_.precision == conv_precision::float32)
    throw argument_error("llr", "8-bit integers", "float32 unless precision is int16");
  check_shape("llr", llr, llr.items, frame_.n());
  viterbi_short_args a;
  a.llr8 = llr;
  a.quanta = scale_.of_integers();
  run_short(exec, a, llr.items, out);
}

void viterbi_decoder::run(executor& exec, view<const float> llr, const viterbi_output& out) const {
  const std::size_t k = static_cast<std::size_t>(config_.k), items = llr.items;
  check_shape("llr", llr, items, frame_.n());
  if (config_.precision == conv_precision::int16) {
    viterbi_short_args a;
    a.llr = llr;
    a.quanta = scale_.of(exec, llr);
    return run_short(exec, a, items, out);
  }
  check_optional_shape("bits", out.bits, items, k);
  check_optional_shape("metric", out.metric, items, 1);
  check_optional_shape("status", out.status, items, 1);
  check_apart({{"bits", out.bits}, {"metric", out.metric}, {"status", out.status}});
  viterbi_args a;
  a.code = frame_.on(exec);
  a.known = frame_.known();
  a.punctured = frame_.punctured();
  const int coded = (1 << a.code.outputs) - 1;  // the input is not a coded bit here
  a.code.older &= coded;
  a.code.newer &= coded;
  a.overlap = *config_.overlap;
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
