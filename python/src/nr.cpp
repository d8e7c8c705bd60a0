// fec/nr/: LDPC codes, transport block sizes and shared channels of 5G NR.
#include <mutex>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <warpband/core/as_size.hpp>
#include <warpband/fec/nr/block.hpp>
#include <warpband/fec/nr/scrambling.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/fec/nr/transport.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"
#include "transport.hpp"

namespace wb::python {
namespace {

/// Both keep buffers between calls: one call at a time, whatever the executors. The lock is taken without the
/// GIL.
struct nr_encoder_ref {
  nr_transport_encoder made;
  std::mutex mutex;
};
struct nr_decoder_ref {
  nr_transport_decoder made;
  std::mutex mutex;
};

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

void nr_encode(nr_encoder_ref& e, executor_ref& where, nb::handle bits, int rv, nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({as_size(e.made.config().transport_bits)});
  const auto in = b.bits(1);
  const auto out = c.as<std::uint8_t>(1);
  where.run([&](executor& exec) {
    std::lock_guard lock(e.mutex);
    e.made.run(exec, in, rv, out);
  });
}

/// Looks at all arrays before anything is combined: a call that is refused leaves the soft buffers as they
/// were.
void nr_decode(nr_decoder_ref& d, executor_ref& where, nb::handle llr, double llr_scale, int rv, bool first,
               nb::handle harq, const harq_memory& held_as, nb::handle bits, nb::handle ok,
               nb::handle block_ok, nb::handle iterations, nb::handle status) {
  const argument l("llr", llr, where), b("bits", bits, where, true), o("ok", ok, where, true),
      k("block_ok", block_ok, where, true), i("iterations", iterations, where, true),
      s("status", status, where, true), h("harq", harq, where, true);
  l.expect_item({as_size(d.made.config().coded_bits)});
  const llr_batch in = l.llrs(1, llr_scale);
  harq_memory memory = held_as;
  if (h) {
    h.expect_item({d.made.harq_bytes(memory.format)});
    h.expect_batch(1, l.batch(1));
    memory.data = h.as<std::uint8_t>(1);
  }
  const nr_transport_output out{.bits = b.as<std::uint8_t>(1),
                                .ok = o.as<std::uint8_t>(0),
                                .block_ok = k.as<std::uint8_t>(1),
                                .iterations = i.as<std::int32_t>(1),
                                .status = s.as<std::uint8_t>(0)};
  where.run([&](executor& exec) {
    std::lock_guard lock(d.mutex);
    decode_transmission(d.made, exec, in, rv, first, memory, out);
  });
}

void nr_match(const nr_rate_matcher& r, executor_ref& where, nb::handle coded, int rv, nb::handle sent) {
  const argument c("bits", coded, where), s("sent", sent, where, true);
  c.expect_item({as_size(r.block().codeword())});
  const auto in = c.bits(1);
  const auto out = s.as<std::uint8_t>(1);
  where.run([&](executor& exec) { r.match(exec, in, rv, out); });
}
void nr_combine(const nr_rate_matcher& r, executor_ref& where, nb::handle llr, double llr_scale, int rv,
                bool first, nb::handle soft) {
  const argument l("llr", llr, where), s("soft", soft, where, true);
  l.expect_item({as_size(r.config().sent_bits)});
  const llr_batch in = l.llrs(1, llr_scale);
  const auto sums = s.as<float>(1);
  where.run([&](executor& exec) { r.combine(exec, in, rv, first, sums); });
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
  add_keywords(m, "NrRateMatcher", nr_rate_matching_settings(), {}, {"k", "sent_bits"});
  nb::class_<nr_rate_matcher>(m, "NrRateMatcher")
      .def(
          "__init__",
          [](nr_rate_matcher* self, const nb::dict& settings) {
            new (self) nr_rate_matcher(with_settings(nr_rate_matching_settings(), settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def("run", &nr_match, nb::arg("executor"), nb::arg("bits"), nb::arg("rv"), nb::arg("sent"))
      .def("combine", &nr_combine, nb::arg("executor"), nb::arg("llr"), nb::arg("llr_scale"), nb::arg("rv"),
           nb::arg("first"), nb::arg("soft"))
      .def("code", [](const nr_rate_matcher& r) { return r.block().code(); })
      .def_prop_ro("settings", [](const nr_rate_matcher& r) {
        return settings_in(nr_rate_matching_settings(), r.config());
      });
  add_keywords(m, "NrTransportEncoder", nr_transport_config_settings(), {}, {"transport_bits", "coded_bits"});
  add_keywords(m, "NrTransportDecoder", nr_decoder_settings(), {}, {"transport_bits", "coded_bits"});
  nb::class_<nr_encoder_ref>(m, "NrTransportEncoder")
      .def(
          "__init__",
          [](nr_encoder_ref* self, const nb::dict& settings) {
            new (self) nr_encoder_ref{
                nr_transport_encoder(with_settings(nr_transport_config_settings(), settings)), {}};
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const nr_encoder_ref& e) {
                     return settings_in(nr_transport_config_settings(), e.made.config());
                   })
      .def("run", &nr_encode, nb::arg("executor"), nb::arg("bits"), nb::arg("rv"), nb::arg("coded"))
      .def_prop_ro("blocks", [](const nr_encoder_ref& e) { return e.made.segmentation().blocks; });
  nb::class_<nr_decoder_ref>(m, "NrTransportDecoder")
      .def(
          "__init__",
          [](nr_decoder_ref* self, const nb::dict& settings) {
            new (self)
                nr_decoder_ref{nr_transport_decoder(with_settings(nr_decoder_settings(), settings)), {}};
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro(
          "settings",
          [](const nr_decoder_ref& d) { return settings_in(nr_decoder_settings(), d.made.config()); })
      .def("run", &nr_decode, nb::arg("executor"), nb::arg("llr"), nb::arg("llr_scale"), nb::arg("rv"),
           nb::arg("first"), optional("harq"), nb::arg("harq_format"), optional("bits"), optional("ok"),
           optional("block_ok"), optional("iterations"), optional("status"))
      .def(
          "harq_bytes",
          [](const nr_decoder_ref& d, const harq_memory& held_as) {
            return d.made.harq_bytes(held_as.format);
          },
          nb::arg("harq_format"))
      .def_prop_ro("blocks", [](const nr_decoder_ref& d) { return d.made.segmentation().blocks; });
}

}  // namespace wb::python
