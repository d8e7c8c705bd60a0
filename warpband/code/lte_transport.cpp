#include <warpband/code/lte_transport.hpp>

#include <climits>

#include <warpband/code/turbo.hpp>

namespace wb {
namespace {

const lte_transport_settings& typed(const box& b) { return b.get<lte_transport_settings>(); }

std::vector<setting_of<lte_transport_settings>> of_code() {
  using c = lte_transport_settings;
  std::vector<setting_of<c>> settings{integer(
      "transport_block_size", &c::transport_block_size, 1, INT_MAX,
      "A: information bits of a transport block, a frame, without CRCs; from 6121 on it is cut into code "
      "blocks.",
      "an integer from 1 to 1048576")};
  for (auto& s : within<c>([](c& x) -> transport_settings& { return x.sent; }, transport_settings_list()))
    settings.push_back(std::move(s));
  return settings;
}

std::unique_ptr<transport_coder> make_coder(const lte_transport_config& c) {
  const lte_segmentation s = segment_transport_block(c.transport_bits);
  std::size_t bytes = 0;  // code blocks and their codewords
  for (int r = 0; r < s.blocks; r++)
    bytes += static_cast<std::size_t>(2 * s.k(r) + 5 * 3 * (s.k(r) + 4) + 17);
  return std::make_unique<
      transport_coder_of<lte_transport_encoder, lte_transport_decoder, lte_transport_output>>(
      c, bytes, static_cast<std::size_t>(s.k(s.blocks - 1)));
}

}  // namespace

lte_transport_config transport_of(const lte_transport_settings& s) {
  const bool known = s.transport_block_size >= 1 && s.transport_block_size <= lte_most_transport_bits;
  check(s.sent, s.transport_block_size, lte_most_transport_bits,
        known ? segment_transport_block(s.transport_block_size).blocks : 1);
  lte_transport_config t;
  t.transport_bits = s.transport_block_size;
  t.coded_bits = static_cast<int>(s.sent.sent_bits());
  t.modulation_order = s.sent.modulation_order;
  t.layers = s.sent.layers;
  t.soft_buffer = s.sent.soft_buffer;
  t.turbo = s.decoder;
  return t;
}

code_kind lte_transport_kind() {
  using c = lte_transport_settings;
  code_kind kind = transport_kind<c>(
      "lte-transport",
      "transport blocks of LTE, 3GPP TS 36.212 sections 5.1.1 to 5.1.4: as of 5G NR, without "
      "--target-rate, --base-graph, --lbrm-resource-blocks and --scrambling",
      code_and_decoder(of_code(), within<c>([](c& s) -> turbo_decoder_config& { return s.decoder; },
                                            turbo_decoder_settings())));
  kind.complete = [](const box& b) {
    check(transport_of(typed(b)));
    return b;
  };
  kind.harq = [](const box& b) {
    return harq_rule{typed(b).sent.transmissions, typed(b).sent.redundancy_versions,
                     segment_transport_block(typed(b).transport_block_size).blocks};
  };
  kind.make_transport = [](const box& b) { return make_coder(transport_of(typed(b))); };
  kind.candidates = [](const box& b, bool) {
    return with_decoders(typed(b), turbo_candidates(typed(b).decoder));
  };
  return kind;
}

}  // namespace wb
