// modem/: bits to symbols, symbols to LLRs.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/modem/constellation/constellation.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/demap/demap_backward.hpp>
#include <warpband/modem/effective_sinr/effective_sinr.hpp>
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

struct points_config {
  constellation_config constellation;
  demap_algorithm algorithm = demap_algorithm::max_log;
};
const std::vector<setting_of<points_config>>& points_settings() {
  static const auto settings = [] {
    auto list = within<points_config>(
        [](points_config& c) -> constellation_config& { return c.constellation; }, constellation_settings());
    list.push_back(demap_algorithm_setting("algorithm", &points_config::algorithm, "How LLRs are computed."));
    return list;
  }();
  return settings;
}
/// A constellation with its mapper and demapper.
struct points_ref {
  explicit points_ref(const points_config& c)
      : config(c), points(c.constellation), mapper(points), demapper(points, c.algorithm) {}
  points_config config;
  constellation points;
  constellation_mapper mapper;
  constellation_demapper demapper;
};

template <class Mapper>
void map(const Mapper& mapper, executor_ref& where, nb::handle bits, nb::handle symbols) {
  const argument b("bits", bits, where), s("symbols", symbols, where, true);
  const auto in = b.bits_in_groups(static_cast<std::size_t>(mapper.bits()));
  const auto out = s.as<std::complex<float>>(0);
  where.run([&](executor& exec) { mapper.run(exec, in, out); });
}

template <class Demapper>
void demap(const Demapper& d, executor_ref& where, nb::handle received, nb::handle noise_var,
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

void demap_gradient(const demapper_backward& d, executor_ref& where, nb::handle received,
                    nb::handle noise_var, nb::handle channel, nb::handle llr_gradient,
                    nb::handle received_gradient, nb::handle channel_gradient,
                    nb::handle noise_var_gradient) {
  const argument y("received", received, where), h("channel", channel, where),
      g("llr_gradient", llr_gradient, where), of_y("received_gradient", received_gradient, where, true),
      of_h("channel_gradient", channel_gradient, where, true),
      of_n0("noise_var_gradient", noise_var_gradient, where, true);
  const noise_argument n0(noise_var, where);
  const auto batch = y.batch(0);
  for (const argument* a : {&h, &of_y, &of_h, &of_n0}) a->expect_batch(0, batch);
  const demap_input in{.channel = h.as<const std::complex<float>>(0),
                       .received = y.as<const std::complex<float>>(0),
                       .noise_var = n0.of(batch)};
  const auto given = g.in_groups<const float>(static_cast<std::size_t>(d.bits()));
  const demap_gradients out{.received = of_y.as<std::complex<float>>(0),
                            .channel = of_h.as<std::complex<float>>(0),
                            .noise_var = of_n0.as<float>(0)};
  where.run([&](executor& exec) { d.run(exec, in, given, out); });
}

void effective(const effective_sinr& map, executor_ref& where, nb::handle sinrs, nb::handle weights,
               nb::handle out, nb::handle status) {
  const argument g("sinrs", sinrs, where), w("weights", weights, where), o("effective", out, where, true),
      s("status", status, where, true);
  const auto from = g.as<const float>(1);
  effective_sinr_input in{.sinr = from, .weight = w.as<const float>(1)};
  if (w) {
    w.expect_item({from.elements});
    if (w.axes() == 1)  // one for all
      in.weight.items = from.items, in.weight.item_stride = 0;
    else
      w.expect_batch(1, g.batch(1));
  }
  const auto to = o.as<float>(0);
  const auto state = s.as<std::uint8_t>(0);
  where.run([&](executor& exec) { map.run(exec, in, to, state); });
}

information_kind kind_of(const std::string& kind) {
  return named<information_kind>("kind", kind,
                                 {{"bit", information_kind::bit}, {"symbol", information_kind::symbol}});
}

}  // namespace

