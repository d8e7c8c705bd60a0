// nr/pdcch/: control channels of 5G NR.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include <warpband/nr/pdcch/coreset.hpp>
#include <warpband/nr/pdcch/dci.hpp>
#include <warpband/nr/pdcch/pdcch.hpp>

#include "arrays.hpp"
#include "nr_objects.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;

void pdcch_encode(const pdcch_encoder& e, executor_ref& where, nb::handle bits, const std::vector<int>& slots,
                  const std::vector<int>& first_cces, nb::handle grids) {
  const argument b("bits", bits, where), g("grids", grids, where, true);
  const auto in = b.bits(1);
  const auto out = g.as<cf>(2);
  where.run([&](executor& exec) { e.run(exec, in, slots, first_cces, out); });
}

nb::list pdcch_decode(const pdcch_decoder& d, executor_ref& where, nb::handle grids,
                      const std::vector<std::array<int, 3>>& candidates) {
  const argument g("grids", grids, where);
  const pdcch_config& c = d.config().channel;
  g.expect_item({static_cast<std::size_t>(c.symbols), static_cast<std::size_t>(12 * c.blocks)});
  const auto in = g.as<const cf>(2);
  std::vector<nr_pdcch_candidate> listed;
  for (const auto& x : candidates) listed.push_back({x[0], x[1], x[2]});
  std::vector<nr_pdcch_result> found;
  where.run([&](executor& exec) { found = d.run(exec, in, listed); });
  nb::list results;
  for (std::size_t i = 0; i < found.size(); i++) {
    const nr_pdcch_result& r = found[i];
    results.append(nb::make_tuple(listed[i].grid, listed[i].first_cce, r.ok, r.erased, bytes_of(r.bits),
                                  r.metric, r.snr_db, r.cfo_spacings, r.delay_symbols));
  }
  return results;
}

nb::list pdcch_found(const pdcch_search& s, executor_ref& where, nb::handle grids,
                     const std::vector<int>& slots) {
  const argument g("grids", grids, where);
  const pdcch_config& c = s.config().decoder.channel;
  g.expect_item({static_cast<std::size_t>(c.symbols), static_cast<std::size_t>(12 * c.blocks)});
  const auto in = g.as<const cf>(2);
  std::vector<nr_pdcch_found> found;
  where.run([&](executor& exec) { found = s.run(exec, in, slots); });
  nb::list results;
  for (const nr_pdcch_found& f : found)
    results.append(nb::make_tuple(f.grid, f.level, f.first_cce, bytes_of(f.result.bits), f.result.metric,
                                  f.result.snr_db));
  return results;
}

/// A format of DCI, checked.
struct dci_format {
  explicit dci_format(const nr_dci_config& c) : config(c), fields(nr_dci_fields(c)) {}
  nr_dci_config config;
  std::vector<nr_dci_field> fields;
};

