// nr/pucch/: generation and detection of PUCCH.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/nr/pucch/pucch.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;

std::size_t pucch_extent(int n) { return static_cast<std::size_t>(n); }

/// Properties that generator and detector share.
template <class Work>
void bind_pucch_shape(nb::class_<Work>& bound) {
  bound.def_prop_ro("slots", [](const Work& w) { return w.shape().slots; })
      .def_prop_ro("symbols", [](const Work& w) { return w.shape().symbols; })
      .def_prop_ro("subcarriers", [](const Work& w) { return w.shape().subcarriers; })
      .def_prop_ro("message_bits", [](const Work& w) { return w.shape().bits; })
      .def_prop_ro("coded_bits", [](const Work& w) { return w.shape().coded_bits; })
      .def_prop_ro("first_coded_bits", [](const Work& w) { return w.shape().first_coded_bits; })
      .def_prop_ro("first_hop_symbols", [](const Work& w) { return w.shape().hop[0].symbols; });
}

void pucch_generate(const pucch_generator& g, executor_ref& where, nb::handle bits,
                    const std::vector<int>& slots, nb::handle values) {
  const argument b("bits", bits, where), v("values", values, where, true);
  b.expect_item({pucch_extent(g.shape().bits)});
  v.expect_item({pucch_extent(g.shape().symbols), pucch_extent(g.shape().subcarriers)});
  const auto in = b.bits(1);
  const auto out = v.as<cf>(2);
  where.run([&](executor& exec) { g.run(exec, in, slots, out); });
}

void pucch_detect(const pucch_detector& d, executor_ref& where, nb::handle values,
                  const std::vector<int>& slots, nb::handle bits, nb::handle detected,
                  nb::handle csi2_detected, nb::handle metric, nb::handle snr_db, nb::handle status) {
  const argument v("values", values, where), b("bits", bits, where, true),
      f("detected", detected, where, true), f2("csi2_detected", csi2_detected, where, true),
      m("metric", metric, where, true), n("snr_db", snr_db, where, true), s("status", status, where, true);
  v.expect_item({pucch_extent(d.config().antennas), pucch_extent(d.shape().symbols),
                 pucch_extent(d.shape().subcarriers)});
  const auto in = v.as<const cf>(3);
  const pucch_output out{.bits = b.as<std::uint8_t>(1),
                         .detected = f.as<std::uint8_t>(0),
                         .csi2_detected = f2.as<std::uint8_t>(0),
                         .metric = m.as<float>(0),
                         .snr_db = n.as<float>(0),
                         .status = s.as<std::uint8_t>(0)};
  where.run([&](executor& exec) { d.run(exec, in, slots, out); });
}

}  // namespace

void bind_pucch(nb::module_& m) {
  add_keywords(m, "PucchGenerator", pucch_generator_settings());
  add_keywords(m, "PucchDetector", pucch_settings());
  nb::class_<pucch_generator> generator(m, "PucchGenerator");
  bind_settings(generator, &pucch_generator_settings)
      .def("run", &pucch_generate, nb::arg("executor"), nb::arg("bits"), nb::arg("slots"), nb::arg("values"));
  bind_pucch_shape(generator);
  nb::class_<pucch_detector> detector(m, "PucchDetector");
  bind_settings(detector, &pucch_settings)
      .def_prop_ro("threshold", [](const pucch_detector& d) { return d.threshold(); })
      .def("run", &pucch_detect, nb::arg("executor"), nb::arg("values"), nb::arg("slots"), optional("bits"),
           optional("detected"), optional("csi2_detected"), optional("metric"), optional("snr_db"),
           optional("status"));
  bind_pucch_shape(detector);
  m.def(
      "nr_low_papr_sequence",
      [](int length, int u, int v) {
        std::vector<cf> r;
        for (const std::complex<double> z : nr_low_papr_sequence(length, u, v)) r.emplace_back(z);
        return r;
      },
      nb::kw_only(), nb::arg("length"), nb::arg("u"), nb::arg("v"));
}

}  // namespace wb::python
