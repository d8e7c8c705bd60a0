// fec/lte/: transport blocks with rate matching and HARQ.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <warpband/fec/lte/transport.hpp>

#include "transport.hpp"

namespace wb::python {
namespace {

using lte_settings_list = std::vector<setting_of<lte_transport_config>>;

const lte_settings_list& lte_decoder_settings() {
  static const lte_settings_list settings = [] {
    lte_settings_list list = lte_transport_config_settings();
    for (auto& s : within<lte_transport_config>(
             [](lte_transport_config& c) -> turbo_decoder_config& { return c.turbo; },
             turbo_decoder_settings()))
      list.push_back(std::move(s));
    return list;
  }();
  return settings;
}

}  // namespace

void bind_lte(nb::module_& m) {
  bind_rate_matcher<lte_rate_matcher>(
      m, "LteRateMatcher", lte_rate_matching_settings(),
      [](const lte_rate_matcher& r) { return 3 * (as_size(r.config().k) + 4); });
  // sizes and fillers of the code blocks, bits of a block's own CRC
  m.def(
      "lte_segmentation",
      [](int transport_bits) {
        const lte_segmentation s = segment_transport_block(transport_bits);
        std::vector<int> sizes;
        for (int r = 0; r < s.blocks; r++) sizes.push_back(s.k(r));
        return std::tuple(sizes, s.filler_bits, s.block_crc_bits);
      },
      nb::kw_only(), nb::arg("transport_bits"));
  bind_transport<lte_transport_encoder, lte_transport_decoder, lte_transport_output>(
      m, "LteTransportEncoder", lte_transport_config_settings(), "LteTransportDecoder",
      lte_decoder_settings());
}

}  // namespace wb::python
