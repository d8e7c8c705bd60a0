// fec/ctc/: convolutional turbo codes of WiMAX and DVB-RCS.
#include <warpband/fec/ctc/ctc.hpp>
#include <warpband/fec/ctc/ctc_transport.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"
#include "transport.hpp"

namespace wb::python {
namespace {

struct decoder_config {
  ctc_config code;
  ctc_decoder_config decoder;
};
const std::vector<setting_of<decoder_config>>& decoder_settings() {
  static const auto settings = joined<decoder_config>(
      [](decoder_config& c) -> ctc_config& { return c.code; }, ctc_settings(),
      [](decoder_config& c) -> ctc_decoder_config& { return c.decoder; }, ctc_decoder_settings());
  return settings;
}

const std::vector<setting_of<ctc_transport_config>>& transport_settings() {
  static const auto settings = [] {
    auto list = ctc_transport_config_settings();
    for (auto& s : within<ctc_transport_config>(
             [](ctc_transport_config& c) -> ctc_decoder_config& { return c.ctc; }, ctc_decoder_settings()))
      list.push_back(std::move(s));
    return list;
  }();
  return settings;
}

void ctc_encode(const ctc_encoder& e, executor_ref& where, nb::handle bits, nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({e.k()});
  const auto in = b.bits(1);
  const auto out = c.as<std::uint8_t>(1);
  where.run([&](executor& exec) { e.run(exec, in, out); });
}
void ctc_decode(const ctc_decoder& d, executor_ref& where, nb::handle llr, double llr_scale, nb::handle bits,
                nb::handle soft, nb::handle coded_extrinsic, nb::handle iterations, nb::handle status) {
  const argument l("llr", llr, where), b("bits", bits, where, true), s("soft", soft, where, true),
      c("coded_extrinsic", coded_extrinsic, where, true), i("iterations", iterations, where, true),
      t("status", status, where, true);
  l.expect_item({d.n()});
  const llr_batch in = l.llrs(1, llr_scale);
  const ctc_decoder_output out{.bits = b.as<std::uint8_t>(1),
                               .soft = s.as<float>(1),
                               .coded_extrinsic = c.as<float>(1),
                               .iterations = i.as<std::int32_t>(0),
                               .status = t.as<std::uint8_t>(0)};
  where.run([&](executor& exec) { d.run(exec, in, out); });
}

}  // namespace

void bind_ctc(nb::module_& m) {
  add_keywords(m, "CtcEncoder", ctc_settings(), {}, {"k"});
  add_keywords(m, "CtcDecoder", decoder_settings(), {}, {"k"});
  nb::class_<ctc_encoder>(m, "CtcEncoder")
      .def(
          "__init__",
          [](ctc_encoder* self, const nb::dict& settings) {
            new (self) ctc_encoder(with_settings(ctc_settings(), settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def("run", &ctc_encode, nb::arg("executor"), nb::arg("bits"), nb::arg("coded"))
      .def_prop_ro("n", &ctc_encoder::n)
      .def_prop_ro("settings", [](const ctc_encoder& e) { return settings_in(ctc_settings(), e.code()); });
  nb::class_<ctc_decoder>(m, "CtcDecoder")
      .def(
          "__init__",
          [](ctc_decoder* self, const nb::dict& settings) {
            const decoder_config c = with_settings(decoder_settings(), settings);
            new (self) ctc_decoder(c.code, c.decoder);
          },
          nb::kw_only(), nb::arg("settings"))
      .def("run", &ctc_decode, nb::arg("executor"), nb::arg("llr"), nb::arg("llr_scale"), optional("bits"),
           optional("soft"), optional("coded_extrinsic"), optional("iterations"), optional("status"))
      .def_prop_ro("n", &ctc_decoder::n)
      .def_prop_ro("settings", [](const ctc_decoder& d) {
        return settings_in(decoder_settings(), {d.code(), d.config()});
      });
  bind_transport<ctc_transport_encoder, ctc_transport_decoder, ctc_transport_output>(
      m, "CtcTransportEncoder", ctc_transport_config_settings(), "CtcTransportDecoder", transport_settings());
}

}  // namespace wb::python
