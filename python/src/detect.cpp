// detect/: soft MIMO detectors.
#include <memory>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/detect/detector.hpp>

#include "arrays.hpp"
#include "detect.hpp"
#include "rooms.hpp"

namespace wb::python {

detector_ref::detector_ref(const std::string& type, int streams, int rx_antennas, int qam,
                           std::optional<float> llr_clip, int ways, int survivors, bool real_valued,
                           bool extrinsic, std::vector<int> order) {
  const auto t = detector_named(type);
  if (!t) throw argument_error("type", "\"" + type + "\"", "the name of a detector");
  config = completed(
      {*t, streams, rx_antennas, qam, llr_clip, ways, survivors, real_valued, extrinsic, std::move(order)});
  made = make_detector(config);
}

namespace {

void run(const detector_ref& d, executor_ref& where, nb::handle channel, nb::handle received,
         nb::handle noise_var, nb::handle prior, nb::handle llr, nb::handle bits, nb::handle status) {
  const argument h("channel", channel, where), y("received", received, where), p("prior", prior, where);
  const noise_argument n0(noise_var, where);
  const argument l("llr", llr, where, true), b("bits", bits, where, true), s("status", status, where, true);
  const auto rx = static_cast<std::size_t>(d.made->rx_antennas()),
             streams = static_cast<std::size_t>(d.made->streams());
  y.expect_item({rx});
  h.expect_item({rx, streams});
  const auto batch = y.batch(1);
  p.expect_batch(1, batch), l.expect_batch(1, batch), b.expect_batch(1, batch), s.expect_batch(0, batch);
  const detector_input in{.received = y.as<const std::complex<float>>(1),
                          .channel = h.as<const std::complex<float>>(2),
                          .uses_per_channel = std::max<std::size_t>(1, h.items_sharing(2, batch)),
                          .noise_var = n0.of(batch),
                          .prior = p.as<const float>(1)};
  const detector_output out{
      .llr = l.as<float>(1), .bits = b.as<std::uint8_t>(1), .status = s.as<std::uint8_t>(0)};
  if (in.received.items == 0) return;  // however many channels there are
  where.run([&](executor& exec) { d.made->run(exec, in, out); });
}

}  // namespace

void bind_detect(nb::module_& m) {
  nb::class_<detector_ref>(m, "Detector")
      .def(nb::init<const std::string&, int, int, int, std::optional<float>, int, int, bool, bool,
                    std::vector<int>>(),
           nb::kw_only(), nb::arg("type"), nb::arg("streams"), nb::arg("rx_antennas"), nb::arg("qam"),
           nb::arg("llr_clip").none() = nb::none(), nb::arg("ways") = 0, nb::arg("survivors") = 64,
           nb::arg("real_valued") = false, nb::arg("extrinsic") = false,
           nb::arg("order") = std::vector<int>{})
      .def("run", &run, nb::arg("executor"), nb::arg("channel"), nb::arg("received"), optional("noise_var"),
           optional("prior"), optional("llr"), optional("bits"), optional("status"))
      .def_prop_ro("bits_per_use", [](const detector_ref& d) { return d.made->bits_per_use(); })
      .def_prop_ro("llr_clip", [](const detector_ref& d) { return *d.config.llr_clip; })
      .def_prop_ro("ways", [](const detector_ref& d) { return d.config.ways; });
}

}  // namespace wb::python
