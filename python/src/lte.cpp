// fec/lte/: transport blocks with rate matching and HARQ.
#include <mutex>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <warpband/fec/lte/transport.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"
#include "transport.hpp"

namespace wb::python {
namespace {

/// Both keep buffers between calls: one call at a time, whatever the executors. The lock is taken without the
/// GIL.
struct encoder_ref {
  lte_transport_encoder made;
  std::mutex mutex;
};
struct decoder_ref {
  lte_transport_decoder made;
  std::mutex mutex;
};

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

std::size_t bits_of(const lte_transport_plan& p) {
  return static_cast<std::size_t>(p.config().transport_bits);
}
std::size_t coded_of(const lte_transport_plan& p) { return static_cast<std::size_t>(p.config().coded_bits); }

void lte_encode(encoder_ref& e, executor_ref& where, nb::handle bits, int rv, nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({bits_of(e.made)});
  const auto in = b.bits(1);
  const auto out = c.as<std::uint8_t>(1);
  where.run([&](executor& exec) {
    std::lock_guard lock(e.mutex);
    e.made.run(exec, in, rv, out);
  });
}

/// Looks at all arrays before anything is combined: a call that is refused leaves the soft buffers as they
/// were.
void lte_decode(decoder_ref& d, executor_ref& where, nb::handle llr, double llr_scale, int rv, bool first,
                nb::handle harq, const harq_memory& held_as, nb::handle bits, nb::handle ok,
                nb::handle block_ok, nb::handle iterations, nb::handle status) {
  const argument l("llr", llr, where), b("bits", bits, where, true), o("ok", ok, where, true),
      k("block_ok", block_ok, where, true), i("iterations", iterations, where, true),
      s("status", status, where, true), h("harq", harq, where, true);
  l.expect_item({coded_of(d.made)});
  const llr_batch in = l.llrs(1, llr_scale);
  harq_memory memory = held_as;
  if (h) {
    h.expect_item({d.made.harq_bytes(memory.format)});
    h.expect_batch(1, l.batch(1));
    memory.data = h.as<std::uint8_t>(1);
  }
  const lte_transport_output out{.bits = b.as<std::uint8_t>(1),
                                 .ok = o.as<std::uint8_t>(0),
                                 .block_ok = k.as<std::uint8_t>(1),
                                 .iterations = i.as<std::int32_t>(1),
                                 .status = s.as<std::uint8_t>(0)};
  where.run([&](executor& exec) {
    std::lock_guard lock(d.mutex);
    decode_transmission(d.made, exec, in, rv, first, memory, out);
  });
}

void lte_match(const lte_rate_matcher& r, executor_ref& where, nb::handle coded, int rv, nb::handle sent) {
  const argument c("bits", coded, where), s("sent", sent, where, true);
  c.expect_item({3 * (static_cast<std::size_t>(r.config().k) + 4)});
  const auto in = c.bits(1);
  const auto out = s.as<std::uint8_t>(1);
  where.run([&](executor& exec) { r.match(exec, in, rv, out); });
}
void lte_combine(const lte_rate_matcher& r, executor_ref& where, nb::handle llr, double llr_scale, int rv,
                 bool first, nb::handle soft) {
  const argument l("llr", llr, where), s("soft", soft, where, true);
  l.expect_item({static_cast<std::size_t>(r.config().sent_bits)});
  const llr_batch in = l.llrs(1, llr_scale);
  const auto sums = s.as<float>(1);
  where.run([&](executor& exec) { r.combine(exec, in, rv, first, sums); });
}

}  // namespace

void bind_lte(nb::module_& m) {
  add_keywords(m, "LteRateMatcher", lte_rate_matching_settings(), {}, {"k", "sent_bits"});
  nb::class_<lte_rate_matcher>(m, "LteRateMatcher")
      .def(
          "__init__",
          [](lte_rate_matcher* self, const nb::dict& settings) {
            new (self) lte_rate_matcher(with_settings(lte_rate_matching_settings(), settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def("run", &lte_match, nb::arg("executor"), nb::arg("bits"), nb::arg("rv"), nb::arg("sent"))
      .def("combine", &lte_combine, nb::arg("executor"), nb::arg("llr"), nb::arg("llr_scale"), nb::arg("rv"),
           nb::arg("first"), nb::arg("soft"))
      .def_prop_ro("settings", [](const lte_rate_matcher& r) {
        return settings_in(lte_rate_matching_settings(), r.config());
      });
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
  add_keywords(m, "LteTransportEncoder", lte_transport_config_settings(), {},
               {"transport_bits", "coded_bits"});
  add_keywords(m, "LteTransportDecoder", lte_decoder_settings(), {}, {"transport_bits", "coded_bits"});
  nb::class_<encoder_ref>(m, "LteTransportEncoder")
      .def(
          "__init__",
          [](encoder_ref* self, const nb::dict& settings) {
            new (self) encoder_ref{
                lte_transport_encoder(with_settings(lte_transport_config_settings(), settings)), {}};
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro(
          "settings",
          [](const encoder_ref& e) { return settings_in(lte_transport_config_settings(), e.made.config()); })
      .def("run", &lte_encode, nb::arg("executor"), nb::arg("bits"), nb::arg("rv"), nb::arg("coded"))
      .def_prop_ro("blocks", [](const encoder_ref& e) { return e.made.segmentation().blocks; });
  nb::class_<decoder_ref>(m, "LteTransportDecoder")
      .def(
          "__init__",
          [](decoder_ref* self, const nb::dict& settings) {
            new (self)
                decoder_ref{lte_transport_decoder(with_settings(lte_decoder_settings(), settings)), {}};
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const decoder_ref& d) { return settings_in(lte_decoder_settings(), d.made.config()); })
      .def("run", &lte_decode, nb::arg("executor"), nb::arg("llr"), nb::arg("llr_scale"), nb::arg("rv"),
           nb::arg("first"), optional("harq"), nb::arg("harq_format"), optional("bits"), optional("ok"),
           optional("block_ok"), optional("iterations"), optional("status"))
      .def(
          "harq_bytes",
          [](const decoder_ref& d, const harq_memory& held_as) { return d.made.harq_bytes(held_as.format); },
          nb::arg("harq_format"))
      .def_prop_ro("blocks", [](const decoder_ref& d) { return d.made.segmentation().blocks; });
}

}  // namespace wb::python
