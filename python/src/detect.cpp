// detect/: soft MIMO detectors.
#include <nanobind/stl/string.h>

#include <warpband/detect/detector.hpp>
#include <warpband/detect/linear/mmse_backward.hpp>

#include "arrays.hpp"
#include "detect.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {

namespace {

using settings_list = std::vector<setting_of<detector_config>>;

detector_config of(const std::string& type) {
  detector_config c;
  c.type = detectors().get(type).name;
  return c;
}

/// The text and range of a shared setting for one kind of detector. Scenarios have one text for all kinds.
void describe_for(const detector_config& c, setting_of<detector_config>& s) {
  const detector_kind& kind = c.kind();
  if (s.name == "streams") {
    s.allowed = "an integer from 1 to " + std::to_string(kind.most_streams);
  } else if (s.name == "llr_clip") {
    const bool misses = may_miss(c);
    s.allowed = "a number from 1e-6 to 1e6";
    const char* when = kind.name == "nway"     ? " with as many ways as streams and all points at the top"
                       : kind.name == "sphere" ? " without hard_output, radius and node_limit"
                                               : "";
    if (!misses) s.allowed += std::string(", or \"none\"") + when;
    s.text = "LLRs are limited to this magnitude. ";
    if (kind.may_miss) s.text += "A bit gets it if the search found no candidate with one of its values. ";
    s.text += kind.default_clip ? "Left out: \"none\" where it equals exhaustive search, else 8."
              : misses          ? "Left out: 8."
              : *when != '\0'   ? std::string("Left out: \"none\"") + when + ", else 8."
                                : "Left out: \"none\".";
  } else if (s.name == "order") {
    s.text = "The search sees the columns of H in this order. ";
    s.text += kind.name == "nway"
                  ? "Pass p has entry p at the top of the tree. Below it are the entries before it, "
                    "cyclically. "
                  : "It begins with the last stream of the list and ends with the first. ";
    s.text += "Left out: 0, 1, 2, ...";
  } else if (s.name == "sort") {
    s.text =
        "Sort the streams of each use instead of `order`: by falling or rising norm of their columns of H, "
        "or "
        "as a sorted QR decomposition takes them.";
    if (kind.name != "nway")
      s.text +=
          " With norm the search begins with the weakest stream; with norm-ascending and sqrd with the "
          "strongest.";
    else
      s.text +=
          " fsd, for pass 0, goes by noise amplification (L. Barbero, J. Thompson, IEEE Trans. Wireless "
          "Commun. "
          "7(6), 2008): a level that keeps all points takes the stream of the largest, any other that of the "
          "least.";
    if (kind.name != "nway") {
      std::erase(s.words, "fsd");
      s.allowed = among(s.words);
    }
  }
}

/// Those that detectors of a type have.
settings_list keywords_of(const detector_config& c) {
  settings_list settings = settings_of(c.kind());
  std::erase_if(settings, [](const auto& s) { return s.name == "type"; });
  for (auto& s : settings) {
    s.conditions.clear();  // full texts say no more than the settings' own
    describe_for(c, s);
  }
  return settings;
}

void run(const detector_ref& d, executor_ref& where, nb::handle channel, nb::handle received,
         nb::handle noise_var, nb::handle prior, nb::handle llr, nb::handle bits, nb::handle status,
         nb::handle visited) {
  const argument h("channel", channel, where), y("received", received, where), p("prior", prior, where);
  const noise_argument n0(noise_var, where);
  const argument l("llr", llr, where, true), b("bits", bits, where, true), s("status", status, where, true),
      v("visited", visited, where, true);
  const auto rx = static_cast<std::size_t>(d.made->rx_antennas()),
             streams = static_cast<std::size_t>(d.made->streams());
  y.expect_item({rx});
  h.expect_item({rx, streams});
  const auto batch = y.batch(1);
  p.expect_batch(1, batch), l.expect_batch(1, batch), b.expect_batch(1, batch), s.expect_batch(0, batch),
      v.expect_batch(0, batch);
  const detector_input in{.channel = h.as<const std::complex<float>>(2),
                          .uses_per_channel = std::max<std::size_t>(1, h.items_sharing(2, batch)),
                          .received = y.as<const std::complex<float>>(1),
                          .noise_var = n0.of(batch),
                          .prior = p.as<const float>(1)};
  const detector_output out{.llr = l.as<float>(1),
                            .bits = b.as<std::uint8_t>(1),
                            .status = s.as<std::uint8_t>(0),
                            .visited = v.as<std::int32_t>(0)};
  if (in.received.items == 0) return;  // however many channels there are
  where.run([&](executor& exec) { d.made->run(exec, in, out); });
}

void mmse_gradient(const mmse_backward& d, executor_ref& where, nb::handle channel, nb::handle received,
                   nb::handle noise_var, nb::handle llr_gradient, nb::handle channel_gradient,
                   nb::handle received_gradient, nb::handle noise_var_gradient) {
  const argument h("channel", channel, where), y("received", received, where),
      g("llr_gradient", llr_gradient, where), of_h("channel_gradient", channel_gradient, where, true),
      of_y("received_gradient", received_gradient, where, true),
      of_n0("noise_var_gradient", noise_var_gradient, where, true);
  const noise_argument n0(noise_var, where);
  const auto rx = static_cast<std::size_t>(d.rx_antennas()), streams = static_cast<std::size_t>(d.streams());
  y.expect_item({rx});
  h.expect_item({rx, streams});
  const auto batch = y.batch(1);
  g.expect_batch(1, batch), of_h.expect_batch(2, batch), of_y.expect_batch(1, batch),
      of_n0.expect_batch(0, batch);
  const detector_input in{.channel = h.as<const std::complex<float>>(2),
                          .uses_per_channel = std::max<std::size_t>(1, h.items_sharing(2, batch)),
                          .received = y.as<const std::complex<float>>(1),
                          .noise_var = n0.of(batch)};
  const auto given = g.as<const float>(1);
  const mmse_gradients out{.channel = of_h.as<std::complex<float>>(2),
                           .received = of_y.as<std::complex<float>>(1),
                           .noise_var = of_n0.as<float>(0)};
  if (in.received.items == 0) return;  // however many channels there are
  where.run([&](executor& exec) { d.run(exec, in, given, out); });
}

}  // namespace

