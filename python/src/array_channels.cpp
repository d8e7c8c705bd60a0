// channel/cdl and channel/kronecker: channels of base stations with many antennas.
#include <string>
#include <vector>

#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/channel/cdl/cdl.hpp>
#include <warpband/channel/kronecker/kronecker.hpp>

#include "arrays.hpp"
#include "rooms.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;
using numbers = std::vector<double>;

/// One's own clusters. Of angles there is one for each cluster, or none for what the library begins with.
cdl_profile clusters_of(const numbers& delays_ns, const numbers& powers_db, const numbers& aod_deg,
                        const numbers& aoa_deg, const numbers& zod_deg, const numbers& zoa_deg,
                        const std::vector<bool>& split) {
  const std::size_t n = delays_ns.size();
  const auto expect = [n](const char* name, std::size_t size, bool optional) {
    if (size != n && !(optional && size == 0))
      throw argument_error(name, std::to_string(size) + " values",
                           std::to_string(n) + ", as many as delays_ns has" + (optional ? ", or none" : ""));
  };
  expect("powers_db", powers_db.size(), false);
  expect("aod_deg", aod_deg.size(), true), expect("aoa_deg", aoa_deg.size(), true);
  expect("zod_deg", zod_deg.size(), true), expect("zoa_deg", zoa_deg.size(), true);
  expect("split", split.size(), true);
  cdl_profile p;
  for (std::size_t i = 0; i < n; i++) {
    cdl_cluster c{.delay_ns = delays_ns[i], .power_db = powers_db[i]};
    if (!aod_deg.empty()) c.aod_deg = aod_deg[i];
    if (!aoa_deg.empty()) c.aoa_deg = aoa_deg[i];
    if (!zod_deg.empty()) c.zod_deg = zod_deg[i];
    if (!zoa_deg.empty()) c.zoa_deg = zoa_deg[i];
    if (!split.empty()) c.split = split[i];
    p.clusters.push_back(c);
  }
  return p;
}

void cdl_response(const cdl_channel& c, executor_ref& where, nb::handle channel, random_range range) {
  const argument h("channel", channel, where, true);
  const auto to = h.as<cf>(2);
  where.run([&](executor& exec) { c.response(exec, to, range); });
}

template <class F>
auto of_paths(const cdl_channel& c, F&& f) {
  std::vector<decltype(f(cdl_path{}))> all;
  for (const cdl_path& path : cdl_paths(c.config().profile)) all.push_back(f(path));
  return all;
}

void bind_cdl(nb::module_& m) {
  nb::class_<cdl_channel>(m, "CdlChannel")
      .def(
          "__init__",
          [](cdl_channel* self, const std::string& profile, double delay_spread_ns, const numbers& delays_ns,
             const numbers& powers_db, const numbers& aod_deg, const numbers& aoa_deg, const numbers& zod_deg,
             const numbers& zoa_deg, const std::vector<bool>& split, double asd_deg, double asa_deg,
             double zsd_deg, double zsa_deg, std::optional<double> rician_k_db, int antennas, int users,
             int subcarriers, int symbols, double spacing_hz, double cyclic_prefix_us,
             double symbol_period_us, double carrier_hz, double spacing_m, double spacing_wavelengths,
             double speed_kmh, std::optional<double> heading_deg, double sector_deg,
             const numbers& directions_deg, bool power_control, double shadowing_db) {
            cdl_config c;
            if (delays_ns.empty()) {
              c.profile = cdl_profile_named(profile, delay_spread_ns);
            } else {
              c.profile = clusters_of(delays_ns, powers_db, aod_deg, aoa_deg, zod_deg, zoa_deg, split);
              c.profile.asd_deg = asd_deg, c.profile.asa_deg = asa_deg;
              c.profile.zsd_deg = zsd_deg, c.profile.zsa_deg = zsa_deg;
              c.profile.rician_k_db = rician_k_db;
            }
            c.grid = {subcarriers, symbols, spacing_hz, cyclic_prefix_us, symbol_period_us};
            c.antennas = antennas, c.users = users, c.carrier_hz = carrier_hz;
            c.spacing_m = spacing_m, c.spacing_wavelengths = spacing_wavelengths;
            c.speed_kmh = speed_kmh, c.heading_deg = heading_deg, c.sector_deg = sector_deg;
            c.directions_deg = directions_deg;
            c.power_control = power_control, c.shadowing_db = shadowing_db;
            new (self) cdl_channel(c);
          },
          nb::kw_only(), nb::arg("profile"), nb::arg("delay_spread_ns"), nb::arg("delays_ns"),
          nb::arg("powers_db"), nb::arg("aod_deg"), nb::arg("aoa_deg"), nb::arg("zod_deg"),
          nb::arg("zoa_deg"), nb::arg("split"), nb::arg("asd_deg"), nb::arg("asa_deg"), nb::arg("zsd_deg"),
          nb::arg("zsa_deg"), optional("rician_k_db"), nb::arg("antennas"), nb::arg("users"),
          nb::arg("subcarriers"), nb::arg("symbols"), nb::arg("spacing_hz"), nb::arg("cyclic_prefix_us"),
          nb::arg("symbol_period_us"), nb::arg("carrier_hz"), nb::arg("spacing_m"),
          nb::arg("spacing_wavelengths"), nb::arg("speed_kmh"), optional("heading_deg"),
          nb::arg("sector_deg"), nb::arg("directions_deg"), nb::arg("power_control"), nb::arg("shadowing_db"))
      .def("response", &cdl_response, nb::arg("executor"), nb::arg("channel"), nb::arg("random"))
      .def_prop_ro(
          "delays_ns",
          [](const cdl_channel& c) { return of_paths(c, [](const cdl_path& p) { return p.delay_ns; }); })
      .def_prop_ro("powers", [](const cdl_channel& c) {
        return of_paths(c, [](const cdl_path& p) { return p.power; });
      });
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
  nb::class_<kronecker_channel>(m, "KroneckerChannel")
      .def(
          "__init__",
          [](kronecker_channel* self, int streams, int rx_antennas, const correlation_matrix& rx_correlation,
             const correlation_matrix& tx_correlation) {
            new (self) kronecker_channel({streams, rx_antennas, rx_correlation, tx_correlation});
          },
          nb::kw_only(), nb::arg("streams"), nb::arg("rx_antennas"), nb::arg("rx_correlation"),
          nb::arg("tx_correlation"))
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
