// stbc/: space-time block codes.
#include <complex>

#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/stbc/stbc.hpp>

#include "arrays.hpp"
#include "rooms.hpp"

namespace wb::python {
namespace {

space_time_code code_named(const std::string& name, const std::vector<std::complex<double>>& v) {
  enum class kind { alamouti, silver, golden, pair };
  const kind chosen = named<kind>("code", name,
                                  {{"alamouti", kind::alamouti},
                                   {"silver", kind::silver},
                                   {"golden", kind::golden},
                                   {"pair", kind::pair}});
  if (chosen != kind::pair && !v.empty())
    throw argument_error("v", "given", "None with code = \"" + name + "\"");
  switch (chosen) {
    case kind::alamouti:
      return space_time_code::alamouti();
    case kind::silver:
      return space_time_code::silver();
    case kind::golden:
      return space_time_code::golden();
    case kind::pair:
      break;
  }
  if (v.size() != 4)
    throw argument_error("v", std::to_string(v.size()) + " numbers", "a unitary matrix of 2 x 2");
  return space_time_code::pair({v[0], v[1], v[2], v[3]});
}

void encode(const stbc_encoder& e, executor_ref& where, nb::handle bits, nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({e.bits_per_codeword()});
  const auto in = b.bits(1);
  const auto out = c.as<std::complex<float>>(2);
  where.run([&](executor& exec) { e.run(exec, in, out); });
}
void encode_symbols(const stbc_encoder& e, executor_ref& where, nb::handle symbols, nb::handle coded) {
  const argument s("symbols", symbols, where), c("coded", coded, where, true);
  const auto in = s.as<const std::complex<float>>(1);
  const auto out = c.as<std::complex<float>>(2);
  where.run([&](executor& exec) { e.run_symbols(exec, in, out); });
}

void decode(const stbc_decoder& d, executor_ref& where, nb::handle channel, nb::handle received,
            nb::handle noise_var, nb::handle llr, nb::handle bits, nb::handle status) {
  const argument h("channel", channel, where), y("received", received, where);
  const noise_argument n0(noise_var, where);
  const argument l("llr", llr, where, true), b("bits", bits, where, true), s("status", status, where, true);
  const auto rx = static_cast<std::size_t>(d.config().rx_antennas);
  y.expect_item({2, rx});
  h.expect_item({rx, 2});
  const auto batch = y.batch(2);
  const stbc_input in{.received = y.as<const std::complex<float>>(2),
                      .channel = h.as<const std::complex<float>>(2),
                      .codewords_per_channel = std::max<std::size_t>(1, h.items_sharing(2, batch)),
                      .noise_var = n0.of(batch)};
  const stbc_output out{
      .llr = l.as<float>(1), .bits = b.as<std::uint8_t>(1), .status = s.as<std::uint8_t>(0)};
  if (in.received.items == 0) return;  // however many channels there are
  where.run([&](executor& exec) { d.run(exec, in, out); });
}

}  // namespace

void bind_stbc(nb::module_& m) {
  nb::class_<stbc_encoder>(m, "StbcEncoder")
      .def(
          "__init__",
          [](stbc_encoder* self, const std::string& code, const std::vector<std::complex<double>>& v,
             int qam) { new (self) stbc_encoder(code_named(code, v), qam); },
          nb::kw_only(), nb::arg("code"), nb::arg("v"), nb::arg("qam"))
      .def("run", &encode, nb::arg("executor"), nb::arg("bits"), nb::arg("coded"))
      .def("run_symbols", &encode_symbols, nb::arg("executor"), nb::arg("symbols"), nb::arg("coded"))
      .def_prop_ro("bits_per_codeword", &stbc_encoder::bits_per_codeword);
  nb::class_<stbc_decoder>(m, "StbcDecoder")
      .def(
          "__init__",
          [](stbc_decoder* self, const std::string& code, const std::vector<std::complex<double>>& v, int qam,
             int rx_antennas, const std::string& search, float llr_clip) {
            stbc_config c;
            c.code = code_named(code, v);
            c.qam = qam, c.rx_antennas = rx_antennas, c.llr_clip = llr_clip;
            c.search = named<golden_search>(
                "search", search, {{"exact", golden_search::exact}, {"slicing", golden_search::slicing}});
            new (self) stbc_decoder(c);
          },
          nb::kw_only(), nb::arg("code"), nb::arg("v"), nb::arg("qam"), nb::arg("rx_antennas"),
          nb::arg("search"), nb::arg("llr_clip"))
      .def("run", &decode, nb::arg("executor"), nb::arg("channel"), nb::arg("received"),
           optional("noise_var"), optional("llr"), optional("bits"), optional("status"))
      .def_prop_ro("bits_per_codeword", &stbc_decoder::bits_per_codeword);
}

}  // namespace wb::python
