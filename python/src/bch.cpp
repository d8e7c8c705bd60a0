// fec/bch/: binary BCH codes.
#include <warpband/fec/bch/bch.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

template <class Coder>
void bind_coder(nb::class_<Coder>& bound) {
  bind_settings(bound, &bch_settings).def_prop_ro("k", [](const Coder& c) { return c.code().k(); });
}

void bch_encode(const bch_encoder& e, executor_ref& where, nb::handle bits, nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({static_cast<std::size_t>(e.code().k())});
  const auto in = b.bits(1);
  const auto out = c.as<std::uint8_t>(1);
  where.run([&](executor& exec) { e.run(exec, in, out); });
}
void bch_decode(const bch_decoder& d, executor_ref& where, nb::handle received, nb::handle erased,
                nb::handle bits, nb::handle corrected, nb::handle status) {
  const argument r("received", received, where), x("erased", erased, where), b("bits", bits, where, true),
      c("corrected", corrected, where, true), s("status", status, where, true);
  r.expect_item({static_cast<std::size_t>(d.code().n())});
  const auto in = r.bits(1);
  view<const std::uint8_t> marks;
  if (!erased.is_none()) {
    x.expect_batch(0, r.batch(1));
    marks = x.as<const std::uint8_t>(0);
  }
  const bch_output out{
      .bits = b.as<std::uint8_t>(1), .corrected = c.as<std::int32_t>(0), .status = s.as<std::uint8_t>(0)};
  where.run([&](executor& exec) { d.run(exec, in, out, marks); });
}

}  // namespace

void bind_bch(nb::module_& m) {
  for (const char* name : {"BchEncoder", "BchDecoder"})
    add_keywords(m, name, bch_settings(), {}, {"field_degree", "corrects", "n"});
  nb::class_<bch_encoder> encoder(m, "BchEncoder");
  bind_coder(encoder);
  encoder.def("run", &bch_encode, nb::arg("executor"), nb::arg("bits"), nb::arg("coded"));
  nb::class_<bch_decoder> decoder(m, "BchDecoder");
  bind_coder(decoder);
  decoder.def("run", &bch_decode, nb::arg("executor"), nb::arg("received"), optional("erased"),
              optional("bits"), optional("corrected"), optional("status"));
}

}  // namespace wb::python
