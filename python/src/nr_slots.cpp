// nr/ and estimate/: slots of 5G NR, channel and noise estimation.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/core/as_size.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/estimate/noise.hpp>
#include <warpband/estimate/srs_pilots.hpp>
#include <warpband/nr/codebook.hpp>
#include <warpband/nr/frc.hpp>
#include <warpband/nr/shared_channel.hpp>
#include <warpband/nr/uci/pusch_uci.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;

/// Axes of a grid before its last: OFDM symbols and subcarriers.
template <class Slot>
void expect_slots(const char* name, const argument& grid, const Slot& c) {
  const nr_carrier& carrier = c.config().carrier;
  const int axes = grid.axes();
  if (axes < 3 || grid.extent(axes - 3) != carrier.symbols_per_slot() ||
      grid.extent(axes - 2) != carrier.subcarriers())
    throw shape_error(name, text_of(grid.batch(0)),
                      "(..., " + std::to_string(carrier.symbols_per_slot()) + ", " +
                          std::to_string(carrier.subcarriers()) + ", n)");
}

void map_slots(const nr_shared_channel& c, executor_ref& where, nb::handle first, nb::handle second,
               nb::handle grid) {
  const argument a("symbols", first, where), b("symbols", second, where), g("grid", grid, where, true);
  a.expect_item({c.symbols_of(0)});
  std::vector<view<const cf>> symbols{a.as<const cf>(1)};
  if (b) {
    b.expect_item({c.symbols_of(1)});
    symbols.push_back(b.as<const cf>(1));
  }
  const auto out = g.as<cf>(1);
  where.run([&](executor& exec) { c.map(exec, symbols, out); });
}
void extract(const nr_shared_channel& c, executor_ref& where, nb::handle grid, nb::handle data) {
  const argument g("grid", grid, where), d("data", data, where, true);
  expect_slots("grid", g, c);
  const auto in = g.as<const cf>(1);
  const auto out = d.as<cf>(1);
  where.run([&](executor& exec) { c.extract(exec, in, out); });
}

void equalise(const nr_shared_channel& c, executor_ref& where, nb::handle channel, nb::handle received,
              nb::handle noise_var, nb::handle out_channel, nb::handle out_received,
              nb::handle out_noise_var) {
  const argument h("channel", channel, where), y("received", received, where),
      oh("out", out_channel, where, true), oy("out", out_received, where, true),
      on("out", out_noise_var, where, true);
  if (y.axes() < 2 || as_size(static_cast<int>(y.extent(y.axes() - 2))) != c.data_elements())
    throw shape_error("received", text_of(y.batch(0)),
                      "(..., " + std::to_string(c.data_elements()) + ", rx_antennas)");
  const noise_argument n0(noise_var, where, true);
  const nr_equaliser_input in{h.as<const cf>(2), y.as<const cf>(1), n0.of(y.batch(1))};
  const nr_equaliser_output out{oy.as<cf>(1), oh.as<cf>(2), on.as<float>(0)};
  where.run([&](executor& exec) { c.equalise(exec, in, out); });
}

template <class Slot>
void estimate(const channel_estimator& e, executor_ref& where, const Slot& c, nb::handle received,
              nb::handle noise_var, nb::handle channel, nb::handle noise) {
  const argument y("received", received, where), h("channel", channel, where, true),
      n("noise", noise, where, true);
  expect_slots("received", y, c);
  const noise_argument n0(noise_var, where, true);
  const auto in = y.as<const cf>(1);
  const estimate_output out{.channel = h.as<cf>(2), .noise_var = n.in_groups<float>(1)};
  const auto variances = n0.of(y.batch(3));
  where.run([&](executor& exec) { e.run(exec, in, variances, out); });
}
void estimate_noise(const noise_estimator& e, executor_ref& where, const nr_shared_channel& c,
                    nb::handle received, nb::handle covariance, nb::handle noise_var) {
  const argument y("received", received, where), r("covariance", covariance, where, true),
      n("noise_var", noise_var, where, true);
  expect_slots("received", y, c);
  const auto in = y.as<const cf>(1);
  const noise_output out{.covariance = r.as<cf>(2), .noise_var = n.in_groups<float>(1)};
  where.run([&](executor& exec) { e.run(exec, in, out); });
}
void whiten(const whitener& w, executor_ref& where, nb::handle covariance, float added, nb::handle channel,
            nb::handle received, nb::handle out_channel, nb::handle out_received, nb::handle status) {
  const argument r("covariance", covariance, where), h("channel", channel, where),
      y("received", received, where), wh("out", out_channel, where, true),
      wy("out", out_received, where, true), s("out", status, where, true);
  const auto a = r.as<const cf>(2);
  const auto b = h.as<const cf>(2);
  const auto c = y.as<const cf>(1);
  const auto d = wh.as<cf>(2);
  const auto e = wy.as<cf>(1);
  const auto f = s.as<std::uint8_t>(0);
  where.run([&](executor& exec) { w.run(exec, a, added, b, c, d, e, f); });
}