void bind_dci_format(nb::module_& m) {
  add_keywords(m, "NrDciFormat", nr_dci_settings());
  nb::class_<dci_format>(m, "NrDciFormat")
      .def(
          "__init__",
          [](dci_format* self, const nb::dict& settings) {
            new (self) dci_format(with_settings(nr_dci_settings(), settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings", [](const dci_format& f) { return settings_in(nr_dci_settings(), f.config); })
      .def_prop_ro("fields",
                   [](const dci_format& f) {
                     std::vector<std::tuple<std::string, int, bool>> list;
                     for (const nr_dci_field& x : f.fields)
                       list.emplace_back(x.name, x.bits, x.fixed.has_value());
                     return list;
                   })
      .def("encode", [](const dci_format& f,
                        const std::vector<int>& values) { return nr_dci_encode(f.config, values); })
      .def("decode", [](const dci_format& f,
                        const std::vector<std::uint8_t>& bits) { return nr_dci_decode(f.config, bits); })
      .def("blocks", [](const dci_format& f, int value, int hopping_bits) {
        return nr_dci_blocks(f.config, value, hopping_bits);
      });
}

}  // namespace

void bind_pdcch(nb::module_& m) {
  add_keywords(m, "PdcchEncoder", pdcch_settings());
  add_keywords(m, "PdcchDecoder", pdcch_decoder_settings());
  add_keywords(m, "PdcchSearch", pdcch_search_settings());
  bind_dci_format(m);
  bind_settings(nb::class_<pdcch_search>(m, "PdcchSearch"), &pdcch_search_settings)
      .def("run", &pdcch_found, nb::arg("executor"), nb::arg("grids"), nb::arg("slots"));
  bind_settings(nb::class_<pdcch_encoder>(m, "PdcchEncoder"), &pdcch_settings)
      .def_prop_ro("dci_bits", [](const pdcch_encoder& e) { return e.config().dci_bits; })
      .def(
          "reserved",
          [](const pdcch_encoder& e, int first_cce) {
            std::vector<int> numbers;
            for (const nr_reserved& r : nr_pdcch_reserved(e.config(), first_cce))
              numbers.insert(numbers.end(), {r.first_block, r.blocks, r.first_symbol, r.symbols});
            return numbers;
          },
          nb::kw_only(), nb::arg("first_cce"))
      .def_prop_ro(
          "grid_shape",
          [](const pdcch_encoder& e) { return std::make_tuple(e.config().symbols, 12 * e.config().blocks); })
      .def("run", &pdcch_encode, nb::arg("executor"), nb::arg("bits"), nb::arg("slots"),
           nb::arg("first_cces"), nb::arg("grids"));
  bind_settings(nb::class_<pdcch_decoder>(m, "PdcchDecoder"), &pdcch_decoder_settings)
      .def("run", &pdcch_decode, nb::arg("executor"), nb::arg("grids"), nb::arg("candidates"));
  m.def(
      "nr_coreset0",
      [](int ssb_spacing_khz, int spacing_khz, int index, bool wide,
         std::optional<int> k_ssb) -> std::optional<std::array<int, 4>> {
        const auto c = nr_coreset0_of(ssb_spacing_khz, spacing_khz, index, wide, k_ssb);
        if (!c) return std::nullopt;
        return std::array{c->blocks, c->symbols, c->offset, c->pattern};
      },
      nb::kw_only(), nb::arg("ssb_spacing_khz"), nb::arg("spacing_khz"), nb::arg("index"), nb::arg("wide"),
      nb::arg("k_ssb").none());
  m.def(
      "nr_coreset0_first_hz",
      [](int offset, int ssb_spacing_khz, int spacing_khz, int k_ssb) {
        return nr_coreset0_first_hz({.offset = offset}, ssb_spacing_khz, spacing_khz, k_ssb);
      },
      nb::kw_only(), nb::arg("offset"), nb::arg("ssb_spacing_khz"), nb::arg("spacing_khz"), nb::arg("k_ssb"));
  m.def(
      "nr_type0_occasion",
      [](int index, int ssb_index, int spacing_khz,
         int coreset_symbols) -> std::optional<std::array<int, 3>> {
        const auto o = nr_type0_occasion_of(index, ssb_index, spacing_khz, coreset_symbols);
        if (!o) return std::nullopt;
        return std::array{o->sfn_parity, o->slot, o->first_symbol};
      },
      nb::kw_only(), nb::arg("index"), nb::arg("ssb_index"), nb::arg("spacing_khz"),
      nb::arg("coreset_symbols"));
  m.def(
      "nr_pdcch_candidates",
      [](int cces, int level, int candidates, std::optional<int> rnti, int coreset, int slot, int carrier) {
        std::optional<nr_ue_search_space> ue;
        if (rnti) ue = nr_ue_search_space{*rnti, coreset, slot, carrier};
        return nr_pdcch_candidates(cces, level, candidates, ue);
      },
      nb::kw_only(), nb::arg("cces"), nb::arg("level"), nb::arg("candidates"), nb::arg("rnti").none(),
      nb::arg("coreset"), nb::arg("slot"), nb::arg("carrier"));
  m.def(
      "nr_si_dci_encode",
      [](const dci_fields& dci, int coreset_blocks) { return nr_si_dci_encode(dci_of(dci), coreset_blocks); },
      nb::kw_only(), nb::arg("dci"), nb::arg("coreset_blocks"));
  m.def(
      "nr_si_dci_decode",
      [](const std::vector<std::uint8_t>& bits, int coreset_blocks) -> std::optional<dci_fields> {
        const auto d = nr_si_dci_decode(bits, coreset_blocks);
        if (!d) return std::nullopt;
        return dci_fields{d->first_block,
                          d->blocks,
                          d->time_domain,
                          d->interleaved ? 1 : 0,
                          d->mcs,
                          d->rv,
                          d->other_information ? 1 : 0};
      },
      nb::kw_only(), nb::arg("bits"), nb::arg("coreset_blocks"));
  m.def(
      "nr_si_blocks",
      [](const dci_fields& dci, int coreset_blocks) { return nr_si_blocks(dci_of(dci), coreset_blocks); },
      nb::kw_only(), nb::arg("dci"), nb::arg("coreset_blocks"));
}

}  // namespace wb::python
