// channel/: noise, fading, delay lines.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/binary/binary.hpp>
#include <warpband/channel/impairments/impairments.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/channel/rayleigh/rayleigh.hpp>
#include <warpband/channel/tdl/tdl.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

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

void awgn(executor_ref& where, nb::handle sent, nb::handle out, nb::handle noise_var, random_range range) {
  const argument x("sent", sent, where),
      n0("noise_var", PyFloat_Check(noise_var.ptr()) ? nb::none() : noise_var, where),
      y("out", out, where, true, true);
  const auto from = x.as<const cf>(0);
  const auto to = y.as<cf>(0);
  if (n0) {
    n0.expect_batch(0, x.batch(0));
    const auto powers = n0.as<const float>(0);
    send(where, [&](executor& exec) { add_awgn(exec, from, to, powers, range); });
    return;
  }
  const auto value = nb::cast<float>(noise_var);
  check_noise(value, true);
  send(where, [&](executor& exec) { add_awgn(exec, from, to, value, range); });
}

/// Absent: Rayleigh fading.
rician_amplitudes rice_of(std::optional<double> k_db) {
  return k_db ? rician_of_db(*k_db) : rician_amplitudes{};
}

void rayleigh(executor_ref& where, nb::handle sent, nb::handle out, nb::handle gain, int block,
              random_range range, std::optional<double> rician_k_db) {
  const rician_amplitudes rice = rice_of(rician_k_db);
  const argument x("sent", sent, where), y("out", out, where, true, true), h("gain", gain, where, true);
  const auto from = x.as<const cf>(0);
  const auto to = y.as<cf>(0), gains = h.as<cf>(0);
  send(where, [&](executor& exec) { apply_rayleigh(exec, from, to, gains, block, range, rice); });
}

void mimo(executor_ref& where, nb::handle sent, nb::handle out, nb::handle channel,
          std::size_t uses_per_channel, random_range range, std::optional<double> rician_k_db) {
  const rician_amplitudes rice = rice_of(rician_k_db);
  const argument x("sent", sent, where), y("out", out, where, true), h("channel", channel, where, true);
  const auto from = x.as<const cf>(1);
  const auto to = y.as<cf>(1), gains = h.as<cf>(2);
  send(where,
       [&](executor& exec) { apply_mimo_rayleigh(exec, from, to, gains, uses_per_channel, range, rice); });
}

/// A delay line, and what its profile was made of.
struct tdl_choice {
  tdl_profile_choice profile;
  tdl_config line;
};
struct tdl_ref {
  tdl_choice choice;
  tdl_channel made;
};

const std::vector<setting_of<tdl_choice>>& tdl_keywords() {
  static const auto settings = joined<tdl_choice>(
      [](tdl_choice& c) -> tdl_profile_choice& { return c.profile; }, tdl_profile_settings(),
      [](tdl_choice& c) -> tdl_config& { return c.line; }, tdl_settings());
  return settings;
}

tdl_choice tdl_of(const nb::dict& settings) {
  tdl_choice c = with_settings(tdl_keywords(), settings);
  check_profile(c.profile, settings, has_delay_spread(c.profile.name));
  c.line.profile = profile_of(c.profile);
  return c;
}

void tdl_response(const tdl_ref& t, executor_ref& where, nb::handle channel, random_range range) {
  const argument h("channel", channel, where, true);
  const auto to = h.as<cf>(2);
  where.run([&](executor& exec) { t.made.response(exec, to, range); });
}
void tdl_apply(const tdl_ref& t, executor_ref& where, nb::handle sent, nb::handle out, nb::handle channel,
               random_range range) {
  const argument x("sent", sent, where), y("out", out, where, true), h("channel", channel, where, true);
  const auto from = x.as<const cf>(1);
  const auto to = y.as<cf>(1), gains = h.as<cf>(2);
  send(where, [&](executor& exec) { t.made.apply(exec, from, to, gains, range); });
}

void binary(executor_ref& where, nb::handle bits, nb::handle received, nb::handle llr,
            const std::string& kind, double probability, random_range range) {
  const argument x("bits", bits, where), y("received", received, where, true), l("llr", llr, where, true);
  const auto from = x.bits(0);
  const auto to = y.as<std::uint8_t>(0);
  const auto soft = l.as<float>(0);
  const binary_channel channel = kind == "bsc"   ? binary_symmetric_channel(probability)
                                 : kind == "bec" ? binary_erasure_channel(probability)
                                                 : z_channel(probability);
  where.run([&](executor& exec) {
    send_bits(exec, channel, from, to, range);
    llrs_of_bits(exec, channel.llr, to, soft);
  });
}

void impair(const impairments& front_end, executor_ref& where, nb::handle samples, nb::handle received,
            nb::handle erased, random_range range) {
  const argument x("samples", samples, where), y("out", received, where, true),
      counts("erased", erased, where, true);
  const auto from = x.as<const cf>(1);
  const auto to = y.as<cf>(1);
  const auto zeros = counts ? counts.as<std::int32_t>(0) : view<std::int32_t>();
  where.run([&](executor& exec) { front_end.run(exec, from, to, range, zeros); });
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
  m.def("binary_channel", &binary, nb::arg("executor"), nb::arg("bits"), nb::arg("received"), nb::arg("llr"),
        nb::arg("kind"), nb::arg("probability"), nb::arg("random"));
  m.def("rayleigh", &rayleigh, nb::arg("executor"), nb::arg("sent"), nb::arg("out"), nb::arg("gain"),
        nb::arg("block"), nb::arg("random"), nb::arg("rician_k_db").none());
  m.def("mimo_rayleigh", &mimo, nb::arg("executor"), nb::arg("sent"), nb::arg("out"), nb::arg("channel"),
        nb::arg("uses_per_channel"), nb::arg("random"), nb::arg("rician_k_db").none());
  add_keywords(m, "Impairments", impairments_settings());
  bind_settings(nb::class_<impairments>(m, "Impairments"), &impairments_settings)
      .def("run", &impair, nb::arg("executor"), nb::arg("samples"), nb::arg("received"), optional("erased"),
           nb::arg("random"));
  add_keywords(m, "TdlChannel", tdl_keywords());
  nb::class_<tdl_ref>(m, "TdlChannel")
      .def(
          "__init__",
          [](tdl_ref* self, const nb::dict& settings) {
            const tdl_choice c = tdl_of(settings);
            new (self) tdl_ref{c, tdl_channel(c.line)};
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const tdl_ref& t) {
                     const tdl_profile_choice& p = t.choice.profile;
                     return with_profile(p, has_delay_spread(p.name), settings_in(tdl_keywords(), t.choice));
                   })
      .def("response", &tdl_response, nb::arg("executor"), nb::arg("channel"), nb::arg("random"))
      .def("apply", &tdl_apply, nb::arg("executor"), nb::arg("sent"), nb::arg("out"), nb::arg("channel"),
           nb::arg("random"))
      .def_prop_ro("delays_ns",
                   [](const tdl_ref& t) {
                     std::vector<double> delays;
                     for (const tdl_tap& tap : t.made.config().profile.taps) delays.push_back(tap.delay_ns);
                     return delays;
                   })
      .def_prop_ro("powers", [](const tdl_ref& t) { return tap_powers(t.made.config().profile); });
  m.def("tdl_profiles", &tdl_profile_names);
}

}  // namespace wb::python
