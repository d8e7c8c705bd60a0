// fec/osd/: belief propagation and ordered-statistics decoding of any sparse matrix.
#include <nanobind/stl/vector.h>
#include <warpband/fec/osd/osd.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

/// Without LLRs those of the object's error_channel; without a syndrome codewords.
void decode_osd(const bp_osd& d, executor_ref& where, nb::handle llr, double llr_scale, nb::handle syndrome,
                nb::handle bits, nb::handle soft, nb::handle iterations, nb::handle status) {
  const argument l("llr", llr, where), y("syndrome", syndrome, where), b("bits", bits, where, true),
      s("soft", soft, where, true), i("iterations", iterations, where, true),
      t("status", status, where, true);
  view<const std::uint8_t> sums;
  if (!syndrome.is_none()) {
    y.expect_item({static_cast<std::size_t>(d.matrix().checks())});
    sums = y.bits(1);
  }
  const bp_osd_output out{.bits = b.as<std::uint8_t>(1),
                          .soft = s.as<float>(1),
                          .iterations = i.as<std::int32_t>(0),
                          .status = t.as<std::uint8_t>(0)};
  if (llr.is_none()) {
    where.run([&](executor& exec) { d.run(exec, sums, out); });
    return;
  }
  l.expect_item({static_cast<std::size_t>(d.matrix().n())});
  if (!syndrome.is_none()) y.expect_batch(1, l.batch(1));
  const llr_batch in = l.llrs(1, llr_scale);
  where.run([&](executor& exec) { d.run(exec, in, out, sums); });
}

}  // namespace

void bind_osd(nb::module_& m) {
  add_keywords(m, "BpOsd", bp_osd_settings());
  nb::class_<bp_osd>(m, "BpOsd")
      .def(
          "__init__",
          [](bp_osd* self, const parity_check_matrix& h, const std::vector<double>& error_channel,
             const nb::dict& settings) {
            with_names({{"matrix", "pcm"}}, [&] {
              new (self) bp_osd(h, with_settings(bp_osd_settings(), settings), error_channel);
            });
          },
          nb::kw_only(), nb::arg("pcm"), nb::arg("error_channel"), nb::arg("settings"))
      .def_prop_ro("settings", [](const bp_osd& d) { return settings_in(bp_osd_settings(), d.config()); })
      .def("run", &decode_osd, nb::arg("executor"), optional("llr"), nb::arg("llr_scale"),
           optional("syndrome"), optional("bits"), optional("soft"), optional("iterations"),
           optional("status"));
}

}  // namespace wb::python