void bind_modem(nb::module_& m) {
  add_keywords(m, "QamMapper", mapper_settings(), {}, {"qam"});
  add_keywords(m, "Demapper", demapper_settings(), {}, {"qam"});
  add_keywords(m, "Constellation", points_settings(), {}, {});
  nb::class_<mapper_ref>(m, "QamMapper")
      .def(
          "__init__",
          [](mapper_ref* self, const nb::dict& settings) {
            const mapper_config c = with_settings(mapper_settings(), settings);
            new (self) mapper_ref{c, qam_mapper(c.qam)};
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings", [](const mapper_ref& q) { return settings_in(mapper_settings(), q.config); })
      .def(
          "run",
          [](const mapper_ref& q, executor_ref& where, nb::handle bits, nb::handle symbols) {
            map(q.made, where, bits, symbols);
          },
          nb::arg("executor"), nb::arg("bits"), nb::arg("symbols"))
      .def_prop_ro("bits_per_symbol", [](const mapper_ref& q) { return q.made.bits(); });
  bind_settings(nb::class_<demapper>(m, "Demapper"), &demapper_settings)
      .def("run", &demap<demapper>, nb::arg("executor"), nb::arg("received"), optional("noise_var"),
           optional("channel"), optional("llr"), optional("status"))
      .def_prop_ro("bits_per_symbol", &demapper::bits);
  nb::class_<points_ref>(m, "Constellation")
      .def(
          "__init__",
          [](points_ref* self, const nb::dict& settings) {
            new (self) points_ref(with_settings(points_settings(), settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings", [](const points_ref& p) { return settings_in(points_settings(), p.config); })
      .def_prop_ro("bits_per_symbol", [](const points_ref& p) { return p.points.bits(); })
      .def_prop_ro("symbols", [](const points_ref& p) { return p.points.points(); })
      .def(
          "map",
          [](const points_ref& p, executor_ref& where, nb::handle bits, nb::handle symbols) {
            map(p.mapper, where, bits, symbols);
          },
          nb::arg("executor"), nb::arg("bits"), nb::arg("symbols"))
      .def(
          "demap",
          [](const points_ref& p, executor_ref& where, nb::handle received, nb::handle noise_var,
             nb::handle channel, nb::handle llr,
             nb::handle status) { demap(p.demapper, where, received, noise_var, channel, llr, status); },
          nb::arg("executor"), nb::arg("received"), optional("noise_var"), optional("channel"),
          optional("llr"), optional("status"));
  m.def(
      "dvb_s2_ring_ratios",
      [](const std::string& type, const std::string& rate) { return dvb_s2_ring_ratios(type, rate); },
      nb::kw_only(), nb::arg("type"), nb::arg("rate"));
  nb::class_<demapper_backward>(m, "DemapperBackward")
      .def(
          "__init__",
          [](demapper_backward* self, const nb::dict& settings) {
            new (self) demapper_backward(with_settings(demapper_settings(), settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def("run", &demap_gradient, nb::arg("executor"), nb::arg("received"), optional("noise_var"),
           optional("channel"), nb::arg("llr_gradient"), optional("received_gradient"),
           optional("channel_gradient"), optional("noise_var_gradient"));
  nb::class_<effective_sinr>(m, "EffectiveSinr")
      .def(
          "__init__",
          [](effective_sinr* self, const nb::dict& settings) {
            new (self) effective_sinr(with_settings(effective_sinr_settings(), settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def("run", &effective, nb::arg("executor"), nb::arg("sinrs"), optional("weights"),
           optional("effective"), optional("status"));
  m.def(
      "mutual_information",
      [](int qam, const std::vector<double>& snr_db, const std::string& kind) {
        std::vector<double> bits;
        for (const double x : snr_db) bits.push_back(mutual_information(qam, x, kind_of(kind)));
        return bits;
      },
      nb::kw_only(), nb::arg("qam"), nb::arg("snr_db"), nb::arg("kind"));
  m.def(
      "snr_db_of_information",
      [](int qam, const std::vector<double>& bits, const std::string& kind) {
        std::vector<double> snr_db;
        for (const double x : bits) snr_db.push_back(snr_db_of_information(qam, x, kind_of(kind)));
        return snr_db;
      },
      nb::kw_only(), nb::arg("qam"), nb::arg("bits"), nb::arg("kind"));
}

}  // namespace wb::python
