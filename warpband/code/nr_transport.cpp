#include <warpband/code/nr_transport.hpp>

#include <climits>

#include <warpband/code/ldpc.hpp>
#include <warpband/code/nr.hpp>
#include <warpband/core/check.hpp>
#include <warpband/fec/nr/tbs.hpp>

namespace wb {
namespace {

const nr_transport_settings& typed(const box& b) { return b.get<nr_transport_settings>(); }

std::vector<setting_of<nr_transport_settings>> of_code() {
  using c = nr_transport_settings;
  std::vector<setting_of<c>> settings{
      integer("transport_block_size", &c::transport_block_size, 1, INT_MAX,
              "A: information bits of a transport block of DL-SCH or UL-SCH, a frame, without CRCs.",
              "an integer from 1 to 2097152, of equal code blocks")};
  for (auto& s : within<c>([](c& x) -> transport_settings& { return x.sent; }, transport_settings_list()))
    settings.push_back(std::move(s));
  settings.push_back(number("target_rate", &c::target_rate, 0, 1,
                            "Target code rate, which chooses the base graph. \"auto\": A / G.", true,
                            "\"auto\" or a number above 0, up to 1")
                         .absent_as("auto"));
  settings.push_back(
      integer_or_auto("lbrm_resource_blocks", &c::lbrm_resource_blocks, 1, 275,
                      "Limited-buffer rate matching (TS 38.212 section 5.4.2.1) on a carrier of this many "
                      "resource blocks. N_ref follows from them, from the layers of the link, and from "
                      "64-QAM or its modulation if that is larger. DL-SCH always has it, UL-SCH if the "
                      "network says so. \"auto\": soft_buffer applies instead.",
                      "an integer from 1 to 275")
          .left_out_by_default());
  settings.push_back(integer("scrambling", &c::scrambling, 0, INT_MAX, "c_init of the scrambling sequence.",
                             "\"none\" or an integer from 0 to 2147483647")
                         .absent_as("none")
                         .not_of_links());
  settings.push_back(base_graph_setting(&c::base_graph));
  return settings;
}

/// What is refused is named as the settings name it.
void check_named(const nr_transport_settings& s) {
  try {
    check(nr_transport_of(s));
  } catch (const argument_error& e) {
    if (e.argument() == "transport_bits")
      throw argument_error("transport_block_size", e.value(), e.allowed());
    if (e.argument() == "code_rate") throw argument_error("target_rate", e.value(), e.allowed());
    if (e.argument() == "coded_bits" && !s.sent.coded_bits)
      throw argument_error("resource_elements", std::to_string(*s.sent.resource_elements),
                           "as many as the coded bits need: " + e.allowed());
    throw;
  }
}

code_kind kind_of(const char* name, const char* text) {
  using c = nr_transport_settings;
  code_kind kind = transport_kind<c>(
      name, text,
      code_and_decoder(of_code(), within<c>([](c& s) -> ldpc_decoder_config& { return s.decoder; },
                                            ldpc_decoder_settings())));
  kind.complete = [](const box& b) {
    check_named(typed(b));
    return b;
  };
  kind.harq = [](const box& b) {
    return harq_rule{typed(b).sent.transmissions, typed(b).sent.redundancy_versions,
                     nr_transport_plan(nr_transport_of(typed(b))).segmentation().blocks};
  };
  kind.make_transport = [](const box& b) { return make_coder(nr_transport_of(typed(b))); };
  kind.candidates = [](const box& b, bool on_device) {
    return with_decoders(typed(b), ldpc_candidates(typed(b).decoder, on_device));
  };
  return kind;
}

}  // namespace

std::unique_ptr<transport_coder> make_coder(const nr_transport_config& c) {
  const nr_segmentation s = nr_transport_plan(c).segmentation();
  return std::make_unique<
      transport_coder_of<nr_transport_encoder, nr_transport_decoder, nr_transport_output>>(
      c, nr_transport_bytes(s), static_cast<std::size_t>(s.block.codeword()));
}

nr_transport_config nr_transport_of(const nr_transport_settings& s) {
  check(s.sent, s.transport_block_size, nr_most_transport_bits, 1);
  nr_transport_config t;
  t.transport_bits = s.transport_block_size;
  t.coded_bits = static_cast<int>(s.sent.sent_bits());
  t.modulation_order = s.sent.modulation_order;
  t.layers = s.sent.layers;
  t.soft_buffer = s.sent.soft_buffer;
  t.base_graph = s.base_graph;
  t.code_rate = s.target_rate;
  t.scrambling = s.scrambling;
  t.ldpc = s.decoder;
  if (!s.lbrm_resource_blocks) return t;
  if (t.soft_buffer)
    throw argument_error("soft_buffer", std::to_string(*t.soft_buffer), "\"auto\" with lbrm_resource_blocks");
  check_range("lbrm_resource_blocks", *s.lbrm_resource_blocks, 1, 275);
  const int kept =
      nr_lbrm_transport_bits({*s.lbrm_resource_blocks, t.layers, std::max(6, t.modulation_order)});
  t.soft_buffer = nr_limited_buffer(kept, nr_transport_plan(t).segmentation().blocks);
  return t;
}

std::size_t nr_transport_bytes(const nr_segmentation& s) {
  return static_cast<std::size_t>(s.blocks) *
         static_cast<std::size_t>(2 * s.block.padded() + 5 * s.block.codeword() + 18);
}

code_kind nr_dlsch_kind() {
  return kind_of(
      "nr-dlsch",
      "transport blocks of 5G NR, TS 38.212 section 7.2: --transport-block-size, --coded-bits of a "
      "transmission (or --resource-elements), --transmissions, --redundancy-versions, "
      "--modulation-order, --layers, --target-rate, --base-graph, --lbrm-resource-blocks or "
      "--soft-buffer, --scrambling");
}
code_kind nr_ulsch_kind() { return kind_of("nr-ulsch", "the same, TS 38.212 section 6.2"); }

}  // namespace wb
