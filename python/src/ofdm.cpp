// ofdm/: modulator and demodulator.
#include <nanobind/stl/string.h>

#include <warpband/nr/carrier.hpp>
#include <warpband/ofdm/modem/modem.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;

std::size_t symbols_of(const ofdm_modem& m) { return static_cast<std::size_t>(m.span().symbols); }
std::size_t subcarriers_of(const ofdm_modem& m) {
  return static_cast<std::size_t>(m.numerology().subcarriers);
}

void modulate(const ofdm_modulator& m, executor_ref& where, nb::handle values, nb::handle samples) {
  const argument v("values", values, where), s("samples", samples, where, true);
  v.expect_item({symbols_of(m), subcarriers_of(m)});
  s.expect_batch(1, v.batch(2));
  const auto in = v.as<const cf>(2);
  const auto out = s.as<cf>(1);
  where.run([&](executor& exec) { m.run(exec, in, out); });
}

void demodulate(const ofdm_demodulator& m, executor_ref& where, nb::handle samples, nb::handle values) {
  const argument s("samples", samples, where), v("values", values, where, true);
  s.expect_item({m.samples()});
  v.expect_batch(2, s.batch(1));
  const auto in = s.as<const cf>(1);
  const auto out = v.as<cf>(2);
  where.run([&](executor& exec) { m.run(exec, in, out); });
}

/// What Python keeps of a numerology. The modems check it.
struct numerology_ref {
  ofdm_numerology made;
};

}  // namespace

void bind_ofdm(nb::module_& m) {
  add_keywords(m, "OfdmNumerology", numerology_settings());
  nb::class_<numerology_ref>(m, "OfdmNumerology")
      .def(
          "__init__",
          [](numerology_ref* self, const nb::dict& settings) {
            const ofdm_numerology n = with_settings(numerology_settings(), settings);
            check(n);
            new (self) numerology_ref{n};
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const numerology_ref& n) { return settings_in(numerology_settings(), n.made); })
      .def_prop_ro("sample_rate_hz", [](const numerology_ref& n) { return n.made.sample_rate_hz(); })
      .def_prop_ro("samples_per_slot", [](const numerology_ref& n) { return n.made.samples_per_slot(); });
  nb::class_<ofdm_modulator>(m, "OfdmModulator")
      .def(
          "__init__",
          [](ofdm_modulator* self, const numerology_ref& n, int first_symbol, int symbols,
             double carrier_hz) {
            new (self) ofdm_modulator(
                n.made, {.first_symbol = first_symbol, .symbols = symbols, .carrier_hz = carrier_hz});
          },
          nb::arg("numerology"), nb::arg("first_symbol"), nb::arg("symbols"), nb::arg("carrier_hz"))
      .def_prop_ro("symbols", [](const ofdm_modulator& made) { return symbols_of(made); })
      .def_prop_ro("samples", [](const ofdm_modulator& made) { return made.samples(); })
      .def("run", &modulate, nb::arg("executor"), nb::arg("values"), nb::arg("samples"));
  nb::class_<ofdm_demodulator>(m, "OfdmDemodulator")
      .def(
          "__init__",
          [](ofdm_demodulator* self, const numerology_ref& n, int first_symbol, int symbols,
             double carrier_hz) {
            new (self) ofdm_demodulator(
                n.made, {.first_symbol = first_symbol, .symbols = symbols, .carrier_hz = carrier_hz});
          },
          nb::arg("numerology"), nb::arg("first_symbol"), nb::arg("symbols"), nb::arg("carrier_hz"))
      .def_prop_ro("symbols", [](const ofdm_demodulator& made) { return symbols_of(made); })
      .def_prop_ro("samples", [](const ofdm_demodulator& made) { return made.samples(); })
      .def("run", &demodulate, nb::arg("executor"), nb::arg("samples"), nb::arg("values"));
  m.def(
      "nr_numerology",
      [](int spacing_khz, int resource_blocks, int fft_size, bool extended_prefix) {
        return settings_in(numerology_settings(), nr_numerology({.spacing_khz = spacing_khz,
                                                                 .resource_blocks = resource_blocks,
                                                                 .extended_prefix = extended_prefix},
                                                                fft_size));
      },
      nb::kw_only(), nb::arg("spacing_khz"), nb::arg("resource_blocks"), nb::arg("fft_size"),
      nb::arg("extended_prefix"));
  // the settings of LTE
  m.def(
      "lte_numerology",
      [](double bandwidth_mhz, const std::string& prefix) {
        return settings_in(
            numerology_settings(),
            lte_numerology(bandwidth_mhz, named<lte_prefix>("prefix", prefix,
                                                            {{"normal", lte_prefix::normal},
                                                             {"extended", lte_prefix::extended}})));
      },
      nb::arg("bandwidth_mhz"), nb::arg("prefix"));
}

}  // namespace wb::python
