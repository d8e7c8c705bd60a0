// nr/prach/: generation and detection of PRACH preambles.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/nr/prach/prach.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;

std::size_t extent(int n) { return static_cast<std::size_t>(n); }

/// What both classes tell of their configuration.
template <class Work>
void bind_prach_shape(nb::class_<Work>& bound) {
  bound.def_prop_ro("length", [](const Work& w) { return w.shape().length; })
      .def_prop_ro("repetitions", [](const Work& w) { return w.shape().repetitions; })
      .def_prop_ro("samples", [](const Work& w) { return w.shape().samples(); })
      .def_prop_ro("sequence_samples", [](const Work& w) { return w.shape().sequence_samples; })
      .def_prop_ro("prefix_samples", [](const Work& w) { return w.shape().prefix_samples; })
      .def_prop_ro("n_cs", [](const Work& w) { return w.shape().n_cs; })
      .def_prop_ro("roots", [](const Work& w) { return w.shape().root; })
      .def_prop_ro("shifts", [](const Work& w) { return w.shape().shift; });
}

void prach_generate(const prach_generator& g, executor_ref& where, const std::vector<int>& preambles,
                    nb::handle samples) {
  const argument s("samples", samples, where, true);
  s.expect_item({g.samples()});
  const auto out = s.as<cf>(1);
  where.run([&](executor& exec) { g.run(exec, preambles, out); });
}

void prach_demodulate(const prach_detector& d, executor_ref& where, nb::handle samples, nb::handle values) {
  const argument s("samples", samples, where), v("values", values, where, true);
  s.expect_item({extent(d.config().antennas), d.shape().samples()});
  v.expect_batch(3, s.batch(2));
  const auto in = s.as<const cf>(2);
  const auto out = v.as<cf>(3);
  where.run([&](executor& exec) { d.demodulate(exec, in, out); });
}

void prach_detect(const prach_detector& d, executor_ref& where, nb::handle values, nb::handle detected,
                  nb::handle delay_us, nb::handle timing_advance, nb::handle snr_db, nb::handle metric,
                  nb::handle status) {
  const argument v("values", values, where), f("detected", detected, where, true),
      t("delay_us", delay_us, where, true), a("timing_advance", timing_advance, where, true),
      n("snr_db", snr_db, where, true), m("metric", metric, where, true), s("status", status, where, true);
  v.expect_item({extent(d.config().antennas), extent(d.shape().repetitions), extent(d.shape().length)});
  const auto in = v.as<const cf>(3);
  const prach_output out{.detected = f.as<std::uint8_t>(1),
                         .delay_us = t.as<float>(1),
                         .timing_advance = a.as<std::int32_t>(1),
                         .snr_db = n.as<float>(1),
                         .metric = m.as<float>(1),
                         .status = s.as<std::uint8_t>(0)};
  where.run([&](executor& exec) { d.run(exec, in, out); });
}

}  // namespace

void bind_prach(nb::module_& m) {
  add_keywords(m, "PrachGenerator", prach_generator_settings());
  add_keywords(m, "PrachDetector", prach_settings());
  nb::class_<prach_generator> generator(m, "PrachGenerator");
  bind_settings(generator, &prach_generator_settings)
      .def("values", [](const prach_generator& g, int preamble) { return g.values(preamble); })
      .def("run", &prach_generate, nb::arg("executor"), nb::arg("preambles"), nb::arg("samples"));
  bind_prach_shape(generator);
  nb::class_<prach_detector> detector(m, "PrachDetector");
  bind_settings(detector, &prach_settings)
      .def_prop_ro("threshold", [](const prach_detector& d) { return d.threshold(); })
      .def_prop_ro("coherent_repetitions", [](const prach_detector& d) { return d.coherent_repetitions(); })
      .def("demodulate", &prach_demodulate, nb::arg("executor"), nb::arg("samples"), nb::arg("values"))
      .def("run", &prach_detect, nb::arg("executor"), nb::arg("values"), optional("detected"),
           optional("delay_us"), optional("timing_advance"), optional("snr_db"), optional("metric"),
           optional("status"));
  bind_prach_shape(detector);
  m.def(
      "prach_first_subcarrier",
      [](const std::string& format, int spacing_khz, int uplink_khz, int resource_blocks, int first_block) {
        prach_config c;
        for (const setting_of<prach_config>& s : prach_settings()) {
          if (s.name == "format") s.set(c, format);
          if (s.name == "spacing_khz") s.set(c, static_cast<std::int64_t>(spacing_khz));
        }
        return prach_first_subcarrier(c, uplink_khz, resource_blocks, first_block);
      },
      nb::kw_only(), nb::arg("format"), nb::arg("spacing_khz"), nb::arg("uplink_khz"),
      nb::arg("resource_blocks"), nb::arg("first_block"));
}

}  // namespace wb::python
