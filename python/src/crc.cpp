// fec/crc/: parity of cyclic redundancy checks. fec/format/: packed bits.
#include <nanobind/stl/pair.h>

#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/format/format.hpp>

#include "arrays.hpp"
#include "codes.hpp"
#include "rooms.hpp"

namespace wb::python {
namespace {

struct attacher_ref {
  crc_attacher made;
  std::size_t n, degree;
};

/// Refuses what is no array of bits, with the parity or without.
void expect_bits(const attacher_ref& c, executor_ref& where, nb::handle bits, bool with_parity) {
  const argument b("bits", bits, where);
  b.expect_item({c.n + (with_parity ? c.degree : 0)});
  (void)b.bits(1);
}
void attach(const attacher_ref& c, executor_ref& where, nb::handle bits) {
  const argument b("bits", bits, where, true);
  b.expect_item({c.n + c.degree});
  const auto rows = b.as<std::uint8_t>(1);
  where.run([&](executor& exec) { c.made.run(exec, rows); });
}

void pack(executor_ref& where, nb::handle bits, nb::handle packed) {
  const argument b("bits", bits, where), p("out", packed, where, true);
  const auto in = b.as<const std::uint8_t>(1);
  const auto out = p.as<std::uint8_t>(1);
  where.run([&](executor& exec) { pack_bits(exec, in, out); });
}

}  // namespace

void bind_crc(nb::module_& m) {
  m.def("pack_bits", &pack, nb::arg("executor"), nb::arg("bits"), nb::arg("packed"));
  nb::class_<attacher_ref>(m, "CrcAttacher")
      .def(
          "__init__",
          [](attacher_ref* self, int n, const crc_words& crc) {
            with_names_of_codes(crc, [&] {
              new (self) attacher_ref{crc_attacher(n, {crc.first, crc.second}), static_cast<std::size_t>(n),
                                      static_cast<std::size_t>(crc.second)};
            });
          },
          nb::kw_only(), nb::arg("n"), nb::arg("crc"))
      .def("expect", &expect_bits, nb::arg("executor"), nb::arg("bits"), nb::arg("with_parity"))
      .def("attach", &attach, nb::arg("executor"), nb::arg("bits"));
}

}  // namespace wb::python
