// fec/polar/: polar codes of 5G NR and general ones.
#include <warpband/fec/polar/polar.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

struct decoder_config {
  polar_config code;
  polar_decoder_config decoder;
};
const std::vector<setting_of<decoder_config>>& decoder_settings() {
  static const auto settings = joined<decoder_config>(
      [](decoder_config& c) -> polar_config& { return c.code; }, polar_settings(),
      [](decoder_config& c) -> polar_decoder_config& { return c.decoder; }, polar_decoder_settings());
  return settings;
}

void polar_encode(const polar_encoder& e, executor_ref& where, nb::handle bits, nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({e.code().k()});
  const auto in = b.bits(1);
  const auto out = c.as<std::uint8_t>(1);
  where.run([&](executor& exec) { e.run(exec, in, out); });
}
void polar_decode(const polar_decoder& d, executor_ref& where, nb::handle llr, double llr_scale,
                  nb::handle bits, nb::handle status) {
  const argument l("llr", llr, where), b("bits", bits, where, true), s("status", status, where, true);
  l.expect_item({d.code().coded_bits()});
  const llr_batch in = l.llrs(1, llr_scale);
  const polar_decoder_output out{.bits = b.as<std::uint8_t>(1), .status = s.as<std::uint8_t>(0)};
  where.run([&](executor& exec) { d.run(exec, in, out); });
}

}  // namespace

void bind_polar(nb::module_& m) {
  add_keywords(m, "PolarEncoder", polar_settings(), {}, {"k", "coded_bits"});
  add_keywords(m, "PolarDecoder", decoder_settings(), {}, {"k", "coded_bits"});
  nb::class_<polar_encoder>(m, "PolarEncoder")
      .def(
          "__init__",
          [](polar_encoder* self, const nb::dict& settings) {
            new (self) polar_encoder(with_settings(polar_settings(), settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def("run", &polar_encode, nb::arg("executor"), nb::arg("bits"), nb::arg("coded"))
      .def_prop_ro("settings",
                   [](const polar_encoder& e) { return settings_in(polar_settings(), e.code().config()); });
  nb::class_<polar_decoder>(m, "PolarDecoder")
      .def(
          "__init__",
          [](polar_decoder* self, const nb::dict& settings) {
            const decoder_config c = with_settings(decoder_settings(), settings);
            new (self) polar_decoder(c.code, c.decoder);
          },
          nb::kw_only(), nb::arg("settings"))
      .def("run", &polar_decode, nb::arg("executor"), nb::arg("llr"), nb::arg("llr_scale"), optional("bits"),
           optional("status"))
      .def_prop_ro("settings", [](const polar_decoder& d) {
        return settings_in(decoder_settings(), {d.code().config(), d.config()});
      });
}

}  // namespace wb::python
