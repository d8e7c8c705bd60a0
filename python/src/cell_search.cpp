// nr/sync/: cell search of 5G NR.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/nr/sync/cell_search.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;

nb::tuple search(const cell_search& s, executor_ref& where, nb::handle samples) {
  const argument x("samples", samples, where);
  const auto in = x.as<const cf>(1);
  cell_search_result found;
  where.run([&](executor& exec) { found = s.run(exec, in); });
  nb::list blocks;
  for (const nr_found_block& b : found.blocks)
    blocks.append(nb::make_tuple(b.row, b.cell_id, b.first_sample, b.cfo_hz, b.snr_db, b.metric));
  return nb::make_tuple(blocks, found.erased);
}

}  // namespace

void bind_cell_search(nb::module_& m) {
  add_keywords(m, "CellSearch", cell_search_settings());
  bind_settings(nb::class_<cell_search>(m, "CellSearch"), &cell_search_settings)
      .def_prop_ro("block_samples", [](const cell_search& s) { return s.block_samples(); })
      .def("threshold", [](const cell_search& s, std::size_t samples) { return s.threshold(samples); })
      .def("run", &search, nb::arg("executor"), nb::arg("samples"));
  m.def("nr_pss", [](int n_id2) { return nr_pss(n_id2); }, nb::kw_only(), nb::arg("n_id2"));
  m.def("nr_sss", [](int cell_id) { return nr_sss(cell_id); }, nb::kw_only(), nb::arg("cell_id"));
  m.def(
      "nr_ssb_first_symbols",
      [](const std::string& pattern, int l_max) {
        const auto found = named<ssb_case>("pattern", pattern,
                                           {{"A", ssb_case::a},
                                            {"B", ssb_case::b},
                                            {"C", ssb_case::c},
                                            {"D", ssb_case::d},
                                            {"E", ssb_case::e}});
        return nr_ssb_first_symbols(found, l_max);
      },
      nb::kw_only(), nb::arg("pattern"), nb::arg("l_max"));
}

}  // namespace wb::python
