// modem/: bits to symbols, symbols to LLRs.
#include <nanobind/stl/string.h>

#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/qam/qam.hpp>

#include "arrays.hpp"
#include "rooms.hpp"

namespace wb::python {
namespace {

void map(const qam_mapper& q, executor_ref& where, nb::handle bits, nb::handle symbols) {
  const argument b("bits", bits, where), s("symbols", symbols, where, true);
  const auto in = b.bits_in_groups(static_cast<std::size_t>(q.bits()));
  const auto out = s.as<std::complex<float>>(0);
  where.run([&](executor& exec) { q.run(exec, in, out); });
}

void demap(const demapper& d, executor_ref& where, nb::handle received, nb::handle noise_var,
           nb::handle channel, nb::handle llr, nb::handle status) {
  const argument y("received", received, where), h("channel", channel, where), l("llr", llr, where, true),
      s("status", status, where, true);
  const noise_argument n0(noise_var, where);
  const auto batch = y.batch(0);
  h.expect_batch(0, batch), s.expect_batch(0, batch);
  const demap_input in{.received = y.as<const std::complex<float>>(0),
                       .channel = h.as<const std::complex<float>>(0),
                       .noise_var = n0.of(batch)};
  const auto out = l.in_groups<float>(static_cast<std::size_t>(d.bits()));
  const auto state = s.as<std::uint8_t>(0);
  where.run([&](executor& exec) { d.run(exec, in, out, state); });
}

}  // namespace

void bind_modem(nb::module_& m) {
  nb::class_<qam_mapper>(m, "QamMapper")
      .def(nb::init<int>(), nb::arg("qam"))
      .def("run", &map, nb::arg("executor"), nb::arg("bits"), nb::arg("symbols"))
      .def_prop_ro("bits_per_symbol", &qam_mapper::bits);
  nb::class_<demapper>(m, "Demapper")
      .def(
          "__init__",
          [](demapper* self, int qam, const std::string& algorithm) {
            new (self) demapper(qam, named<demap_algorithm>("algorithm", algorithm,
                                                            {{"max-log", demap_algorithm::max_log},
                                                             {"exact", demap_algorithm::exact}}));
          },
          nb::kw_only(), nb::arg("qam"), nb::arg("algorithm"))
      .def("run", &demap, nb::arg("executor"), nb::arg("received"), optional("noise_var"),
           optional("channel"), optional("llr"), optional("status"))
      .def_prop_ro("bits_per_symbol", &demapper::bits);
}

}  // namespace wb::python
