// modem/: bits to symbols, symbols to LLRs.
#include <nanobind/stl/string.h>

#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/qam/qam.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

struct mapper_config {
  int qam = 4;
};
struct mapper_ref {
  mapper_config config;
  qam_mapper made;
};
const std::vector<setting_of<mapper_config>>& mapper_settings() {
  static const std::vector settings{qam_setting(&mapper_config::qam)};
  return settings;
}

void map(const mapper_ref& q, executor_ref& where, nb::handle bits, nb::handle symbols) {
  const argument b("bits", bits, where), s("symbols", symbols, where, true);
  const auto in = b.bits_in_groups(static_cast<std::size_t>(q.made.bits()));
  const auto out = s.as<std::complex<float>>(0);
  where.run([&](executor& exec) { q.made.run(exec, in, out); });
}

void demap(const demapper& d, executor_ref& where, nb::handle received, nb::handle noise_var,
           nb::handle channel, nb::handle llr, nb::handle status) {
  const argument y("received", received, where), h("channel", channel, where), l("llr", llr, where, true),
      s("status", status, where, true);
  const noise_argument n0(noise_var, where);
  const auto batch = y.batch(0);
  h.expect_batch(0, batch), s.expect_batch(0, batch);
  const demap_input in{.channel = h.as<const std::complex<float>>(0),
                       .received = y.as<const std::complex<float>>(0),
                       .noise_var = n0.of(batch)};
  const auto out = l.in_groups<float>(static_cast<std::size_t>(d.bits()));
  const auto state = s.as<std::uint8_t>(0);
  where.run([&](executor& exec) { d.run(exec, in, out, state); });
}

}  // namespace

void bind_modem(nb::module_& m) {
  add_keywords(m, "QamMapper", mapper_settings(), {}, {"qam"});
  add_keywords(m, "Demapper", demapper_settings(), {}, {"qam"});
  nb::class_<mapper_ref>(m, "QamMapper")
      .def(
          "__init__",
          [](mapper_ref* self, const nb::dict& settings) {
            const mapper_config c = with_settings(mapper_settings(), settings);
            new (self) mapper_ref{c, qam_mapper(c.qam)};
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings", [](const mapper_ref& q) { return settings_in(mapper_settings(), q.config); })
      .def("run", &map, nb::arg("executor"), nb::arg("bits"), nb::arg("symbols"))
      .def_prop_ro("bits_per_symbol", [](const mapper_ref& q) { return q.made.bits(); });
  nb::class_<demapper>(m, "Demapper")
      .def(
          "__init__",
          [](demapper* self, const nb::dict& settings) {
            new (self) demapper(with_settings(demapper_settings(), settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings", [](const demapper& d) { return settings_in(demapper_settings(), d.config()); })
      .def("run", &demap, nb::arg("executor"), nb::arg("received"), optional("noise_var"),
           optional("channel"), optional("llr"), optional("status"))
      .def_prop_ro("bits_per_symbol", &demapper::bits);
}

}  // namespace wb::python
