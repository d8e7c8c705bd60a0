#include <warpband/code/ctc_harq.hpp>

#include <algorithm>
#include <climits>
#include <string>
#include <utility>

#include <warpband/code/ctc.hpp>

namespace wb {
namespace {

const ctc_harq_settings& typed(const box& b) { return b.get<ctc_harq_settings>(); }

std::string allowed_sizes() {
  const std::vector<int> sizes = ctc_transport_sizes();
  std::string list;
  for (std::size_t i = 0; i < sizes.size(); i++)
    list += (i == 0 ? "" : i + 1 < sizes.size() ? ", " : " or ") + std::to_string(sizes[i]);
  return list;
}

std::vector<setting_of<ctc_harq_settings>> of_code() {
  using c = ctc_harq_settings;
  std::vector<setting_of<c>> settings{
      integer("transport_block_size", &c::transport_block_size, 1, INT_MAX,
              "A: information bits of a block, a frame, without its CRC-16: k - 16 of a size k of ctc with "
              "standard \"wimax\".",
              allowed_sizes())};
  for (auto& s : within<c>([](c& x) -> transport_settings& { return x.sent; }, transport_settings_list())) {
    if (s.name == "soft_buffer") continue;  // the standard has one size
    if (s.name == "redundancy_versions")
      s.text =
          "SPIDs of the first, second, ... transmission. A shorter list begins again at its end. [0]: the "
          "same bits every time (Chase combining).";
    settings.push_back(std::move(s));
  }
  return settings;
}

}  // namespace

ctc_transport_config transport_of(const ctc_harq_settings& s) {
  const std::vector<int> sizes = ctc_transport_sizes();
  check(s.sent, s.transport_block_size, sizes.back(), 1);
  ctc_transport_config t;
  t.transport_bits = s.transport_block_size;
  t.coded_bits = static_cast<int>(s.sent.sent_bits());
  t.modulation_order = s.sent.modulation_order;
  t.layers = s.sent.layers;
  t.ctc = s.decoder;
  if (std::find(sizes.begin(), sizes.end(), t.transport_bits) == sizes.end())
    throw argument_error("transport_block_size", std::to_string(t.transport_bits),
                         "one of " + allowed_sizes());
  return t;
}

code_kind ctc_harq_kind() {
  using c = ctc_harq_settings;
  code_kind kind = transport_kind<c>(
      "ctc-harq",
      "blocks of IEEE 802.16 with HARQ, a CRC-16 and the code of ctc: --transport-block-size, --coded-bits, "
      "--transmissions, --redundancy-versions (SPIDs)",
      code_and_decoder(of_code(), within<c>([](c& s) -> ctc_decoder_config& { return s.decoder; },
                                            ctc_decoder_settings())));
  kind.complete = [](const box& b) {
    const ctc_transport_config t = transport_of(typed(b));
    check(t);
    c s = typed(b);
    s.decoder = completed(ctc_transport_plan(t).code(), s.decoder);
    return box(s);
  };
  kind.harq = [](const box& b) {
    return harq_rule{typed(b).sent.transmissions, typed(b).sent.redundancy_versions, 1};
  };
  kind.make_transport = [](const box& b) -> std::unique_ptr<transport_coder> {
    const ctc_transport_config t = transport_of(typed(b));
    const auto k = static_cast<std::size_t>(ctc_transport_plan(t).code().k);
    return std::make_unique<
        transport_coder_of<ctc_transport_encoder, ctc_transport_decoder, ctc_transport_output>>(
        t, 17 * k + 17, k);
  };
  kind.candidates = [](const box& b, bool) {
    return with_decoders(typed(b), ctc_candidates(typed(b).decoder));
  };
  return kind;
}

}  // namespace wb
