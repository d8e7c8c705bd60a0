// fec/lte/: transport blocks with rate matching and HARQ.
#include <mutex>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <warpband/fec/lte/transport.hpp>

#include "arrays.hpp"
#include "codes.hpp"
#include "rooms.hpp"

namespace wb::python {
namespace {

/// Both keep buffers between calls: one call at a time, whatever the executors. The lock is taken without the
/// GIL.
struct encoder_ref {
  lte_transport_encoder made;
  std::mutex mutex;
};
struct decoder_ref {
  lte_transport_decoder made;
  std::mutex mutex;
};

lte_transport_config config_of(int transport_bits, int coded_bits, int modulation_order, int layers,
                               int soft_buffer) {
  lte_transport_config c;
  c.transport_bits = transport_bits;
  c.coded_bits = coded_bits;
  c.modulation_order = modulation_order;
  c.layers = layers;
  c.soft_buffer = soft_buffer;
  return c;
}

std::size_t bits_of(const lte_transport_plan& p) {
  return static_cast<std::size_t>(p.config().transport_bits);
}
std::size_t coded_of(const lte_transport_plan& p) { return static_cast<std::size_t>(p.config().coded_bits); }

void encode(encoder_ref& e, executor_ref& where, nb::handle bits, int rv, nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({bits_of(e.made)});
  const auto in = b.as<const std::uint8_t>(1);
  const auto out = c.as<std::uint8_t>(1);
  where.run([&](executor& exec) {
    std::lock_guard lock(e.mutex);
    e.made.run(exec, in, rv, out);
  });
}

/// Looks at all arrays before anything is combined: a call that is refused leaves the soft buffers as they
/// were.
void decode(decoder_ref& d, executor_ref& where, nb::handle llr, int rv, bool first, nb::handle bits,
            nb::handle ok, nb::handle block_ok, nb::handle iterations, nb::handle status) {
  const argument l("llr", llr, where), b("bits", bits, where, true), o("ok", ok, where, true),
      k("block_ok", block_ok, where, true), i("iterations", iterations, where, true),
      s("status", status, where, true);
  l.expect_item({coded_of(d.made)});
  const auto in = l.as<const float>(1);
  const lte_transport_output out{.bits = b.as<std::uint8_t>(1),
                                 .ok = o.as<std::uint8_t>(0),
                                 .block_ok = k.as<std::uint8_t>(1),
                                 .iterations = i.as<std::int32_t>(1),
                                 .status = s.as<std::uint8_t>(0)};
  where.run([&](executor& exec) {
    std::lock_guard lock(d.mutex);
    if (first) d.made.reset();
    d.made.combine(exec, in, rv);
    d.made.decode(exec, out);
  });
}

}  // namespace

void bind_lte(nb::module_& m) {
  nb::class_<encoder_ref>(m, "LteTransportEncoder")
      .def(
          "__init__",
          [](encoder_ref* self, int transport_bits, int coded_bits, int modulation_order, int layers,
             int soft_buffer) {
            new (self) encoder_ref{lte_transport_encoder(config_of(transport_bits, coded_bits,
                                                                   modulation_order, layers, soft_buffer)),
                                   {}};
          },
          nb::kw_only(), nb::arg("transport_bits"), nb::arg("coded_bits"), nb::arg("modulation_order"),
          nb::arg("layers"), nb::arg("soft_buffer"))
      .def("run", &encode, nb::arg("executor"), nb::arg("bits"), nb::arg("rv"), nb::arg("coded"))
      .def_prop_ro("blocks", [](const encoder_ref& e) { return e.made.segmentation().blocks; });
  nb::class_<decoder_ref>(m, "LteTransportDecoder")
      .def(
          "__init__",
          [](decoder_ref* self, int transport_bits, int coded_bits, int modulation_order, int layers,
             int soft_buffer, const std::string& algorithm, int iterations, int windows, int overlap,
             float extrinsic_scale, bool crc_stop, const std::string& precision, float llr_steps) {
            lte_transport_config c =
                config_of(transport_bits, coded_bits, modulation_order, layers, soft_buffer);
            c.turbo = turbo_config(6144, algorithm, iterations, windows, overlap, extrinsic_scale, "none", {},
                                   precision, llr_steps, turbo_decoder_config{}.code_rate);
            c.crc_stop = crc_stop;
            new (self) decoder_ref{lte_transport_decoder(c), {}};
          },
          nb::kw_only(), nb::arg("transport_bits"), nb::arg("coded_bits"), nb::arg("modulation_order"),
          nb::arg("layers"), nb::arg("soft_buffer"), nb::arg("algorithm"), nb::arg("iterations"),
          nb::arg("windows"), nb::arg("overlap"), nb::arg("extrinsic_scale"), nb::arg("crc_stop"),
          nb::arg("precision"), nb::arg("llr_steps"))
      .def("decode", &decode, nb::arg("executor"), nb::arg("llr"), nb::arg("rv"), nb::arg("first"),
           optional("bits"), optional("ok"), optional("block_ok"), optional("iterations"), optional("status"))
      .def_prop_ro("blocks", [](const decoder_ref& d) { return d.made.segmentation().blocks; });
}

}  // namespace wb::python