void multiplex(const pusch_uci& u, executor_ref& where, nb::handle data, nb::handle ack, nb::handle csi1,
               nb::handle csi2, nb::handle codeword) {
  const argument d("data", data, where), a("ack", ack, where), c1("csi1", csi1, where),
      c2("csi2", csi2, where), out("out", codeword, where, true);
  const pusch_uci_views<const std::uint8_t> coded{d.as<const std::uint8_t>(1), a.as<const std::uint8_t>(1),
                                                  c1.as<const std::uint8_t>(1), c2.as<const std::uint8_t>(1)};
  const auto to = out.as<std::uint8_t>(1);
  where.run([&](executor& exec) { u.multiplex(exec, coded, to); });
}
void demultiplex(const pusch_uci& u, executor_ref& where, nb::handle llr, nb::handle data, nb::handle ack,
                 nb::handle csi1, nb::handle csi2) {
  const argument l("llr", llr, where), d("out", data, where, true), a("out", ack, where, true),
      c1("out", csi1, where, true), c2("out", csi2, where, true);
  l.expect_item({static_cast<std::size_t>(u.codeword_bits())});
  const auto from = l.as<const float>(1);
  const pusch_uci_views<float> to{d.as<float>(1), a.as<float>(1), c1.as<float>(1), c2.as<float>(1)};
  where.run([&](executor& exec) { u.demultiplex(exec, from, to); });
}

nb::dict keywords_of(const nr_transport_config& t) {
  nb::dict values;
  values["transport_bits"] = t.transport_bits;
  values["coded_bits"] = t.coded_bits;
  values["modulation_order"] = t.modulation_order;
  values["layers"] = t.layers;
  values["code_rate"] = *t.code_rate;
  if (t.scrambling) values["scrambling"] = *t.scrambling;
  return values;
}

using estimator_list = std::vector<setting_of<estimator_config>>;

void bind_channel_of_nr(nb::module_& m) {
  add_keywords(m, "NrSharedChannel", nr_channel_settings());
  bind_settings(nb::class_<nr_shared_channel>(m, "NrSharedChannel"), &nr_channel_settings)
      .def_prop_ro("sizes",
                   [](const nr_shared_channel& c) {
                     const nr_carrier& carrier = c.config().carrier;
                     return std::vector<std::size_t>{as_size(carrier.symbols_per_slot()),
                                                     as_size(carrier.subcarriers()),
                                                     c.ports(),
                                                     c.data_elements(),
                                                     c.symbols_of(0),
                                                     c.symbols_of(1)};
                   })
      .def_prop_ro("dmrs_symbols", [](const nr_shared_channel& c) { return c.dmrs_symbols(); })
      .def_prop_ro("data_places",
                   [](const nr_shared_channel& c) {
                     return std::vector<int>(c.data_places().begin(), c.data_places().end());
                   })
      .def("dmrs",
           [](const nr_shared_channel& c, int layer) {
             std::vector<float> parts;
             for (const cf& z : c.dmrs(layer)) parts.push_back(z.real()), parts.push_back(z.imag());
             return parts;
           })
      .def("ptrs",
           [](const nr_shared_channel& c) {
             std::vector<float> parts;
             for (const cf& z : c.ptrs()) parts.push_back(z.real()), parts.push_back(z.imag());
             return parts;
           })
      .def("transport", [](const nr_shared_channel& c, int table, int mcs,
                           int codeword) { return keywords_of(c.transport(table, mcs, codeword)); })
      .def("map", &map_slots, nb::arg("executor"), nb::arg("first"), optional("second"), nb::arg("grid"))
      .def("extract", &extract, nb::arg("executor"), nb::arg("grid"), nb::arg("data"))
      .def("equalise", &equalise, nb::arg("executor"), nb::arg("channel"), nb::arg("received"),
           nb::arg("noise_var").none(), optional("out_channel"), nb::arg("out_received"),
           nb::arg("out_noise_var"));
  m.def(
      "nr_precoder",
      [](int antenna_ports, int layers, int tpmi, bool transform_precoding) {
        std::vector<float> parts;
        for (const cf& z : nr_precoder(antenna_ports, layers, tpmi, transform_precoding))
          parts.push_back(z.real()), parts.push_back(z.imag());
        return parts;
      },
      nb::kw_only(), nb::arg("antenna_ports"), nb::arg("layers"), nb::arg("tpmi"),
      nb::arg("transform_precoding"));
  m.def("nr_interleaved_blocks", &nr_interleaved_blocks, nb::kw_only(), nb::arg("first_resource_block"),
        nb::arg("blocks"), nb::arg("bundle"));
  m.def(
      "nr_reference_channel",
      [](const std::string& name) {
        nb::object found;
        with_names({{"frc", "name"}}, [&] {
          const nr_reference_channel& r = nr_reference_channel_named(name);
          found = nb::make_tuple(settings_in(nr_channel_settings(), r.channel()), r.mcs);
        });
        return found;
      },
      nb::kw_only(), nb::arg("name"));
}

