// channel/: noise, fading, delay lines.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/channel/rayleigh/rayleigh.hpp>
#include <warpband/channel/tdl/tdl.hpp>

#include "arrays.hpp"
#include "rooms.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;

/// Runs a channel whose input the library calls `in` and Python `sent`.
template <class F>
void send(executor_ref& where, F&& f) {
  try {
    where.run(std::forward<F>(f));
  } catch (const shape_error& e) {
    if (e.argument() != "in") throw;
    throw shape_error("sent", e.value(), e.allowed());
  }
}

void awgn(executor_ref& where, nb::handle sent, nb::handle out, float noise_var, random_range range) {
  const argument x("sent", sent, where), y("out", out, where, true, true);
  const auto from = x.as<const cf>(0);
  const auto to = y.as<cf>(0);
  check_noise(noise_var, true);
  send(where, [&](executor& exec) { add_awgn(exec, from, to, noise_var, range); });
}

void rayleigh(executor_ref& where, nb::handle sent, nb::handle out, nb::handle gain, int block,
              random_range range) {
  const argument x("sent", sent, where), y("out", out, where, true, true), h("gain", gain, where, true);
  const auto from = x.as<const cf>(0);
  const auto to = y.as<cf>(0), gains = h.as<cf>(0);
  send(where, [&](executor& exec) { apply_rayleigh(exec, from, to, gains, block, range); });
}

void mimo(executor_ref& where, nb::handle sent, nb::handle out, nb::handle channel,
          std::size_t uses_per_channel, random_range range) {
  const argument x("sent", sent, where), y("out", out, where, true), h("channel", channel, where, true);
  const auto from = x.as<const cf>(1);
  const auto to = y.as<cf>(1), gains = h.as<cf>(2);
  send(where, [&](executor& exec) { apply_mimo_rayleigh(exec, from, to, gains, uses_per_channel, range); });
}

/// Without a profile and taps the profile is EPA. What would be ignored is refused.
tdl_config tdl_of(const std::optional<std::string>& profile, std::optional<double> delay_spread_ns,
                  const std::vector<double>& delays_ns, const std::vector<double>& powers_db,
                  std::optional<double> rician_k_db, int subcarriers, int symbols, double spacing_hz,
                  double cyclic_prefix_us, double symbol_period_us, double doppler_hz, int sinusoids,
                  int streams, int rx_antennas) {
  tdl_config c;
  const std::string name = profile.value_or("epa");
  if (delays_ns.empty()) {
    if (!powers_db.empty()) throw argument_error("powers_db", "given", "none without delays_ns");
    if (rician_k_db) throw argument_error("rician_k_db", "given", "None without delays_ns");
    c.profile = tdl_profile_named(name, delay_spread_ns.value_or(100));
    if (delay_spread_ns && !has_delay_spread(name))
      throw argument_error("delay_spread_ns", "given", "None with profile = \"" + name + "\"");
  } else {
    if (profile) throw argument_error("profile", "\"" + name + "\"", "None with delays_ns");
    if (delay_spread_ns) throw argument_error("delay_spread_ns", "given", "None with delays_ns");
    if (powers_db.size() != delays_ns.size())
      throw argument_error("powers_db", std::to_string(powers_db.size()) + " numbers",
                           std::to_string(delays_ns.size()) + ", as many as delays_ns has");
    for (std::size_t i = 0; i < delays_ns.size(); i++) c.profile.taps.push_back({delays_ns[i], powers_db[i]});
    c.profile.rician_k_db = rician_k_db;
    with_names({{"profile", "delays_ns"}, {"delay_ns", "delays_ns"}, {"power_db", "powers_db"}},
               [&] { check(c.profile); });
  }
  c.grid = {subcarriers, symbols, spacing_hz, cyclic_prefix_us, symbol_period_us};
  c.doppler_hz = doppler_hz, c.sinusoids = sinusoids, c.streams = streams, c.rx_antennas = rx_antennas;
  return c;
}

void tdl_response(const tdl_channel& t, executor_ref& where, nb::handle channel, random_range range) {
  const argument h("channel", channel, where, true);
  const auto to = h.as<cf>(2);
  where.run([&](executor& exec) { t.response(exec, to, range); });
}
void tdl_apply(const tdl_channel& t, executor_ref& where, nb::handle sent, nb::handle out, nb::handle channel,
               random_range range) {
  const argument x("sent", sent, where), y("out", out, where, true), h("channel", channel, where, true);
  const auto from = x.as<const cf>(1);
  const auto to = y.as<cf>(1), gains = h.as<cf>(2);
  send(where, [&](executor& exec) { t.apply(exec, from, to, gains, range); });
}

}  // namespace

void bind_channel(nb::module_& m) {
  nb::class_<random_range>(m, "RandomRange")
      .def(
          "__init__",
          [](random_range* self, std::uint64_t seed, std::uint64_t first, std::uint32_t point) {
            new (self) random_range{seed, first, point};
          },
          nb::arg("seed"), nb::arg("first"), nb::arg("point"));
  m.def("awgn", &awgn, nb::arg("executor"), nb::arg("sent"), nb::arg("out"), nb::arg("noise_var"),
        nb::arg("random"));
  m.def("rayleigh", &rayleigh, nb::arg("executor"), nb::arg("sent"), nb::arg("out"), nb::arg("gain"),
        nb::arg("block"), nb::arg("random"));
  m.def("mimo_rayleigh", &mimo, nb::arg("executor"), nb::arg("sent"), nb::arg("out"), nb::arg("channel"),
        nb::arg("uses_per_channel"), nb::arg("random"));
  nb::class_<tdl_channel>(m, "TdlChannel")
      .def(
          "__init__",
          [](tdl_channel* self, const std::optional<std::string>& profile,
             std::optional<double> delay_spread_ns, const std::vector<double>& delays_ns,
             const std::vector<double>& powers_db, std::optional<double> rician_k_db, int subcarriers,
             int symbols, double spacing_hz, double cyclic_prefix_us, double symbol_period_us,
             double doppler_hz, int sinusoids, int streams, int rx_antennas) {
            new (self) tdl_channel(tdl_of(profile, delay_spread_ns, delays_ns, powers_db, rician_k_db,
                                          subcarriers, symbols, spacing_hz, cyclic_prefix_us,
                                          symbol_period_us, doppler_hz, sinusoids, streams, rx_antennas));
          },
          nb::kw_only(), optional("profile"), optional("delay_spread_ns"), nb::arg("delays_ns"),
          nb::arg("powers_db"), optional("rician_k_db"), nb::arg("subcarriers"), nb::arg("symbols"),
          nb::arg("spacing_hz"), nb::arg("cyclic_prefix_us"), nb::arg("symbol_period_us"),
          nb::arg("doppler_hz"), nb::arg("sinusoids"), nb::arg("streams"), nb::arg("rx_antennas"))
      .def("response", &tdl_response, nb::arg("executor"), nb::arg("channel"), nb::arg("random"))
      .def("apply", &tdl_apply, nb::arg("executor"), nb::arg("sent"), nb::arg("out"), nb::arg("channel"),
           nb::arg("random"))
      .def_prop_ro("delays_ns",
                   [](const tdl_channel& t) {
                     std::vector<double> all;
                     for (const tdl_tap& tap : t.config().profile.taps) all.push_back(tap.delay_ns);
                     return all;
                   })
      .def_prop_ro("powers", [](const tdl_channel& t) { return tap_powers(t.config().profile); });
  m.def("tdl_profiles", &tdl_profile_names);
}

}  // namespace wb::python
