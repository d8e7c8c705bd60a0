// fec/short_block/: codes of 1 to 11 bits of uplink control information.
#include <warpband/fec/short_block/short_block.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

void short_block_encode(const short_block_encoder& e, executor_ref& where, nb::handle bits,
                        nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({static_cast<std::size_t>(e.config().k)});
  const auto in = b.bits(1);
  const auto out = c.as<std::uint8_t>(1);
  where.run([&](executor& exec) { e.run(exec, in, out); });
}
void short_block_decode(const short_block_decoder& d, executor_ref& where, nb::handle llr, double llr_scale,
                        nb::handle bits, nb::handle status, nb::handle margin, nb::handle agreement) {
  const argument l("llr", llr, where), b("bits", bits, where, true), s("status", status, where, true),
      m("margin", margin, where, true), a("agreement", agreement, where, true);
  l.expect_item({static_cast<std::size_t>(d.config().coded_bits)});
  const llr_batch in = l.llrs(1, llr_scale);
  const short_block_output out{.bits = b.as<std::uint8_t>(1),
                               .status = s.as<std::uint8_t>(0),
                               .margin = m.as<float>(0),
                               .agreement = a.as<float>(0)};
  where.run([&](executor& exec) { d.run(exec, in, out); });
}

}  // namespace

void bind_short_block(nb::module_& m) {
  for (const char* name : {"ShortBlockEncoder", "ShortBlockDecoder"})
    add_keywords(m, name, short_block_settings(), {}, {"k", "coded_bits"});
  nb::class_<short_block_encoder> encoder(m, "ShortBlockEncoder");
  bind_settings(encoder, &short_block_settings)
      .def("run", &short_block_encode, nb::arg("executor"), nb::arg("bits"), nb::arg("coded"));
  nb::class_<short_block_decoder> decoder(m, "ShortBlockDecoder");
  bind_settings(decoder, &short_block_settings)
      .def("run", &short_block_decode, nb::arg("executor"), nb::arg("llr"), nb::arg("llr_scale"),
           optional("bits"), optional("status"), optional("margin"), optional("agreement"));
}

}  // namespace wb::python