void bind_srs(nb::module_& m) {
  add_keywords(m, "NrSrs", srs_settings());
  add_keywords(m, "SrsEstimator", estimator_settings());
  bind_settings(nb::class_<nr_srs>(m, "NrSrs"), &srs_settings)
      .def_prop_ro("grid_shape",
                   [](const nr_srs& s) {
                     const nr_carrier& carrier = s.config().carrier;
                     return std::vector<int>{carrier.symbols_per_slot(), carrier.subcarriers()};
                   })
      .def_prop_ro("length", [](const nr_srs& s) { return s.length(); })
      .def_prop_ro("bands", [](const nr_srs& s) { return s.bands(); })
      .def_prop_ro("band_subcarriers", [](const nr_srs& s) { return s.band_subcarriers(); })
      .def("band_symbols", [](const nr_srs& s, int band) { return s.band_symbols(band); })
      .def("first_subcarrier", [](const nr_srs& s, int band) { return s.first_subcarrier(band); })
      .def(
          "map",
          [](const nr_srs& s, executor_ref& where, nb::handle grid) {
            const argument g("grid", grid, where, true);
            const auto out = g.as<cf>(1);
            where.run([&](executor& exec) { s.map(exec, out); });
          },
          nb::arg("executor"), nb::arg("grid"));
}

}  // namespace

void bind_nr_slots(nb::module_& m) {
  bind_channel_of_nr(m);
  bind_srs(m);
  add_keywords(m, "PuschUci", pusch_uci_settings());
  nb::class_<pusch_uci>(m, "PuschUci")
      .def(
          "__init__",
          [](pusch_uci* self, const nr_shared_channel& c, const nb::dict& settings) {
            new (self) pusch_uci(c, with_settings(pusch_uci_settings(), settings));
          },
          nb::kw_only(), nb::arg("channel"), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const pusch_uci& u) { return settings_in(pusch_uci_settings(), u.config()); })
      .def_prop_ro(
          "coded_bits",
          [](const pusch_uci& u) { return std::vector<int>(u.coded_bits().begin(), u.coded_bits().end()); })
      .def_prop_ro("codeword_bits", [](const pusch_uci& u) { return u.codeword_bits(); })
      .def("places",
           [](const pusch_uci& u, int part) {
             const auto places = u.places(part);
             return std::vector<int>(places.begin(), places.end());
           })
      .def("transport", [](const pusch_uci& u) { return keywords_of(u.transport()); })
      .def("multiplex", &multiplex, nb::arg("executor"), optional("data"), optional("ack"), optional("csi1"),
           optional("csi2"), nb::arg("codeword"))
      .def("demultiplex", &demultiplex, nb::arg("executor"), nb::arg("llr"), optional("data"),
           optional("ack"), optional("csi1"), optional("csi2"));
  add_keywords(m, "ChannelEstimator", estimator_settings());
  nb::class_<channel_estimator>(m, "ChannelEstimator")
      .def(
          "__init__",
          [](channel_estimator* self, const nr_shared_channel& c, bool data_only, const nb::dict& settings) {
            new (self) channel_estimator(pilots_of(c), with_settings(estimator_settings(), settings),
                                         data_only ? c.data_places() : std::vector<std::int32_t>{});
          },
          nb::kw_only(), nb::arg("channel"), nb::arg("data_only"), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const channel_estimator& e) { return settings_in(estimator_settings(), e.config()); })
      .def_prop_ro("places", [](const channel_estimator& e) { return e.places(); })
      .def("error_variance", [](const channel_estimator& e, int layer,
                                double noise_var) { return e.error_variance(as_size(layer), noise_var); })
      .def(
          "__init__",
          [](channel_estimator* self, const nr_srs& srs, int band, int shifts, const nb::dict& settings) {
            new (self) channel_estimator(pilots_of(srs, band, shifts),
                                         with_settings(estimator_settings(), settings), srs.places(band));
          },
          nb::kw_only(), nb::arg("srs"), nb::arg("band"), nb::arg("shifts"), nb::arg("settings"))
      .def("run", &estimate<nr_shared_channel>, nb::arg("executor"), nb::arg("slot"), nb::arg("received"),
           nb::arg("noise_var").none(), optional("channel"), optional("noise"))
      .def("run", &estimate<nr_srs>, nb::arg("executor"), nb::arg("slot"), nb::arg("received"),
           nb::arg("noise_var").none(), optional("channel"), optional("noise"));
  nb::class_<noise_estimator>(m, "NoiseEstimator")
      .def(
          "__init__",
          [](noise_estimator* self, const nr_shared_channel& c) {
            with_names({{"pilots", "channel"}}, [&] { new (self) noise_estimator(pilots_of(c)); });
          },
          nb::arg("channel"))
      .def_prop_ro("leak", [](const noise_estimator& e) { return e.leak(); })
      .def("run", &estimate_noise, nb::arg("executor"), nb::arg("slot"), nb::arg("received"),
           optional("covariance"), optional("noise_var"));
  nb::class_<whitener>(m, "Whitener")
      .def(nb::init<>())
      .def("run", &whiten, nb::arg("executor"), nb::arg("covariance"), nb::arg("added"), nb::arg("channel"),
           nb::arg("received"), nb::arg("out_channel"), nb::arg("out_received"), optional("status"));
}

}  // namespace wb::python
