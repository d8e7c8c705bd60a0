// massive/: uplink detection and downlink precoding, also in clusters.
#include <nanobind/stl/vector.h>

#include <limits>
#include <type_traits>
#include <vector>

#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/massive/effective_capacity.hpp>
#include <warpband/massive/soft_uplink/soft_uplink.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

/// Vectors of each frame.
int symbols_of(const argument& channel, int trailing, std::span<const std::ptrdiff_t> batch) {
  const std::size_t n = std::max<std::size_t>(1, channel.items_sharing(trailing, batch));
  if (n > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw shape_error("received", std::to_string(n) + " vectors of a frame", "at most 2147483647");
  return static_cast<int>(n);
}

/// Whether H, or what goes with it, is of float16: then an array has one axis more, of the two parts.
bool of_halves(const argument& a) { return a.type() == number::float16; }

const uplink_config& settings_of(const uplink_detector& d) { return d.config(); }
const uplink_config& settings_of(const clustered_uplink_detector& d) { return d.config().detector; }
const downlink_config& settings_of(const downlink_precoder& p) { return p.config(); }
const downlink_config& settings_of(const clustered_downlink_precoder& p) { return p.config().precoder; }

template <class Input, class Sample, class Detector>
void detect_as(const Detector& d, executor_ref& where, const argument& h, const argument& y,
               const noise_argument& n0, const uplink_output& out) {
  constexpr bool half = std::is_same_v<Sample, half_complex>;
  const auto frames = h.batch(half ? 3 : 2), vectors = y.batch(half ? 2 : 1);
  Input in;
  if constexpr (half) {
    in.channel = h.as_halves(2), in.received = y.as_halves(1);
  } else {
    in.channel = h.as<const Sample>(2), in.received = y.as<const Sample>(1);
  }
  in.noise_var = n0.of(frames);
  in.symbols = symbols_of(h, half ? 3 : 2, vectors);
  if (in.received.items == 0) return;  // however many frames there are
  where.run([&](executor& exec) { d.run(exec, in, out); });
}

template <class Detector>
void detect(const Detector& d, executor_ref& where, nb::handle channel, nb::handle received,
            nb::handle noise_var, nb::handle llr, nb::handle equalized, nb::handle sinr, nb::handle status,
            nb::handle llr_int8) {
  const argument h("channel", channel, where), y("received", received, where);
  const noise_argument n0(noise_var, where);
  const argument l("llr", llr, where, true), x("equalized", equalized, where, true),
      q("sinr", sinr, where, true), s("status", status, where, true), l8("llr_int8", llr_int8, where, true);
  const auto antennas = static_cast<std::size_t>(settings_of(d).antennas),
             users = static_cast<std::size_t>(settings_of(d).users);
  const uplink_output out{.llr = l.as<float>(1),
                          .llr_int8 = l8.as<std::int8_t>(1),
                          .equalized = x.as<std::complex<float>>(1),
                          .sinr = q.as<float>(1),
                          .status = s.as<std::uint8_t>(0)};
  if (of_halves(h) || of_halves(y)) {
    // Of another type the one that is none of halves is blamed for it, not for its shape.
    if (of_halves(h)) h.expect_item({antennas, users, 2});
    if (of_halves(y)) y.expect_item({antennas, 2});
    if (!of_halves(h)) (void)h.as_halves(2);
    if (!of_halves(y)) (void)y.as_halves(1);
    return detect_as<uplink_half_input, half_complex>(d, where, h, y, n0, out);
  }
  h.expect_item({antennas, users});
  y.expect_item({antennas});
  detect_as<uplink_input, std::complex<float>>(d, where, h, y, n0, out);
}

void detect_softly(const soft_uplink_detector& d, executor_ref& where, nb::handle channel,
                   nb::handle received, nb::handle noise_var, nb::handle prior, nb::handle llr,
                   nb::handle bits, nb::handle status) {
  const argument h("channel", channel, where), y("received", received, where), p("prior", prior, where);
  const noise_argument n0(noise_var, where);
  const argument l("llr", llr, where, true), b("bits", bits, where, true), s("status", status, where, true);
  const auto antennas = static_cast<std::size_t>(d.config().antennas),
             users = static_cast<std::size_t>(d.config().users);
  h.expect_item({antennas, users});
  y.expect_item({antennas});
  const auto vectors = y.batch(1);
  p.expect_batch(1, vectors);
  const soft_uplink_input in{.channel = h.as<const std::complex<float>>(2),
                             .received = y.as<const std::complex<float>>(1),
                             .noise_var = n0.of(h.batch(2)),
                             .symbols = symbols_of(h, 2, vectors),
                             .prior = p.as<const float>(1)};
  const soft_uplink_output out{
      .llr = l.as<float>(1), .bits = b.as<std::uint8_t>(1), .status = s.as<std::uint8_t>(0)};
  if (in.received.items == 0) return;  // however many frames there are
  where.run([&](executor& exec) { d.run(exec, in, out); });
}

template <class Precoder>
void precode(const Precoder& d, executor_ref& where, nb::handle channel, nb::handle sent,
             nb::handle noise_var, nb::handle precoded, nb::handle status) {
  const argument h("channel", channel, where), x("sent", sent, where);
  const noise_argument n0(noise_var, where, true);
  const argument p("precoded", precoded, where, true), s("status", status, where, true);
  const auto antennas = static_cast<std::size_t>(settings_of(d).antennas),
             users = static_cast<std::size_t>(settings_of(d).users);
  x.expect_item({users});
  const auto out = p.as<std::complex<float>>(1);
  const auto state = s.as<std::uint8_t>(0);
  const auto run = [&](auto in, int trailing) {
    in.sent = x.as<const std::complex<float>>(1);
    in.noise_var = n0.of(h.batch(trailing));
    in.symbols = symbols_of(h, trailing, x.batch(1));
    if (in.sent.items == 0) return;
    where.run([&](executor& exec) { d.run(exec, in, out, state); });
  };
  if (of_halves(h)) {
    h.expect_item({antennas, users, 2});
    return run(downlink_half_input{.channel = h.as_halves(2)}, 3);
  }
  h.expect_item({antennas, users});
  run(downlink_input{.channel = h.as<const std::complex<float>>(2)}, 2);
}

void bind_clusters(nb::module_& m) {
  add_keywords(m, "ClusteredUplink", clustered_uplink_settings(), {},
               {"antennas", "users", "qam", "clusters"});
  add_keywords(m, "ClusteredDownlink", clustered_downlink_settings(), {}, {"antennas", "users", "clusters"});
  nb::class_<clustered_uplink_detector>(m, "ClusteredUplink")
      .def(
          "__init__",
          [](clustered_uplink_detector* self, const nb::dict& settings) {
            clustered_uplink_config c = with_settings(clustered_uplink_settings(), settings);
            if (is_iterative(c.detector.solver) && !settings.contains("sinr"))
              c.detector.sinr = massive_sinr::approximate;
            new (self) clustered_uplink_detector(c);
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const clustered_uplink_detector& d) {
                     return settings_in(clustered_uplink_settings(), d.config());
                   })
      .def("run", &detect<clustered_uplink_detector>, nb::arg("executor"), nb::arg("channel"),
           nb::arg("received"), optional("noise_var"), optional("llr"), optional("equalized"),
           optional("sinr"), optional("status"), optional("llr_int8"))
      .def_prop_ro("bits_per_vector", &clustered_uplink_detector::bits_per_vector);
  nb::class_<clustered_downlink_precoder>(m, "ClusteredDownlink")
      .def(
          "__init__",
          [](clustered_downlink_precoder* self, const nb::dict& settings) {
            new (self) clustered_downlink_precoder(with_settings(clustered_downlink_settings(), settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const clustered_downlink_precoder& p) {
                     return settings_in(clustered_downlink_settings(), p.config());
                   })
      .def("run", &precode<clustered_downlink_precoder>, nb::arg("executor"), nb::arg("channel"),
           nb::arg("sent"), optional("noise_var"), optional("precoded"), optional("status"));
}

/// bit/s/Hz at each coherence time.
std::vector<double> capacities(const std::vector<double>& coherence_s, double bits_per_hz, bool central,
                               double precoding_s, int antennas, int users, int subcarriers,
                               double coherence_bandwidth_hz, double transport_bps, double hop_s,
                               double bits_per_csi, bool precoding_per_subcarrier) {
  const capacity_setting setting{.antennas = antennas,
                                 .users = users,
                                 .subcarriers = subcarriers,
                                 .coherence_bandwidth_hz = coherence_bandwidth_hz,
                                 .transport_bps = transport_bps,
                                 .hop_s = hop_s,
                                 .bits_per_csi = bits_per_csi,
                                 .precoding_per_subcarrier = precoding_per_subcarrier};
  const precoder_model precoder{bits_per_hz, central, precoding_s};
  check(setting);
  check(precoder);
  std::vector<double> list;
  for (const double s : coherence_s) list.push_back(effective_capacity(setting, precoder, s));
  return list;
}

}  // namespace

void bind_massive(nb::module_& m) {
  bind_clusters(m);
  m.def("effective_capacity", &capacities, nb::kw_only(), nb::arg("coherence_s"), nb::arg("bits_per_hz"),
        nb::arg("central"), nb::arg("precoding_s"), nb::arg("antennas"), nb::arg("users"),
        nb::arg("subcarriers"), nb::arg("coherence_bandwidth_hz"), nb::arg("transport_bps"), nb::arg("hop_s"),
        nb::arg("bits_per_csi"), nb::arg("precoding_per_subcarrier"));
  add_keywords(m, "MassiveUplink", uplink_settings(), {}, {"antennas", "users", "qam"});
  add_keywords(m, "MassiveDownlink", downlink_settings(), {}, {"antennas", "users"});
  add_keywords(m, "MassiveSoftUplink", soft_uplink_settings(), {}, {"antennas", "users", "qam"});
  bind_settings(nb::class_<soft_uplink_detector>(m, "MassiveSoftUplink"), &soft_uplink_settings)
      .def("run", &detect_softly, nb::arg("executor"), nb::arg("channel"), nb::arg("received"),
           optional("noise_var"), optional("prior"), optional("llr"), optional("bits"), optional("status"))
      .def_prop_ro("bits_per_vector", &soft_uplink_detector::bits_per_vector);
  nb::class_<uplink_detector>(m, "MassiveUplink")
      .def(
          "__init__",
          [](uplink_detector* self, const nb::dict& settings) {
            uplink_config c = with_settings(uplink_settings(), settings);
            if (is_iterative(c.solver) && !settings.contains("sinr"))
              c.sinr = massive_sinr::approximate;  // all that they have
            new (self) uplink_detector(c);
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const uplink_detector& d) { return settings_in(uplink_settings(), d.config()); })
      .def("run", &detect<uplink_detector>, nb::arg("executor"), nb::arg("channel"), nb::arg("received"),
           optional("noise_var"), optional("llr"), optional("equalized"), optional("sinr"),
           optional("status"), optional("llr_int8"))
      .def_prop_ro("bits_per_vector", &uplink_detector::bits_per_vector);
  bind_settings(nb::class_<downlink_precoder>(m, "MassiveDownlink"), &downlink_settings)
      .def("run", &precode<downlink_precoder>, nb::arg("executor"), nb::arg("channel"), nb::arg("sent"),
           optional("noise_var"), optional("precoded"), optional("status"));
}

}  // namespace wb::python
