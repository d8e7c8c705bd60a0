// stbc/: space-time block codes.
#include <complex>

#include <warpband/stbc/stbc.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

using stbc_settings_list = std::vector<setting_of<stbc_config>>;

const stbc_settings_list& stbc_encoder_settings() {
  static const stbc_settings_list list =
      without({"search", "method", "rx_antennas", "llr_clip", "extrinsic"}, stbc_settings());
  return list;
}

/// A matrix that would be ignored, or is missing, is refused.
stbc_config config_of(const stbc_settings_list& list, const nb::dict& settings) {
  const std::string type = name_of(with_settings(without({"v"}, list), settings).code);
  const bool given = settings.contains("v") && !is_nothing(settings["v"]);
  if (given && type != "pair") throw argument_error("v", "given", "None with type = \"" + type + "\"");
  if (!given && type == "pair") throw argument_error("v", "None", "a unitary matrix of 2 x 2");
  return with_settings(list, settings);
}

struct stbc_encoder_ref {
  explicit stbc_encoder_ref(const stbc_config& c) : config(c), made(c.code, c.qam) {}
  stbc_config config;
  stbc_encoder made;
};

void stbc_encode(const stbc_encoder_ref& e, executor_ref& where, nb::handle bits, nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({e.made.bits_per_codeword()});
  const auto in = b.bits(1);
  const auto out = c.as<std::complex<float>>(2);
  where.run([&](executor& exec) { e.made.run(exec, in, out); });
}
void encode_symbols(const stbc_encoder_ref& e, executor_ref& where, nb::handle symbols, nb::handle coded) {
  const argument s("symbols", symbols, where), c("coded", coded, where, true);
  const auto in = s.as<const std::complex<float>>(1);
  const auto out = c.as<std::complex<float>>(2);
  where.run([&](executor& exec) { e.made.run_symbols(exec, in, out); });
}

void stbc_decode(const stbc_decoder& d, executor_ref& where, nb::handle channel, nb::handle received,
                 nb::handle noise_var, nb::handle prior, nb::handle llr, nb::handle bits, nb::handle status) {
  const argument h("channel", channel, where), y("received", received, where), p("prior", prior, where);
  const noise_argument n0(noise_var, where);
  const argument l("llr", llr, where, true), b("bits", bits, where, true), s("status", status, where, true);
  const auto rx = static_cast<std::size_t>(d.config().rx_antennas);
  const space_time_code& code = d.config().code;
  const auto uses = static_cast<std::size_t>(code.uses()), tx = static_cast<std::size_t>(code.tx_antennas());
  const int of_channel = code.over_subcarriers() ? 3 : 2;
  y.expect_item({uses, rx});
  if (code.over_subcarriers())
    h.expect_item({uses, rx, tx});
  else
    h.expect_item({rx, tx});
  const auto batch = y.batch(2);
  p.expect_batch(1, batch);
  const stbc_input in{.channel = h.as<const std::complex<float>>(of_channel),
                      .codewords_per_channel = std::max<std::size_t>(1, h.items_sharing(of_channel, batch)),
                      .received = y.as<const std::complex<float>>(2),
                      .noise_var = n0.of(batch),
                      .prior = p.as<const float>(1)};
  const stbc_output out{
      .llr = l.as<float>(1), .bits = b.as<std::uint8_t>(1), .status = s.as<std::uint8_t>(0)};
  if (in.received.items == 0) return;  // however many channels there are
  where.run([&](executor& exec) { d.run(exec, in, out); });
}

}  // namespace

void bind_stbc(nb::module_& m) {
  add_keywords(m, "StbcEncoder", stbc_encoder_settings(), {}, {"type", "qam"});
  add_keywords(m, "StbcDecoder", stbc_settings(), {}, {"type", "qam", "rx_antennas"});
  nb::class_<stbc_encoder_ref>(m, "StbcEncoder")
      .def(
          "__init__",
          [](stbc_encoder_ref* self, const nb::dict& settings) {
            new (self) stbc_encoder_ref(config_of(stbc_encoder_settings(), settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const stbc_encoder_ref& e) { return settings_in(stbc_encoder_settings(), e.config); })
      .def_prop_ro("symbols", [](const stbc_encoder_ref& e) { return e.config.code.symbols(); })
      .def_prop_ro("uses", [](const stbc_encoder_ref& e) { return e.config.code.uses(); })
      .def_prop_ro("streams", [](const stbc_encoder_ref& e) { return e.config.code.tx_antennas(); })
      .def("run", &stbc_encode, nb::arg("executor"), nb::arg("bits"), nb::arg("coded"))
      .def("run_symbols", &encode_symbols, nb::arg("executor"), nb::arg("symbols"), nb::arg("coded"))
      .def_prop_ro("bits_per_codeword", [](const stbc_encoder_ref& e) { return e.made.bits_per_codeword(); });
  nb::class_<stbc_decoder>(m, "StbcDecoder")
      .def(
          "__init__",
          [](stbc_decoder* self, const nb::dict& settings) {
            new (self) stbc_decoder(config_of(stbc_settings(), settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings", [](const stbc_decoder& d) { return settings_in(stbc_settings(), d.config()); })
      .def("run", &stbc_decode, nb::arg("executor"), nb::arg("channel"), nb::arg("received"),
           optional("noise_var"), optional("prior"), optional("llr"), optional("bits"), optional("status"))
      .def_prop_ro("uses", [](const stbc_decoder& d) { return d.config().code.uses(); })
      .def_prop_ro("streams", [](const stbc_decoder& d) { return d.config().code.tx_antennas(); })
      .def_prop_ro("channels", [](const stbc_decoder& d) { return d.config().code.channels(); })
      .def_prop_ro("bits_per_codeword", &stbc_decoder::bits_per_codeword);
}

}  // namespace wb::python