void bind_detect(nb::module_& m) {
  const std::pair<const char*, const char*> classes[] = {{"ml", "ML"},
                                                         {"mf", "MatchedFilter"},
                                                         {"zf", "ZeroForcing"},
                                                         {"mmse", "MMSE"},
                                                         {"ot", "OnePassTrellis"},
                                                         {"mtt", "MultiPassTrellis"},
                                                         {"kbest", "KBest"},
                                                         {"nway", "NWay"},
                                                         {"sphere", "Sphere"},
                                                         {"pic", "PIC"},
                                                         {"ep", "EP"}};
  for (const auto& [type, name] : classes)
    add_keywords(m, name, keywords_of(of(type)), of(type), {"streams", "rx_antennas", "qam"});
  nb::class_<detector_ref>(m, "Detector")
      .def(
          "__init__",
          [](detector_ref* self, const std::string& name, const nb::dict& settings) {
            const detector_config initial = of(name);
            new (self) detector_ref(with_settings(keywords_of(initial), settings, initial));
          },
          nb::kw_only(), nb::arg("type"), nb::arg("settings"))
      .def("run", &run, nb::arg("executor"), nb::arg("channel"), nb::arg("received"), optional("noise_var"),
           optional("prior"), optional("llr"), optional("bits"), optional("status"), optional("visited"))
      .def_prop_ro("bits_per_use", [](const detector_ref& d) { return d.made->bits_per_use(); })
      .def_prop_ro("settings",
                   [](const detector_ref& d) { return settings_in(keywords_of(d.config), d.config); });
  nb::class_<mmse_backward>(m, "MmseBackward")
      .def(
          "__init__",
          [](mmse_backward* self, const nb::dict& settings) {
            const detector_config initial = of("mmse");
            new (self) mmse_backward(with_settings(keywords_of(initial), settings, initial));
          },
          nb::kw_only(), nb::arg("settings"))
      .def("run", &mmse_gradient, nb::arg("executor"), nb::arg("channel"), nb::arg("received"),
           optional("noise_var"), nb::arg("llr_gradient"), optional("channel_gradient"),
           optional("received_gradient"), optional("noise_var_gradient"));
}

}  // namespace wb::python
