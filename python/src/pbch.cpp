// nr/pbch/: SS/PBCH blocks of 5G NR.
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "pbch_objects.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;

nr_ssb_content content_of(const content_fields& f) {
  return {.sfn = f[0],
          .half_frame = f[1],
          .ssb_index = f[2],
          .k_ssb = f[3],
          .common_spacing_khz = f[4],
          .dmrs_first_symbol = f[5],
          .coreset0 = f[6],
          .search_space0 = f[7],
          .cell_barred = f[8] != 0,
          .intra_frequency = f[9] != 0};
}

void pbch_encode(const pbch_encoder& e, executor_ref& where, const std::vector<content_fields>& contents,
                 const std::vector<int>& cell_ids, nb::handle grids) {
  const argument g("grids", grids, where, true);
  const auto out = g.as<cf>(2);
  std::vector<nr_ssb_content> listed;
  for (const content_fields& f : contents) listed.push_back(content_of(f));
  where.run([&](executor& exec) { e.run(exec, listed, cell_ids, out); });
}

nb::list pbch_decode(const pbch_decoder& d, executor_ref& where, nb::handle grids,
                     const std::vector<int>& cell_ids) {
  const argument g("grids", grids, where);
  g.expect_item({4, 240});
  const auto in = g.as<const cf>(2);
  std::vector<nr_pbch_block> found;
  where.run([&](executor& exec) { found = d.run(exec, in, cell_ids); });
  nb::list blocks;
  for (const nr_pbch_block& b : found) blocks.append(tuple_of(b));
  return blocks;
}

}  // namespace

void bind_pbch(nb::module_& m) {
  add_keywords(m, "PbchEncoder", pbch_encoder_settings());
  add_keywords(m, "PbchDecoder", pbch_decoder_settings());
  bind_settings(nb::class_<pbch_encoder>(m, "PbchEncoder"), &pbch_encoder_settings)
      .def("run", &pbch_encode, nb::arg("executor"), nb::arg("contents"), nb::arg("cell_ids"),
           nb::arg("grids"));
  bind_settings(nb::class_<pbch_decoder>(m, "PbchDecoder"), &pbch_decoder_settings)
      .def("run", &pbch_decode, nb::arg("executor"), nb::arg("grids"), nb::arg("cell_ids"));
}

}  // namespace wb::python
