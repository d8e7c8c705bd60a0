// channel/cdl and channel/kronecker: channels of base stations with many antennas.
#include <vector>

#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/channel/cdl/cdl.hpp>
#include <warpband/channel/kronecker/kronecker.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;
/// Clustered delay lines, and what their profile was made of.
struct cdl_choice {
  cdl_profile_choice profile;
  cdl_config lines;
};
struct cdl_ref {
  cdl_choice choice;
  cdl_channel made;
};

const std::vector<setting_of<cdl_choice>>& cdl_keywords() {
  static const auto settings = joined<cdl_choice>(
      [](cdl_choice& c) -> cdl_profile_choice& { return c.profile; }, cdl_profile_settings(),
      [](cdl_choice& c) -> cdl_config& { return c.lines; }, cdl_settings());
  return settings;
}
/// What is left out: one user in CDL-A, and neighbouring antennas half a wavelength apart.
cdl_choice cdl_initial() {
  cdl_choice c;
  c.profile.name = "cdl-a";
  c.lines.grid = {.symbols = 1};
  c.lines.antennas = c.lines.users = 1;
  c.lines.spacing_m = 0, c.lines.spacing_wavelengths = 0.5;
  return c;
}

cdl_choice cdl_of(const nb::dict& settings) {
  cdl_choice c = with_settings(cdl_keywords(), settings, cdl_initial());
  check_profile(c.profile, settings, has_cdl_delay_spread(c.profile.name));
  if (c.lines.spacing_m != 0) {
    if (settings.contains("antenna_spacing_wavelengths"))
      throw argument_error("antenna_spacing_wavelengths", "given", "none with antenna_spacing_m");
    c.lines.spacing_wavelengths.reset();
  }
  c.lines.profile = profile_of(c.profile);
  return c;
}

void cdl_response(const cdl_ref& c, executor_ref& where, nb::handle channel, random_range range) {
  const argument h("channel", channel, where, true);
  const auto to = h.as<cf>(2);
  where.run([&](executor& exec) { c.made.response(exec, to, range); });
}

template <class F>
auto of_paths(const cdl_ref& c, F&& f) {
  std::vector<decltype(f(cdl_path{}))> values;
  for (const cdl_path& path : cdl_paths(c.made.config().profile)) values.push_back(f(path));
  return values;
}

void bind_cdl(nb::module_& m) {
  add_keywords(m, "CdlChannel", cdl_keywords(), cdl_initial(), {"antennas"});
  nb::class_<cdl_ref>(m, "CdlChannel")
      .def(
          "__init__",
          [](cdl_ref* self, const nb::dict& settings) {
            const cdl_choice c = cdl_of(settings);
            new (self) cdl_ref{c, cdl_channel(c.lines)};
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const cdl_ref& c) {
                     const cdl_profile_choice& p = c.choice.profile;
                     return with_profile(p, has_cdl_delay_spread(p.name),
                                         settings_in(cdl_keywords(), c.choice));
                   })
      .def("response", &cdl_response, nb::arg("executor"), nb::arg("channel"), nb::arg("random"))
      .def_prop_ro("delays_ns",
                   [](const cdl_ref& c) { return of_paths(c, [](const cdl_path& p) { return p.delay_ns; }); })
      .def_prop_ro("powers",
                   [](const cdl_ref& c) { return of_paths(c, [](const cdl_path& p) { return p.power; }); });
  m.def("cdl_profiles", &cdl_profile_names);
}

void kronecker_response(const kronecker_channel& k, executor_ref& where, nb::handle channel,
                        random_range range) {
  const argument h("channel", channel, where, true);
  const auto to = h.as<cf>(2);
  where.run([&](executor& exec) { k.response(exec, to, range); });
}
void kronecker_apply(const kronecker_channel& k, executor_ref& where, nb::handle sent, nb::handle out,
                     nb::handle channel, std::size_t uses_per_channel, random_range range) {
  const argument x("sent", sent, where), y("out", out, where, true), h("channel", channel, where, true);
  const auto from = x.as<const cf>(1);
  const auto to = y.as<cf>(1), gains = h.as<cf>(2);
  where.run([&](executor& exec) { k.apply(exec, from, to, gains, uses_per_channel, range); });
}

void bind_kronecker(nb::module_& m) {
  add_keywords(m, "KroneckerChannel", kronecker_settings(), {}, {"streams", "rx_antennas"});
  bind_settings(nb::class_<kronecker_channel>(m, "KroneckerChannel"), &kronecker_settings)
      .def("response", &kronecker_response, nb::arg("executor"), nb::arg("channel"), nb::arg("random"))
      .def("apply", &kronecker_apply, nb::arg("executor"), nb::arg("sent"), nb::arg("out"),
           nb::arg("channel"), nb::arg("uses_per_channel"), nb::arg("random"));
  m.def("exponential_correlation", &exponential_correlation, nb::kw_only(), nb::arg("antennas"),
        nb::arg("correlation"));
}

}  // namespace

void bind_array_channels(nb::module_& m) {
  bind_cdl(m);
  bind_kronecker(m);
}

}  // namespace wb::python
