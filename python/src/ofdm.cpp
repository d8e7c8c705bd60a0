// ofdm/: modulator and demodulator.
#include <nanobind/stl/string.h>

#include <warpband/ofdm/modem/modem.hpp>

#include "arrays.hpp"
#include "rooms.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;

std::size_t symbols_of(const ofdm_modem& m) {
  return static_cast<std::size_t>(m.numerology().symbols_per_slot);
}
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

ofdm_numerology numerology_of(double spacing_hz, int fft_size, int subcarriers, bool free_carrier,
                              int cyclic_prefix, int first_cyclic_prefix, int symbols_per_slot) {
  return {spacing_hz,          fft_size,        subcarriers, free_carrier, cyclic_prefix,
          first_cyclic_prefix, symbols_per_slot};
}

template <class M>
void init(M* self, double spacing_hz, int fft_size, int subcarriers, bool free_carrier, int cyclic_prefix,
          int first_cyclic_prefix, int symbols_per_slot) {
  new (self) M(numerology_of(spacing_hz, fft_size, subcarriers, free_carrier, cyclic_prefix,
                             first_cyclic_prefix, symbols_per_slot));
}

}  // namespace

void bind_ofdm(nb::module_& m) {
  nb::class_<ofdm_modulator>(m, "OfdmModulator")
      .def("__init__", &init<ofdm_modulator>, nb::kw_only(), nb::arg("spacing_hz"), nb::arg("fft_size"),
           nb::arg("subcarriers"), nb::arg("free_carrier"), nb::arg("cyclic_prefix"),
           nb::arg("first_cyclic_prefix"), nb::arg("symbols_per_slot"))
      .def("run", &modulate, nb::arg("executor"), nb::arg("values"), nb::arg("samples"));
  nb::class_<ofdm_demodulator>(m, "OfdmDemodulator")
      .def("__init__", &init<ofdm_demodulator>, nb::kw_only(), nb::arg("spacing_hz"), nb::arg("fft_size"),
           nb::arg("subcarriers"), nb::arg("free_carrier"), nb::arg("cyclic_prefix"),
           nb::arg("first_cyclic_prefix"), nb::arg("symbols_per_slot"))
      .def("run", &demodulate, nb::arg("executor"), nb::arg("samples"), nb::arg("values"));
  // the settings of LTE, in the order of those above
  m.def(
      "lte_numerology",
      [](double bandwidth_mhz, const std::string& prefix) {
        const ofdm_numerology n = lte_numerology(
            bandwidth_mhz,
            named<lte_prefix>("prefix", prefix,
                              {{"normal", lte_prefix::normal}, {"extended", lte_prefix::extended}}));
        return nb::make_tuple(n.spacing_hz, n.fft_size, n.subcarriers, n.free_carrier, n.cyclic_prefix,
                              n.first_cyclic_prefix, n.symbols_per_slot);
      },
      nb::arg("bandwidth_mhz"), nb::arg("prefix"));
}

}  // namespace wb::python
