#include <warpband/fec/ctc/ctc.hpp>

#include <algorithm>
#include <string>

#include <warpband/core/check.hpp>

namespace wb {

WB_DECLARE_KERNEL(ctc_decode)
WB_DECLARE_KERNEL(ctc_decode_coded)
WB_DECLARE_KERNEL(ctc_encode)

namespace {

/// ctc_decode_args::received.
std::vector<std::int32_t> received_places(const ctc_config& code) {
  std::vector<std::int32_t> received(3 * static_cast<std::size_t>(code.k), -1);
  const std::vector<std::int32_t> sent = ctc_sent_places(code);
  for (std::size_t i = 0; i < sent.size(); i++)
    received[static_cast<std::size_t>(sent[i])] = static_cast<std::int32_t>(i);
  return received;
}

}  // namespace

const std::vector<setting_of<ctc_decoder_config>>& ctc_decoder_settings() {
  using c = ctc_decoder_config;
  static const std::vector<setting_of<c>> settings{
      words<c, map_algorithm>(
          "algorithm", &c::algorithm,
          {{"log-map", map_algorithm::log_map},
           {"max-log-map", map_algorithm::max_log_map},
           {"log-map-table", map_algorithm::log_map_table}},
          "log-map is exact MAP decoding; max-log-map replaces every sum of probabilities "
          "by its largest term. log-map-table takes logarithms of sums from a table of 8 values."),
      integer("iterations", &c::iterations, 1, 64, "Full iterations; with early_stop the most."),
      integer_or_auto("windows", &c::windows, 1, 4800 / 16,
                      "Windows of a codeword that are decoded in parallel. \"auto\": windows of about 32 "
                      "couples.",
                      "an integer from 1 to k/16"),
      integer_or_auto(
          "overlap", &c::overlap, 0, 4800 / 2,
          "Couples by which each window's recursions start early, around the circle. 0: they start from "
          "metrics of the previous iteration. \"auto\": 16, or what the windows allow.",
          "an integer from 0 to k/(2 windows) - 1"),
      number(
          "extrinsic_scale", &c::extrinsic_scale, 0, 1,
          "Factor on extrinsic LLRs. 0.75 wins back most of what max-log-map loses; the others take 1 only.",
          true),
      words<c, ctc_early_stop>(
          "early_stop", &c::early_stop,
          {{"none", ctc_early_stop::none}, {"sign-agreement", ctc_early_stop::sign_agreement}},
          "Iterating stops once both constituent decoders agree on every bit (sign-agreement)."),
  };
  return settings;
}

ctc_decoder_config completed(const ctc_config& code, const ctc_decoder_config& config) {
  check(code);
  ctc_decoder_config c = config;
  check_settings(ctc_decoder_settings(), c);
  const int couples = code.k / 2, windows = c.windows.value_or(std::max(1, couples / 32));
  if (windows > couples / 8)
    throw argument_error("windows", std::to_string(windows),
                         "1 to k/16 = " + std::to_string(couples / 8) + ", or absent");
  const int longest = couples / windows - 1, overlap = c.overlap.value_or(std::min(16, longest));
  if (overlap > longest)
    throw argument_error("overlap", std::to_string(overlap),
                         "0 to k/(2 windows) - 1 = " + std::to_string(longest) + ", or absent");
  if (c.algorithm != map_algorithm::max_log_map && c.extrinsic_scale != 1.f)
    throw argument_error("extrinsic_scale", as_message(c.extrinsic_scale), "1 but with max-log-map");
  c.windows = windows, c.overlap = overlap;
  return c;
}

ctc_decoder::ctc_decoder(const ctc_config& code, const ctc_decoder_config& config)
    : code_(code), config_(completed(code, config)), received_(received_places(code)) {
  // As ctc_layout of ctc_body.hpp.
  const int couples = code.k / 2, windows = *config_.windows, longest = (couples + windows - 1) / windows;
  const auto start = [&](int w) { return w * couples / windows; };
  const auto address = [&](int i) {
    const int w = ((i + 1) * windows - 1) / couples;
    return (i - start(w)) * windows + w;
  };
  const std::vector<std::int32_t> permutation = ctc_permutation(code.standard, code.k);
  std::vector<std::int32_t> table(static_cast<std::size_t>(longest * windows));
  for (int j = 0; j < couples; j++)
    table[static_cast<std::size_t>(address(j))] = address(permutation[static_cast<std::size_t>(j)]);
  interleaved_ = resident(std::move(table));
}

float ctc_decoder::least_llr() const noexcept {
  return config_.algorithm == map_algorithm::log_map ? 0x1p-25f : 0.f;  // e^-L rounds to 1
}

void ctc_decoder::run(executor& exec, const llr_batch& llr, const ctc_decoder_output& out) const {
  const std::size_t items = llr.items;
  check_shape("llr", llr, items, n());
  check_optional_shape("bits", out.bits, items, k());
  check_optional_shape("soft", out.soft, items, k());
  check_optional_shape("coded_extrinsic", out.coded_extrinsic, items, n());
  check_optional_shape("iterations", out.iterations, items, 1);
  check_optional_shape("status", out.status, items, 1);
  check_apart({{"bits", out.bits},
               {"soft", out.soft},
               {"coded_extrinsic", out.coded_extrinsic},
               {"iterations", out.iterations},
               {"status", out.status}});
  received_.check_held();
  ctc_decode_args a;
  a.couples = code_.k / 2;
  a.windows = *config_.windows;
  a.overlap = *config_.overlap;
  a.iterations = config_.iterations;
  a.algorithm = config_.algorithm;
  a.early_stop = config_.early_stop;
  a.scale = config_.extrinsic_scale;
  a.least = least_llr();
  a.llr = floats_.of(exec, llr);
  a.bits = out.bits;
  a.soft = out.soft;
  a.coded = out.coded_extrinsic;
  a.iterations_used = out.iterations;
  a.status = out.status;
  a.received = received_.on(exec);
  a.interleaved = interleaved_.on(exec);
  exec.run(a.coded.data != nullptr ? ctc_decode_coded_kernels() : ctc_decode_kernels(), &a, items);
}

ctc_encoder::ctc_encoder(const ctc_config& code)
    : code_((check(code), code)),
      received_(received_places(code)),
      permutation_(ctc_permutation(code.standard, code.k)) {}

void ctc_encoder::run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const {
  received_.check_held();
  check_shape("bits", bits, bits.items, k());
  check_shape("coded", coded, bits.items, std::max(coded.elements, n()));
  ctc_encode_args a;
  a.couples = code_.k / 2;
  const auto columns = ctc_circulation(a.couples);
  std::copy(columns.begin(), columns.end(), a.circulation);
  a.bits = bits;
  a.coded = coded;
  a.sent = static_cast<int>(n());
  a.received = received_.on(exec);
  a.permutation = permutation_.on(exec);
  exec.run(ctc_encode_kernels(), &a, bits.items);
}

}  // namespace wb
