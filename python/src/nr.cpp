// fec/nr/: LDPC codes, transport block sizes and shared channels of 5G NR.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <warpband/fec/nr/block.hpp>
#include <warpband/fec/nr/scrambling.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/fec/nr/transport.hpp>

#include "transport.hpp"

namespace wb::python {
namespace {

using nr_settings_list = std::vector<setting_of<nr_transport_config>>;

const nr_settings_list& nr_decoder_settings() {
  static const nr_settings_list settings = [] {
    nr_settings_list list = nr_transport_config_settings();
    for (auto& s : within<nr_transport_config>(
             [](nr_transport_config& c) -> ldpc_decoder_config& { return c.ldpc; }, ldpc_decoder_settings()))
      list.push_back(std::move(s));
    return list;
  }();
  return settings;
}

void bind_functions(nb::module_& m) {
  m.def("nr_ldpc", &nr_ldpc, nb::kw_only(), nb::arg("base_graph"), nb::arg("lifting_size"), nb::arg("rows"),
        nb::arg("systematic"));
  m.def("nr_lifting_sizes", [] { return nr_lifting_sizes(); });
  m.def(
      "nr_mcs",
      [](int table, int index) {
        const nr_mcs mcs = nr_mcs_of(table, index);
        return std::tuple(mcs.modulation_order, mcs.rate_x1024);
      },
      nb::kw_only(), nb::arg("table"), nb::arg("index"));
  m.def(
      "nr_resource_elements",
      [](int resource_blocks, int symbols, int dmrs_per_block, int overhead_per_block) {
        return nr_resource_elements({resource_blocks, symbols, dmrs_per_block, overhead_per_block, 1});
      },
      nb::kw_only(), nb::arg("resource_blocks"), nb::arg("symbols"), nb::arg("dmrs_per_block"),
      nb::arg("overhead_per_block"));
  m.def(
      "nr_transport_block_size",
      [](int resource_elements, int modulation_order, double rate_x1024, int layers) {
        return nr_transport_block_size(resource_elements, {modulation_order, rate_x1024}, layers);
      },
      nb::kw_only(), nb::arg("resource_elements"), nb::arg("modulation_order"), nb::arg("rate_x1024"),
      nb::arg("layers"));
  m.def("nr_base_graph", &nr_base_graph, nb::kw_only(), nb::arg("transport_bits"), nb::arg("code_rate"));
  m.def(
      "nr_segmentation",
      [](int transport_bits, int base_graph) {
        const nr_segmentation s = segment_nr_transport_block(transport_bits, base_graph);
        return std::tuple(s.blocks, s.block.k, s.block.z, s.block.standard_k() - s.block.k, s.crc_bits,
                          s.block_crc_bits);
      },
      nb::kw_only(), nb::arg("transport_bits"), nb::arg("base_graph"));
  m.def("nr_limited_buffer", &nr_limited_buffer, nb::kw_only(), nb::arg("lbrm_transport_bits"),
        nb::arg("blocks"));
  m.def(
      "nr_lbrm_transport_block_size",
      [](int resource_blocks, int layers, int modulation_order) {
        return nr_lbrm_transport_bits({resource_blocks, layers, modulation_order});
      },
      nb::kw_only(), nb::arg("resource_blocks"), nb::arg("layers"), nb::arg("modulation_order"));
  m.def("nr_scrambling_init", &nr_scrambling_init, nb::kw_only(), nb::arg("rnti"), nb::arg("identity"),
        nb::arg("codeword"));
  m.def(
      "nr_scrambling_sequence",
      [](std::int64_t c_init, std::int64_t length) {
        if (length < 0) throw argument_error("length", std::to_string(length), "0 to 2^28");
        return nr_scrambling_sequence(c_init, static_cast<std::size_t>(length));
      },
      nb::kw_only(), nb::arg("c_init"), nb::arg("length"));
}

}  // namespace

void bind_nr(nb::module_& m) {
  bind_functions(m);
  nb::class_<harq_memory>(m, "HarqFormat")
      .def(
          "__init__",
          [](harq_memory* self, const std::string& type, double scale) {
            new (self) harq_memory{
                .data = {},
                .format = named<harq_format>(
                    "harq_type", type, {{"int8", harq_format::int8}, {"float16", harq_format::float16}}),
                .scale = static_cast<float>(scale)};
            if (!(self->scale > 0 && self->scale <= transport_most_llr))
              throw argument_error("harq_scale", std::to_string(scale), "a number above 0, up to 1e30");
          },
          nb::kw_only(), nb::arg("harq_type"), nb::arg("harq_scale"));
  bind_rate_matcher<nr_rate_matcher>(m, "NrRateMatcher", nr_rate_matching_settings(),
                                     [](const nr_rate_matcher& r) { return as_size(r.block().codeword()); })
      .def("code", [](const nr_rate_matcher& r) { return r.block().code(); });
  bind_transport<nr_transport_encoder, nr_transport_decoder, nr_transport_output>(
      m, "NrTransportEncoder", nr_transport_config_settings(), "NrTransportDecoder", nr_decoder_settings());
}

}  // namespace wb::python
